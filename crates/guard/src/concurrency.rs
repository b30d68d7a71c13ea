//! Concurrency: how many calls may be under way to a target at once, by all cores together.
//!
//! In: that a call wants to go, and what became of it. Out: a [`Permit`], or none: who waits for one, how long and who comes
//! first is the business of whoever asks, who is told when one may be free. Nothing here looks at a clock: what adapts counts
//! in calls. [`Places`](crate::Places) waits itself, one after another, for a number that never changes.
//!
//! `adaptive` moves the limit, by `round`, how long calls take, and `growth`, how fast it may rise.

mod adaptive;
mod growth;
mod round;

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use adaptive::Adaptive;

/// How many calls may be under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concurrency {
    /// So many. None: no call is ever let through.
    Fixed(u32),
    /// As many as the target answers without making them wait, or refusing them.
    Adaptive {
        /// Never fewer; at least one.
        least: u32,
        /// Never more; at least `least`.
        most: u32,
        /// As many to begin with; within the two. Better too few than too many: it grows quickly at first, and learns how
        /// long a call takes that has not had to wait.
        first: u32,
    },
}

/// What became of a call, as far as it tells whether there were too many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was answered.
    Success {
        /// From when it was sent; not the time it has waited for its permit.
        took: Duration,
    },
    /// It was too much: a timeout, a 429 or a 503.
    Dropped,
    /// It tells nothing: whoever asked went away, nothing was sent, the request was wrong.
    Ignored,
}

/// Calls in flight. See the module.
pub struct InFlight {
    limit: AtomicU32,
    under_way: AtomicU32,
    refused: AtomicU64,
    /// How often the limit has been cut.
    cuts: AtomicU64,
    adaptive: Option<Mutex<Adaptive>>,
    on_free: Box<dyn Fn() + Send + Sync>,
}

/// One call may be under way, until this is dropped.
#[derive(Debug)]
pub struct Permit {
    in_flight: Arc<InFlight>,
    /// When it was taken: how often the limit had been cut, and whether at least half of it was in use.
    cuts: u64,
    was_used: bool,
}

impl InFlight {
    /// No call is under way. `on_free` is called, without a lock, by whoever gives a permit back while there is room: at least
    /// one is free then. It may be several, as the limit rises, or none any more: take until there is none. It must not
    /// block.
    pub fn new(rule: Concurrency, on_free: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        let (limit, adaptive) = match rule {
            Concurrency::Fixed(limit) => (limit, None),
            Concurrency::Adaptive { least, most, first } => {
                let adaptive = Adaptive::new(least, most, first);
                (adaptive.limit(), Some(Mutex::new(adaptive)))
            }
        };
        Arc::new(InFlight {
            limit: AtomicU32::new(limit),
            under_way: AtomicU32::new(0),
            refused: AtomicU64::new(0),
            cuts: AtomicU64::new(0),
            adaptive,
            on_free: Box::new(on_free),
        })
    }

    /// A permit, where one is free now. It costs no lock.
    pub fn try_take(self: &Arc<Self>) -> Option<Permit> {
        let limit = self.limit();
        let take = |under_way| (under_way < limit).then_some(under_way + 1);
        let Ok(before) = self.under_way.fetch_update(Relaxed, Relaxed, take) else {
            self.refused.fetch_add(1, Relaxed);
            return None;
        };
        let was_used = before + 1 >= limit.div_ceil(2);
        Some(Permit { in_flight: Arc::clone(self), cuts: self.cuts.load(Relaxed), was_used })
    }

    /// How many may be under way now.
    pub fn limit(&self) -> u32 {
        self.limit.load(Relaxed)
    }

    /// How many are under way: for a while more than the limit, after it has fallen.
    pub fn under_way(&self) -> u32 {
        self.under_way.load(Relaxed)
    }

    /// How often somebody has asked and got no permit.
    pub fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
    }

    fn adapt(&self, adapt: impl FnOnce(&mut Adaptive)) {
        if let Some(adaptive) = &self.adaptive {
            // No code that can panic runs under the lock, so a poisoned one is as good as another.
            let mut adaptive = adaptive.lock().unwrap_or_else(PoisonError::into_inner);
            adapt(&mut adaptive);
            self.limit.store(adaptive.limit(), Relaxed);
            self.cuts.store(adaptive.cuts(), Relaxed);
        }
    }
}

impl fmt::Debug for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("InFlight");
        all.field("limit", &self.limit()).field("under_way", &self.under_way()).finish_non_exhaustive()
    }
}

