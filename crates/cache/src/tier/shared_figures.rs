//! SharedFigures: what the shared tier has done and whether it can be used. For metrics and `/readyz`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::store::Store;

/// Since the start, but for what says how things are now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedFigures {
    /// Redis answers; while it does not, it is tried again from time to time.
    pub up: bool,
    /// Purges of the other instances are heard, so that what lies there can be used.
    pub hears: bool,
    /// Why Redis does not take what this instance tells the others; `None`: it does, or has not refused for a second.
    pub refused: Option<String>,
    /// Purges that the others have not been told of yet.
    pub untold: u64,
    /// Other instances that have fallen silent.
    pub missing: u64,
    /// Answers found there.
    pub hits: u64,
    /// Answers looked for there in vain.
    pub misses: u64,
    /// Look-ups that failed or were left out, Redis being slow or gone.
    pub skipped: u64,
    /// Answers written there.
    pub written: u64,
    /// Answers not written: too large, of too little use, or Redis slow or gone.
    pub dropped: u64,
    /// Answers that another instance fetched while this one waited.
    pub waited: u64,
    /// Times of waiting for another instance that came to nothing.
    pub waited_in_vain: u64,
    /// Purges told to the others.
    pub purges_told: u64,
    /// Purges heard of the others.
    pub purges_heard: u64,
    /// Times that all in memory was made stale, since nobody could say what was purged.
    pub doubts: u64,
}

impl Store {
    /// The figures of the shared tier; `None` without one.
    pub fn shared_figures(&self) -> Option<SharedFigures> {
        let tier = self.shared.as_ref()?;
        let counters = &tier.counters;
        let count = |counter: &AtomicU64| counter.load(Relaxed);
        Some(SharedFigures {
            up: tier.redis.is_up(),
            hears: tier.hears(),
            refused: tier.taken.overdue(),
            untold: tier.taken.waiting(),
            missing: count(&counters.missing),
            hits: count(&counters.hits),
            misses: count(&counters.misses),
            skipped: count(&counters.skipped),
            written: count(&counters.written),
            dropped: count(&counters.dropped),
            waited: count(&counters.waited),
            waited_in_vain: count(&counters.waited_in_vain),
            purges_told: count(&counters.purges_told),
            purges_heard: count(&counters.purges_heard),
            doubts: count(&counters.doubts),
        })
    }
}
