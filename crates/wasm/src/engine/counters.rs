//! Counters: what became of calls, as it happens. Told by `module`, read as [`ModuleFigures`].

use std::sync::atomic::{AtomicU64, Ordering};

use message::{Error, Kind};

use crate::figures::ModuleFigures;

#[derive(Default)]
pub(crate) struct ModuleCounters {
    calls: AtomicU64,
    failed: AtomicU64,
    timed_out: AtomicU64,
}

impl ModuleCounters {
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

    pub(crate) fn figures(&self, threads: workers::JobFigures) -> ModuleFigures {
        ModuleFigures {
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