impl Permit {
    /// The call has ended. A permit that is dropped without this counts as [`Outcome::Ignored`].
    pub fn done(self, outcome: Outcome) {
        self.tell(outcome);
    }

    /// What became of the call, whose content is still on its way: its place is free once the permit is dropped. To be said
    /// once.
    pub fn tell(&self, outcome: Outcome) {
        match outcome {
            Outcome::Success { took } => {
                self.in_flight.adapt(|adaptive| adaptive.succeeded(took, self.was_used));
            }
            Outcome::Dropped => self.in_flight.adapt(|adaptive| adaptive.dropped(self.cuts)),
            Outcome::Ignored => {}
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let before = self.in_flight.under_way.fetch_sub(1, Relaxed);
        if before <= self.in_flight.limit() {
            (self.in_flight.on_free)();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADAPTIVE: Concurrency = Concurrency::Adaptive { least: 2, most: 50, first: 10 };

    fn take(in_flight: &Arc<InFlight>, number: usize) -> Vec<Permit> {
        (0..number).map(|_| in_flight.try_take().unwrap()).collect()
    }

    #[test]
    fn no_more_are_under_way_than_may_be() {
        let in_flight = InFlight::new(Concurrency::Fixed(3), || ());
        let mut permits = take(&in_flight, 3);
        assert!(in_flight.try_take().is_none());
        permits.pop().unwrap().done(Outcome::Dropped);
        assert_eq!((in_flight.limit(), in_flight.under_way(), in_flight.refused()), (3, 2, 1));
        drop(permits);
        assert_eq!(take(&in_flight, 3).len(), 3);
        assert!(InFlight::new(Concurrency::Fixed(0), || ()).try_take().is_none());
    }

    #[test]
    fn who_waits_is_told_whenever_one_is_free_and_only_then() {
        let told = Arc::new(AtomicU64::new(0));
        let teller = Arc::clone(&told);
        let in_flight = InFlight::new(ADAPTIVE, move || {
            teller.fetch_add(1, Relaxed);
        });
        let mut permits = take(&in_flight, 10);
        // The second cuts the limit to nine, while eight are still under way.
        (0..2).for_each(|_| permits.pop().unwrap().done(Outcome::Dropped));
        assert_eq!((in_flight.limit(), in_flight.under_way(), told.load(Relaxed)), (9, 8, 2));
        let permits_again = take(&in_flight, 1);
        in_flight.limit.store(5, Relaxed);
        permits.truncate(5);
        assert_eq!((in_flight.under_way(), told.load(Relaxed)), (6, 2), "too many still");
        drop(permits_again);
        assert_eq!(told.load(Relaxed), 2, "as many as may be");
        drop(permits.pop());
        assert_eq!(told.load(Relaxed), 3);
    }

    #[test]
    fn who_is_told_may_take_at_once() {
        let waiting = Arc::new(Mutex::new(None::<Arc<InFlight>>));
        let (taken, line) = (Arc::new(Mutex::new(Vec::new())), Arc::clone(&waiting));
        let takes = Arc::clone(&taken);
        let in_flight = InFlight::new(Concurrency::Fixed(1), move || {
            if let Some(in_flight) = line.lock().unwrap().take() {
                takes.lock().unwrap().extend(in_flight.try_take());
            }
        });
        let permit = in_flight.try_take().unwrap();
        *waiting.lock().unwrap() = Some(Arc::clone(&in_flight));
        drop(permit);
        assert_eq!((taken.lock().unwrap().len(), in_flight.under_way()), (1, 1));
    }

    #[test]
    fn it_grows_only_while_half_of_it_is_under_way() {
        for (at_once, grows) in [(4, false), (5, true)] {
            let in_flight = InFlight::new(ADAPTIVE, || ());
            let _others = take(&in_flight, at_once - 1);
            for _ in 0..200 {
                in_flight.try_take().unwrap().done(Outcome::Success { took: Duration::from_millis(50) });
            }
            assert_eq!(in_flight.limit() > 10, grows);
        }
    }

    #[test]
    fn threads_together_never_have_too_many_and_lose_none() {
        let in_flight = InFlight::new(Concurrency::Fixed(3), || ());
        let at_once = AtomicU32::new(0);
        let hammer = || {
            for _ in 0..20_000 {
                if let Some(permit) = in_flight.try_take() {
                    assert!(at_once.fetch_add(1, Relaxed) < 3);
                    at_once.fetch_sub(1, Relaxed);
                    permit.done(Outcome::Ignored);
                }
            }
        };
        std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(hammer))));
        assert_eq!((in_flight.under_way(), take(&in_flight, 3).len()), (0, 3));
    }
}
