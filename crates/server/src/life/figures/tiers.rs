//! Of what lies behind the memory: a folder, and a Redis that instances share.

use cache::SharedFigures;
use disk::Disk;
use telemetry::Family;

pub(super) fn of_disk(disk: &Disk) -> Vec<Family> {
    let of = disk.figures();
    vec![
        Family::gauge("disk_records", "Answers on disk now").of(of.records),
        Family::gauge("disk", "Space taken on disk").bytes().of(of.bytes),
        Family::gauge("disk_capacity", "Space that may be taken on disk").bytes().of(of.capacity),
        Family::counter("disk_hits", "Answers found on disk").of(of.hits),
        Family::counter("disk_misses", "Answers looked for on disk in vain").of(of.misses),
        Family::counter("disk_writes", "Answers written to disk").of(of.writes),
        Family::counter(
            "disk_dropped",
            "Answers not written: too many waiting, too large, or writing failed",
        )
        .of(of.dropped),
        Family::counter("disk_evicted", "Answers pushed out of the disk to make room").of(of.evicted),
        Family::counter("disk_corrupt", "What on disk did not match its checksum").of(of.corrupt),
        Family::counter("disk_errors", "What the system refused on disk").of(of.errors),
        Family::gauge("disk_up", "Whether the disk tier can be written").of(disk.trouble().is_none()),
    ]
}

pub(super) fn of_shared(of: SharedFigures) -> Vec<Family> {
    vec![
        Family::gauge("shared_up", "Whether the Redis of the shared tier answers").of(of.up),
        Family::gauge("shared_hears", "Whether purges of other instances are heard").of(of.hears),
        Family::gauge(
            "shared_tells",
            "Whether Redis takes what this instance tells the others: purges, heartbeats",
        )
        .of(of.refused.is_none()),
        Family::gauge("shared_missing", "Other instances that have fallen silent").of(of.missing),
        Family::counter("shared_hits", "Answers found in Redis").of(of.hits),
        Family::counter("shared_misses", "Answers looked for in Redis in vain").of(of.misses),
        Family::counter(
            "shared_skipped",
            "Look-ups in Redis that failed or were left out, Redis being slow or gone",
        )
        .of(of.skipped),
        Family::counter("shared_writes", "Answers written to Redis").of(of.written),
        Family::counter(
            "shared_dropped",
            "Answers not written to Redis: too large, of too little use, or Redis slow or gone",
        )
        .of(of.dropped),
        Family::counter("shared_waited", "Answers that another instance fetched while this one waited")
            .of(of.waited),
        Family::counter(
            "shared_waited_in_vain",
            "Times of waiting for another instance that came to nothing",
        )
        .of(of.waited_in_vain),
        Family::counter("purges_told", "Purges told to other instances").of(of.purges_told),
        Family::gauge("purges_untold", "Purges that other instances have not been told of yet").of(of.untold),
        Family::counter("purges_heard", "Purges heard of other instances").of(of.purges_heard),
        Family::counter(
            "cache_doubts",
            "Times that everything was made stale, since nobody could say what was purged",
        )
        .of(of.doubts),
    ]
}
