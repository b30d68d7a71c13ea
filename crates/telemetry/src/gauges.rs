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
    /// Client connections open now.
    OpenConnections,
}

impl Reading {
    /// Every reading, in the order of the enum.
    pub const ALL: [Reading; 24] = [
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
#[derive(Default)]
pub(crate) struct Owners {
    pub(crate) readings: [Option<Ask<u64>>; Reading::ALL.len()],
    pub(crate) connections: Option<Ask<Vec<(&'static str, u64)>>>,
    pub(crate) targets: Option<Ask<Vec<TargetHealth>>>,
    pub(crate) config: ConfigLoads,
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
