//! Gauges: figures that others keep (the cache, the listener, the sources), asked for each time somebody renders.
//!
//! `server` ties them once; nothing of this is on the way of a request.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use message::Timestamp;

/// A figure that its owner keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Bytes in the memory tier now: keys, heads and bodies.
    CacheBytes,
    /// Bytes the memory tier may hold.
    CacheCapacity,
    /// Keys in the memory tier now.
    CacheKeys,
    /// Entries pushed out to make room, since the start.
    Evictions,
    /// Keys forgotten because of an unsafe request, since the start.
    Invalidations,
    /// Fetches for the cache, since the start.
    Fills,
    /// Fetches for the cache under way now.
    FillsInProgress,
    /// Requests that waited for somebody else's fetch, since the start.
    Coalesced,
    /// Answers stored, since the start.
    Stored,
    /// Bytes of their content, since the start.
    StoredBytes,
    /// Bytes taken by tags now; part of [`Reading::CacheBytes`].
    TagBytes,
    /// Entries forgotten or made stale because of a purge, since the start.
    Swept,
    /// Purges that forget more than they named, since there were too many, since the start.
    Folded,
    /// Stored answers compressed, since the start.
    Compressed,
    /// Answers on disk now.
    DiskRecords,
    /// Bytes on disk now.
    DiskBytes,
    /// Bytes that may be on disk.
    DiskCapacity,
    /// Answers found on disk, since the start.
    DiskHits,
    /// Answers looked for on disk in vain, since the start.
    DiskMisses,
    /// Answers written to disk, since the start.
    DiskWrites,
    /// Answers not written: too many waiting, too large, or writing failed, since the start.
    DiskDropped,
    /// Answers pushed out of the disk to make room, since the start.
    DiskEvicted,
    /// What on disk did not match its checksum, since the start.
    DiskCorrupt,
    /// What the system refused on disk, since the start.
    DiskErrors,
    /// Whether the disk can be written, purges too: 1 or 0.
    DiskUp,
    /// Whether Redis answers: 1 or 0.
    SharedUp,
    /// Whether purges of other instances are heard: 1 or 0.
    SharedHears,
    /// Whether Redis takes what this instance tells the others: 1 or 0.
    SharedTells,
    /// Other instances that have fallen silent.
    SharedMissing,
    /// Answers found in Redis, since the start.
    SharedHits,
    /// Answers looked for in Redis in vain, since the start.
    SharedMisses,
    /// Look-ups in Redis that failed or were left out, since the start.
    SharedSkipped,
    /// Answers written to Redis, since the start.
    SharedWrites,
    /// Answers not written to Redis, since the start.
    SharedDropped,
    /// Answers that another instance fetched while this one waited, since the start.
    SharedWaited,
    /// Times of waiting for another instance in vain, since the start.
    SharedWaitedInVain,
    /// Purges told to other instances, since the start.
    PurgesTold,
    /// Purges that other instances have not been told of yet.
    PurgesUntold,
    /// Purges heard of other instances, since the start.
    PurgesHeard,
    /// Times that everything was made stale, since nobody could say what was purged.
    Doubts,
    /// Client connections open now.
    OpenConnections,
}

impl Reading {
    /// Every reading, in the order of the enum.
    pub const ALL: [Reading; 41] = [
        Reading::CacheBytes,
        Reading::CacheCapacity,
        Reading::CacheKeys,
        Reading::Evictions,
        Reading::Invalidations,
        Reading::Fills,
        Reading::FillsInProgress,
        Reading::Coalesced,
        Reading::Stored,
        Reading::StoredBytes,
        Reading::TagBytes,
        Reading::Swept,
        Reading::Folded,
        Reading::Compressed,
        Reading::DiskRecords,
        Reading::DiskBytes,
        Reading::DiskCapacity,
        Reading::DiskHits,
        Reading::DiskMisses,
        Reading::DiskWrites,
        Reading::DiskDropped,
        Reading::DiskEvicted,
        Reading::DiskCorrupt,
        Reading::DiskErrors,
        Reading::DiskUp,
        Reading::SharedUp,
        Reading::SharedHears,
        Reading::SharedTells,
        Reading::SharedMissing,
        Reading::SharedHits,
        Reading::SharedMisses,
        Reading::SharedSkipped,
        Reading::SharedWrites,
        Reading::SharedDropped,
        Reading::SharedWaited,
        Reading::SharedWaitedInVain,
        Reading::PurgesTold,
        Reading::PurgesUntold,
        Reading::PurgesHeard,
        Reading::Doubts,
        Reading::OpenConnections,
    ];
}

