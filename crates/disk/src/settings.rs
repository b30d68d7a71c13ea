//! Settings: how much of what the disk tier may use. Given by whoever opens it; everything else is derived here.

use std::time::Duration;

/// Bounds of a disk tier.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Bytes on disk, everything counted: records, the indexes of segments, the journal.
    pub bytes: u64,
    /// Bytes of records waiting to be written; what comes on top is dropped.
    pub queue: usize,
    /// Records on disk, which bounds the index in memory (24 to 57 bytes a record).
    pub records: usize,
    /// Threads that read.
    pub readers: usize,
    /// How long nothing is written after a write failed.
    pub pause: Duration,
}

impl Settings {
    /// The smallest disk tier there can be.
    pub const LEAST: u64 = 1 << 20;

    /// The usual bounds for this many bytes.
    pub fn of(bytes: u64) -> Self {
        Settings {
            bytes,
            queue: 64 << 20,
            records: (bytes / 2048).clamp(1 << 16, 1 << 25) as usize,
            readers: 4,
            pause: Duration::from_secs(10),
        }
    }

    /// Bytes the journal may take. Twice that is set aside, since a rewrite has two of them for a moment.
    pub(crate) fn journal(&self) -> u64 {
        (self.bytes / 32).min(16 << 20)
    }

    /// Bytes that segments may take together, those included that are evicted but still read from.
    pub(crate) fn segments(&self) -> u64 {
        /// Lock and identity.
        const REST: u64 = 4096;
        self.bytes - 2 * self.journal() - REST
    }

    /// Bytes after which a segment is closed and the next begun. Eviction forgets a whole segment at a time, so there
    /// are many; each is an open file, so there are not too many.
    pub(crate) fn segment(&self) -> u64 {
        (self.segments() / 64).clamp(32 << 10, 1 << 30)
    }

    /// Bytes of the largest record.
    pub(crate) fn record(&self) -> u64 {
        self.segments() / 4
    }

    /// Bytes of evicted segments that may stay open for their readers.
    pub(crate) fn held(&self) -> u64 {
        self.segments() / 8
    }
}
