//! Figures: what has been asked of one Redis, by all cores together. Counted where commands are sent and connections
//! made; read by whoever shows metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkFigures {
    /// Commands and pipelines that were to be sent.
    pub commands: u64,
    /// Of these, and of the attempts to connect, those that failed. Error replies do not count, unless they say that the
    /// server cannot do its work.
    pub failures: u64,
    /// Commands that the open breaker refused.
    pub refused: u64,
    /// Connections made.
    pub connects: u64,
    /// Commands that the user may not run, or not on that key.
    pub denied: u64,
    /// How often the breaker opened, counting each failed probe.
    pub openings: u64,
}

#[derive(Default)]
pub(crate) struct LinkCounters {
    commands: AtomicU64,
    failures: AtomicU64,
    refused: AtomicU64,
    connects: AtomicU64,
    denied: AtomicU64,
    openings: AtomicU64,
}

impl LinkCounters {
    pub(crate) fn asked(&self) {
        self.commands.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn connected(&self) {
        self.connects.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn denied(&self) {
        self.denied.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn opened(&self) {
        self.openings.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn figures(&self) -> LinkFigures {
        LinkFigures {
            commands: self.commands.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            connects: self.connects.load(Ordering::Relaxed),
            denied: self.denied.load(Ordering::Relaxed),
            openings: self.openings.load(Ordering::Relaxed),
        }
    }
}
