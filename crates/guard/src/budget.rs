//! Budget: how many retries there may be, so that a target in trouble is not asked all the more.
//!
//! In: each first attempt, and each wish to try again. Out: whether it may. As in Finagle's `RetryBudget` and Linkerd's
//! retry budgets: a share of what is asked anyway, plus a floor for whoever asks seldom. Shared by all cores.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::beginning::Beginning;

/// How far back calls count: the second under way and the nine before it.
const SECONDS: u64 = 10;
const NANOSECONDS: u64 = 1_000_000_000;
/// Of one. Sums are in these: with fractions, the third of three retries at a share of 0.1 would depend on rounding.
const MILLIONTHS: u64 = 1_000_000;

/// See the module.
#[derive(Debug)]
pub struct Budget {
    /// Millionths of a retry, for each call.
    share: u64,
    /// Millionths of a retry, for each second.
    floor: u64,
    beginning: Beginning,
    last: Mutex<Last>,
}

/// What happened in the last seconds.
#[derive(Debug, Default)]
struct Last {
    newest: u64,
    seconds: [Second; SECONDS as usize],
}

#[derive(Clone, Copy, Debug, Default)]
struct Second {
    number: u64,
    calls: u64,
    retries: u64,
}

impl Budget {
    /// Retries for such a share of the calls of the last 10 seconds (0.2: one for five; more than 1 is fine), and for so
    /// many a second on top, of which those of 10 seconds may come at once. Both to a millionth. What is below zero, or not
    /// a number, is none.
    pub fn new(share: f64, floor_per_second: f64) -> Self {
        let millionths = |number: f64| (number.max(0.0) * MILLIONTHS as f64).round() as u64;
        Budget {
            share: millionths(share),
            floor: millionths(floor_per_second),
            beginning: Beginning::default(),
            last: Mutex::default(),
        }
    }

    /// A call is made for the first time. To be said of each, whatever becomes of it, and of no retry.
    pub fn deposit(&self, now: Instant) {
        self.last(now).current().calls += 1;
    }

    /// Whether one may be tried again. One that may is counted, so it has to be done. Looking and counting are one step: no
    /// two get the last one.
    pub fn withdraw(&self, now: Instant) -> bool {
        let mut last = self.last(now);
        let (calls, retries) = last.sums();
        let due = u128::from(self.share) * calls + u128::from(self.floor) * u128::from(SECONDS);
        let is_granted = (retries + 1) * u128::from(MILLIONTHS) <= due;
        if is_granted {
            last.current().retries += 1;
        }
        is_granted
    }

    /// The last seconds as of now. A poisoned lock is as good as another: what runs under it cannot panic.
    fn last(&self, now: Instant) -> MutexGuard<'_, Last> {
        let number = self.beginning.nanoseconds(now) / NANOSECONDS;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.newest = last.newest.max(number);
        last
    }
}

impl Last {
    /// The newest second: also for who has read the clock before it began.
    fn current(&mut self) -> &mut Second {
        let second = &mut self.seconds[(self.newest % SECONDS) as usize];
        if second.number != self.newest {
            *second = Second { number: self.newest, ..Second::default() };
        }
        second
    }

    /// Calls and retries.
    fn sums(&self) -> (u128, u128) {
        let counting = self.seconds.iter().filter(|second| self.newest - second.number < SECONDS);
        counting.fold((0, 0), |(calls, retries), second| {
            (calls + u128::from(second.calls), retries + u128::from(second.retries))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    fn granted(budget: &Budget, now: Instant) -> usize {
        (0..1000).take_while(|_| budget.withdraw(now)).count()
    }

    #[test]
    fn a_fifth_of_the_calls_and_one_a_second() {
        let (budget, now) = (Budget::new(0.2, 1.0), Instant::now());
        assert_eq!(granted(&budget, now), 10, "the floor of ten seconds");
        (0..50).for_each(|_| budget.deposit(now));
        assert_eq!(granted(&budget, now), 10);
        assert_eq!(granted(&budget, now + Duration::from_secs(8)), 0);
        assert_eq!(granted(&budget, now + Duration::from_secs(10)), 10, "calls of then count no more");
    }

    #[test]
    fn a_share_is_not_rounded_away() {
        let now = Instant::now();
        for hundredths in 1..=100_u32 {
            let budget = Budget::new(f64::from(hundredths) / 100.0, 0.0);
            (0..100).for_each(|_| budget.deposit(now));
            assert_eq!(granted(&budget, now), hundredths as usize);
        }
    }

    #[test]
    fn without_share_or_floor_there_is_none() {
        let now = Instant::now();
        for none in [0.0, -1.0, f64::NAN] {
            let budget = Budget::new(none, none);
            budget.deposit(now);
            assert!(!budget.withdraw(now));
        }
        let unbounded = Budget::new(f64::INFINITY, f64::INFINITY);
        (0..10).for_each(|_| unbounded.deposit(now));
        assert!(unbounded.withdraw(now));
    }

    #[test]
    fn many_cores_get_exactly_what_there_is() {
        let (budget, now, sum) = (Budget::new(0.5, 0.3), Instant::now(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|_| budget.deposit(now)));
            }
        });
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| sum.fetch_add(granted(&budget, now) as u64, Relaxed));
            }
        });
        assert_eq!(sum.into_inner(), 1003);
    }

    proptest! {
        /// Over any run, and with threads whose clocks are a little apart: no more than the share of its calls and the
        /// floor of its time, with those of ten seconds and the one under way that may come at once.
        #[test]
        fn retries_stay_within_the_share_and_the_floor(
            (share, floor) in (0..1500_u64, 0..4000_u64),
            events in proptest::collection::vec((any::<bool>(), 0..2500_u64, 0..1500_u64), 0..300),
        ) {
            let budget = Budget::new(share as f64 / 1000.0, floor as f64 / 1000.0);
            let start = Instant::now();
            let (mut elapsed, mut calls, mut retries) = (0, 0, 0);
            for (is_call, wait, late) in events {
                // Most come right after another.
                elapsed += wait.saturating_sub(2000);
                let now = (start + Duration::from_millis(elapsed)).checked_sub(Duration::from_millis(late)).unwrap();
                if is_call {
                    budget.deposit(now);
                    calls += 1;
                } else if budget.withdraw(now) {
                    retries += 1;
                }
                // Thousandths on the left, millionths on the right, as there are thousand milliseconds in a second.
                prop_assert!(retries * 1_000_000 <= share * calls * 1000 + floor * (elapsed + 11_000));
            }
        }
    }
}
