//! Figures: what has been asked of one database, by all cores together. Counted where it happens; read by whoever shows
//! metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the start, but for `open`, `in_use` and `waiting`, which are as of now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatabaseFigures {
    /// Connections that there are; of SQLite: threads.
    pub open: u64,
    /// Of these, those that carry out a statement or clean up after one.
    pub in_use: u64,
    /// Of these, those that do nothing.
    pub idle: u64,
    /// Queries that wait for a connection.
    pub waiting: u64,
    /// Connections made.
    pub connects: u64,
    /// Attempts to connect that failed.
    pub unconnected: u64,
    /// Statements sent; one that is sent once more counts twice.
    pub queries: u64,
    /// Queries that failed, whyever, sent or not.
    pub failed: u64,
    /// Of these, those that were sent and took too long.
    pub timed_out: u64,
    /// Statements stopped in the database, since they took too long, gave too much, or nobody wanted them any more.
    pub cancelled: u64,
    /// Reads sent once more, since their connection turned out to be broken.
    pub repeated: u64,
    /// Queries refused: the queue was full.
    pub refused: u64,
    /// Queries that waited for a connection in vain.
    pub unserved: u64,
    /// Statements that looked up the keys of several callers, or of one.
    pub batches: u64,
    /// Keys that these looked up.
    pub keys: u64,
}

/// One number, counted by all cores.
#[derive(Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, more: usize) {
        self.0.fetch_add(more as u64, Ordering::Relaxed);
    }

    pub(crate) fn one(&self) {
        self.add(1);
    }

    fn less(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
pub(crate) struct DatabaseCounters {
    pub(crate) open: Count,
    pub(crate) in_use: Count,
    pub(crate) waiting: Count,
    pub(crate) connects: Count,
    pub(crate) unconnected: Count,
    pub(crate) queries: Count,
    pub(crate) failed: Count,
    pub(crate) timed_out: Count,
    pub(crate) cancelled: Count,
    pub(crate) repeated: Count,
    pub(crate) refused: Count,
    pub(crate) unserved: Count,
    pub(crate) batches: Count,
    pub(crate) keys: Count,
}

impl DatabaseCounters {
    pub(crate) fn figures(&self) -> DatabaseFigures {
        let (open, in_use) = (self.open.now(), self.in_use.now());
        DatabaseFigures {
            open,
            in_use,
            idle: open.saturating_sub(in_use),
            waiting: self.waiting.now(),
            connects: self.connects.now(),
            unconnected: self.unconnected.now(),
            queries: self.queries.now(),
            failed: self.failed.now(),
            timed_out: self.timed_out.now(),
            cancelled: self.cancelled.now(),
            repeated: self.repeated.now(),
            refused: self.refused.now(),
            unserved: self.unserved.now(),
            batches: self.batches.now(),
            keys: self.keys.now(),
        }
    }
}

/// Counts one as long as it lives.
pub(crate) struct Present {
    counters: Arc<DatabaseCounters>,
    which: fn(&DatabaseCounters) -> &Count,
}

impl Present {
    pub(crate) fn new(counters: &Arc<DatabaseCounters>, which: fn(&DatabaseCounters) -> &Count) -> Self {
        which(counters).one();
        Present { counters: Arc::clone(counters), which }
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        (self.which)(&self.counters).less();
    }
}
