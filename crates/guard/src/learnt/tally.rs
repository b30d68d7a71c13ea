//! Tally: how many calls were made, and when, without a lock: all that is known while a provider has said nothing. In: each
//! call, as it is made and as it ends. Out: how many there were of late, over any time. Used by `learnt`.
//!
//! Of each power of two the moments of its last four multiples are kept: of call 1000, say, those of 999, 998 … and 992,
//! 984 … and 512. So there is a moment about as far back as anybody asks, in a kilobyte, and the count between is exact.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::Moment;

/// Calls are told apart up to four thousand million back.
const LEVELS: usize = 32;
/// Moments of each level.
const KEPT: u64 = 4;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Tally {
    taken: AtomicU64,
    ended: AtomicU64,
    /// As bits, as there is no atomic fraction.
    moments: [[AtomicU64; KEPT as usize]; LEVELS],
}

/// When the call of this number was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) number: u64,
    pub(super) at: Moment,
}

impl Tally {
    /// Another is made. Numbers begin with none.
    pub(super) fn take(&self, now: Moment) -> u64 {
        let number = self.taken.fetch_add(1, Relaxed);
        let levels = LEVELS.min(number.trailing_zeros() as usize + 1);
        for (level, moments) in self.moments.iter().enumerate().take(levels) {
            moments[((number >> level) % KEPT) as usize].store(now.to_bits(), Relaxed);
        }
        number
    }

    /// One has ended.
    pub(super) fn end(&self) {
        self.ended.fetch_add(1, Relaxed);
    }

    /// How many were made.
    pub(super) fn taken(&self) -> u64 {
        self.taken.load(Relaxed)
    }

    /// How many are under way.
    pub(super) fn under_way(&self) -> u64 {
        self.taken().saturating_sub(self.ended.load(Relaxed))
    }

    /// Calls before this one whose moments are still known. Where another core is about to note one, it may be a little old.
    pub(super) fn before(&self, number: u64) -> impl Iterator<Item = Mark> {
        let taken = self.taken();
        self.moments.iter().enumerate().flat_map(move |(level, moments)| {
            let oldest = (taken.saturating_sub(1) >> level).saturating_sub(KEPT - 1);
            (oldest..number.div_ceil(1 << level)).map(move |multiple| Mark {
                number: multiple << level,
                at: Moment::from_bits(moments[(multiple % KEPT) as usize].load(Relaxed)),
            })
        })
    }

    /// How many a second were made of late: in a time that is about this long, or in all of it where it was more quiet.
    pub(super) fn rate(&self, span: f64, now: Moment) -> f64 {
        let taken = self.taken();
        let distance = |mark: &Mark| (now - mark.at - span).abs();
        let nearest = self.before(taken).min_by(|one, other| distance(one).total_cmp(&distance(other)));
        nearest.map_or(0.0, |mark| (taken - mark.number) as f64 / (now - mark.at).max(span))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_kept_is_true_and_as_far_back_as_asked_for() {
        let tally = Tally::default();
        for number in 0..10_000_u64 {
            assert_eq!(tally.take(number as f64 / 10.0), number);
        }
        let is_true = |mark: &Mark| (mark.at * 10.0 - mark.number as f64).abs() < 1e-6;
        for number in [0, 1, 2, 9000, 9999, 10_000] {
            assert!(tally.before(number).all(|mark| mark.number < number && is_true(&mark)));
        }
        for back in [1, 3, 10, 99, 500, 1500, 9999] {
            let near = tally.before(10_000).any(|mark| {
                let distance = 10_000 - mark.number;
                distance >= back && distance <= back + back / 3
            });
            assert!(near, "{back}");
        }
    }

    #[test]
    fn what_has_not_ended_is_under_way() {
        let tally = Tally::default();
        (0..3).for_each(|_| assert!(tally.take(1.0) < 3));
        tally.end();
        assert_eq!((tally.taken(), tally.under_way()), (3, 2));
    }

    proptest! {
        /// With an even pace, it is about that pace, but for the one call that is either within the time or not; in silence it
        /// falls.
        #[test]
        fn the_rate_is_that_of_late(calls in 200..5000_u64, span in 5.0..50.0_f64) {
            let tally = Tally::default();
            prop_assert!(tally.rate(span, 7.0) <= 0.0);
            for number in 1..=calls {
                tally.take(100.0 + number as f64 / 3.0);
            }
            let now = 100.0 + calls as f64 / 3.0;
            prop_assert!((tally.rate(span, now) / 3.0 - 1.0).abs() < 0.25, "{}", tally.rate(span, now));
            prop_assert!(tally.rate(span, now + 3.0 * span) < 1.5);
        }
    }
}
