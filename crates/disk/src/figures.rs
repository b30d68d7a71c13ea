//! Figures: what the disk tier did, for metrics. Counters only grow; the others are what holds now.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One look at the figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskFigures {
    /// Records that can be found now.
    pub records: u64,
    /// Bytes on disk now.
    pub bytes: u64,
    /// Bytes allowed on disk.
    pub capacity: u64,
    /// Bytes waiting to be written now.
    pub queued: u64,
    /// Bytes of the journal now.
    pub journal: u64,
    /// Whether writing is switched off, because it failed and does not work again yet.
    pub paused: bool,
    /// Reads that began to give a record.
    pub hits: u64,
    /// Keys not found, or found and not there any more when read.
    pub misses: u64,
    /// Records written.
    pub writes: u64,
    /// Bytes written, rewrites included.
    pub written: u64,
    /// Records not written: queue full, too large, writing switched off or failed.
    pub dropped: u64,
    /// Records pushed out to make room.
    pub evicted: u64,
    /// Records written again instead of pushed out, because they were asked for.
    pub reinserted: u64,
    /// Records and segments that did not match their checksums.
    pub corrupt: u64,
    /// Failures the operating system reported, and reads refused because too many waited.
    pub errors: u64,
}

/// The counters behind it, shared by all threads.
#[derive(Default)]
pub(crate) struct DiskCounters {
    pub(crate) bytes: AtomicU64,
    pub(crate) hits: AtomicU64,
    pub(crate) misses: AtomicU64,
    pub(crate) writes: AtomicU64,
    pub(crate) written: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) evicted: AtomicU64,
    pub(crate) reinserted: AtomicU64,
    pub(crate) corrupt: AtomicU64,
    pub(crate) errors: AtomicU64,
}

/// Adds one.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

impl DiskCounters {
    /// What they say; the rest is for the caller to fill in.
    pub(crate) fn look(&self) -> DiskFigures {
        DiskFigures {
            bytes: self.bytes.load(Relaxed),
            hits: self.hits.load(Relaxed),
            misses: self.misses.load(Relaxed),
            writes: self.writes.load(Relaxed),
            written: self.written.load(Relaxed),
            dropped: self.dropped.load(Relaxed),
            evicted: self.evicted.load(Relaxed),
            reinserted: self.reinserted.load(Relaxed),
            corrupt: self.corrupt.load(Relaxed),
            errors: self.errors.load(Relaxed),
            ..DiskFigures::default()
        }
    }
}