/// Whether one target of a source is taken for healthy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetHealth {
    /// The source's name in the config.
    pub source: String,
    /// The target, `host:port` or a URL. Stands once for each source.
    pub target: String,
    /// Whether requests are sent there.
    pub healthy: bool,
}

/// What is counted of one Redis that is read from. Counts are since it was configured so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedisFigures {
    /// The source's name in the config.
    pub source: String,
    /// Whether requests are let through to it, if only as a probe.
    pub up: bool,
    /// Commands and pipelines that were to be sent, to its replica too.
    pub commands: u64,
    /// Of these, and of attempts to connect, those that failed.
    pub failures: u64,
    /// Commands not sent, since too many had failed.
    pub refused: u64,
    /// Commands that our user may not run.
    pub denied: u64,
    /// Answers held in process now.
    pub held: u64,
    /// Bytes they take.
    pub held_bytes: u64,
    /// Whether its replica is in step; `None`: none is read from.
    pub replica_in_step: Option<bool>,
    /// Where it is tracked.
    pub tracked: Option<TrackedFigures>,
}

/// What is counted of the line on which a Redis tells what changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrackedFigures {
    /// Whether it tells now.
    pub live: bool,
    /// Times it was connected.
    pub lives: u64,
    /// Keys it named.
    pub invalidations: u64,
    /// Times it named all.
    pub flushes: u64,
    /// Answers not held since a key of theirs was named while they were read.
    pub outdated: u64,
    /// Answers pushed out to make room.
    pub evicted: u64,
}

/// A figure that several have, each under its own name: databases, modules, routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// Without our prefix, and without `_total`.
    pub name: &'static str,
    /// What it means.
    pub help: &'static str,
    /// Whether it only ever goes up.
    pub is_counter: bool,
    /// What the names are of: `source`, `route`.
    pub label: &'static str,
    /// Whose it is, and the figure.
    pub values: Vec<(String, u64)>,
}

/// What became of the config as often as it was read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ConfigLoads {
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    pub(crate) last_failed: bool,
    pub(crate) last_success: Option<Timestamp>,
}

/// Asks an owner for a figure.
pub(crate) type Ask<T> = Box<dyn Fn() -> T + Send + Sync>;

/// Where figures come from. Unknown ones are left out.
pub(crate) struct Owners {
    pub(crate) readings: [Option<Ask<u64>>; Reading::ALL.len()],
    pub(crate) connections: Option<Ask<Vec<(&'static str, u64)>>>,
    pub(crate) targets: Option<Ask<Vec<TargetHealth>>>,
    pub(crate) redis: Option<Ask<Vec<RedisFigures>>>,
    pub(crate) families: Option<Ask<Vec<Family>>>,
    pub(crate) config: ConfigLoads,
}

impl Default for Owners {
    fn default() -> Self {
        Owners {
            readings: std::array::from_fn(|_| None),
            connections: None,
            targets: None,
            redis: None,
            families: None,
            config: ConfigLoads::default(),
        }
    }
}

/// See the module.
#[derive(Default)]
pub(crate) struct Gauges(Mutex<Owners>);

impl Gauges {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Owners> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Gauges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gauges")
    }
}
