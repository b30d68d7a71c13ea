//! Composition: a route with many calls, as all cores share it: what the plan says, its places, and what is counted. Made by
//! `running` for each plan; each core has a `composed` of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use compose::{Account, Outcome};
use guard::Places;
use plan::{Compose, Run as Mode};

/// What a route calls the segments of its path, for expressions.
pub(crate) type Names = Arc<[Option<Box<str>>]>;

/// See the module.
pub(crate) struct Composition {
    pub(crate) plan: Arc<Compose>,
    pub(crate) names: Names,
    /// For `run: pool(…)`.
    pub(super) places: Option<Arc<Places>>,
    /// Bytes of a request's body that steps may read.
    pub(super) most_content: usize,
    pub(crate) counters: Arc<ComposeCounters>,
}

/// Of one route, by all cores.
#[derive(Debug, Default)]
pub(crate) struct ComposeCounters {
    pub(crate) calls: AtomicU64,
    pub(crate) deduped: AtomicU64,
    pub(crate) coalesced: AtomicU64,
    pub(crate) incomplete: AtomicU64,
    pub(crate) given: AtomicU64,
    pub(crate) left_out: AtomicU64,
    pub(crate) stale: AtomicU64,
    pub(crate) failed: AtomicU64,
}

impl ComposeCounters {
    /// Counts what one request did; `is_answered`: it got a response that was made of it.
    pub(crate) fn count(&self, account: &Account, is_answered: bool) {
        let add = |counter: &AtomicU64, more: u64| {
            counter.fetch_add(more, Ordering::Relaxed);
        };
        add(&self.calls, account.calls);
        add(&self.deduped, account.deduped);
        add(&self.coalesced, account.coalesced);
        let mut is_complete = true;
        for took in &account.took {
            let counter = match took.outcome {
                Outcome::Given => &self.given,
                Outcome::LeftOut => &self.left_out,
                Outcome::Stale => &self.stale,
                Outcome::Failed(_) => &self.failed,
            };
            add(counter, 1);
            is_complete &= took.failure().is_none();
        }
        add(&self.incomplete, u64::from(is_answered && !is_complete));
    }
}

impl Composition {
    /// `body_size` is what requests may have at most. `before`: the same route as it was before a reload. Its counts go on
    /// whatever has changed, and so do its places unless there are to be more or fewer.
    pub(crate) fn new(
        plan: Arc<Compose>,
        names: Names,
        body_size: u64,
        before: Option<&Composition>,
    ) -> Self {
        let places = match plan.run {
            Mode::Pool { places, queue } => {
                let kept = before.filter(|before| before.plan.run == plan.run);
                let kept = kept.and_then(|before| before.places.clone());
                Some(kept.unwrap_or_else(|| Arc::new(Places::new(places, queue))))
            }
            Mode::Serial | Mode::Parallel => None,
        };
        let counters = before.map_or_else(Arc::default, |before| Arc::clone(&before.counters));
        let most_content = usize::try_from(body_size).unwrap_or(usize::MAX).min(source::LARGEST);
        Composition { plan, names, places, most_content, counters }
    }
}
