//! Counter: a number that only grows, written by one core and read by whoever renders.

use std::sync::atomic::{AtomicU64, Ordering};

/// Written by one thread, readable by all.
///
/// An addition is a load and a store, not a locked read-modify-write: nobody else writes. Should somebody do so
/// against that rule, counts get lost, and nothing worse.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) const fn new() -> Self {
        Counter(AtomicU64::new(0))
    }

    pub(crate) fn add(&self, more: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
