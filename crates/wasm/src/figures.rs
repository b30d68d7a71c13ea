//! Figures: what became of calls. Counted by `module`; read by whoever shows metrics.

use std::sync::atomic::{AtomicU64, Ordering};

use message::{Error, Kind};

/// Counts since the start, and how many there are now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Calls that were asked for.
    pub calls: u64,
    /// Of these, those that gave nothing usable: traps, too much memory, no JSON.
    pub failed: u64,
    /// Those that computed for too long.
    pub timed_out: u64,
    /// Those refused, since too many waited already.
    pub refused: u64,
    /// Those whose caller went away before they had ended, begun or not.
    pub cancelled: u64,
    /// Calls that wait for a thread now.
    pub waiting: usize,
    /// Calls that compute now.
    pub running: usize,
}

#[derive(Default)]
pub(crate) struct Counters {
    calls: AtomicU64,
    failed: AtomicU64,
    timed_out: AtomicU64,
}

impl Counters {
    pub(crate) fn called(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn ended_badly(&self, error: &Error) {
        match error.kind() {
            // Counted where they are refused.
            Kind::Overloaded => return,
            Kind::SourceTimeout => &self.timed_out,
            _ => &self.failed,
        }
        .fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn figures(&self, threads: workers::Figures) -> Figures {
        Figures {
            calls: self.calls.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            timed_out: self.timed_out.load(Ordering::Relaxed),
            refused: threads.refused,
            cancelled: threads.cancelled,
            waiting: threads.waiting,
            running: threads.running,
        }
    }
}
