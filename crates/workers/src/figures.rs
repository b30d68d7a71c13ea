//! Figures: what became of jobs. Counted by the queue, by the threads and by whoever waits; read by whoever shows
//! metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the start, and how many there are now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobFigures {
    /// Jobs that a thread has begun.
    pub begun: u64,
    /// Jobs refused, since the queue was full.
    pub refused: u64,
    /// Jobs whose caller went away without a result, begun or not.
    pub cancelled: u64,
    /// Jobs that panicked.
    pub panicked: u64,
    /// Jobs that wait for a thread now.
    pub waiting: usize,
    /// Jobs that run now.
    pub running: usize,
}

#[derive(Default)]
pub(crate) struct JobCounters {
    begun: AtomicU64,
    refused: AtomicU64,
    cancelled: AtomicU64,
    panicked: AtomicU64,
}

impl JobCounters {
    pub(crate) fn begun(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn cancelled(&self) {
        self.cancelled.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn panicked(&self) {
        self.panicked.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn figures(&self, waiting: usize, running: usize) -> JobFigures {
        JobFigures {
            begun: self.begun.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            cancelled: self.cancelled.load(Ordering::Relaxed),
            panicked: self.panicked.load(Ordering::Relaxed),
            waiting,
            running,
        }
    }
}
