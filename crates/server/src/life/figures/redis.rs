//! Of each Redis that is read from. Counts are since it was configured so, and of its replica too.

use redis_link::LinkFigures;
use source::RedisFigures;
use telemetry::Family;

use super::of_each;
use crate::walk::running::Running;

pub(super) fn families(running: &Running) -> Vec<Family> {
    let all: Vec<_> =
        running.redis_read().map(|redis| (redis.plan().name.as_str(), redis.figures())).collect();
    of_each(
        "source",
        &all,
        [
            (Family::gauge("redis_up", "Whether a Redis that is read from answers (1) or not (0)"), |of| {
                Some(u64::from(of.is_up))
            }),
            (Family::gauge("redis_held", "Answers of a Redis held in process"), |of| Some(held(of).0)),
            (Family::gauge("redis_held", "Bytes they take").bytes(), |of| Some(held(of).1)),
            (
                Family::gauge(
                    "redis_replica_in_step",
                    "Whether its replica is in step and read from (1) or not (0)",
                ),
                |of| of.in_step.map(u64::from),
            ),
            (
                Family::gauge("redis_tracking", "Whether a tracked Redis tells what changes (1) or not (0)"),
                |of| of.tracked.map(|_| of.is_live.into()),
            ),
            (Family::counter("redis_denied", "Commands that the user of a Redis may not run"), |of| {
                Some(sum(of, |of| of.denied))
            }),
            (
                Family::counter("redis_commands", "Commands and pipelines for a Redis that is read from"),
                |of| Some(sum(of, |of| of.commands)),
            ),
            (
                Family::counter("redis_failures", "Of these, and of attempts to connect, those that failed"),
                |of| Some(sum(of, |of| of.failures)),
            ),
            (
                Family::counter("redis_refused", "Commands not sent, since too many had failed just before"),
                |of| Some(sum(of, |of| of.refused)),
            ),
            (
                Family::counter("redis_tracking_lives", "Times a tracked Redis began to tell what changes"),
                |of| Some(of.tracked?.lives),
            ),
            (Family::counter("redis_invalidations", "Keys that a tracked Redis named as changed"), |of| {
                Some(of.tracked?.invalidated)
            }),
            (Family::counter("redis_flushes", "Times a tracked Redis named all keys as changed"), |of| {
                Some(of.tracked?.flushes)
            }),
            (
                Family::counter(
                    "redis_outdated",
                    "Answers not held, since a key of theirs changed while they were read",
                ),
                |of| Some(of.tracked?.outdated),
            ),
            (Family::counter("redis_evicted", "Held answers pushed out to make room"), |of| {
                Some(of.tracked?.evicted)
            }),
        ],
    )
}

/// Answers held in process, and bytes: those it tells about, and those remembered for when it is gone.
fn held(of: &RedisFigures) -> (u64, u64) {
    let tracked = of.tracked.unwrap_or_default();
    let (entries, bytes) = of.remembered.unwrap_or_default();
    (tracked.entries + entries, tracked.bytes + bytes)
}

fn sum(of: &RedisFigures, read: fn(&LinkFigures) -> u64) -> u64 {
    read(&of.primary) + of.replica.as_ref().map_or(0, read)
}
