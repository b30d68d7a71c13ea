//! Adaptive: how many calls a target answers without making them wait or refusing them. In: what became of each call. Out: the
//! limit. A pure state machine, used by `concurrency`, under a lock.
//!
//! The limit rises with each call that succeeds while at least half of it is in use (`growth`). It falls for two reasons.
//!
//! Drops: by a tenth, once for all that were sent before it fell. One in a hundred calls is forgiven: any API has some, which
//! have nothing to do with how many there are at once, and each would cost a tenth. Where all calls drop, as in an outage, it
//! falls and falls, but it is soon back to where that began.
//!
//! Latency: when calls take longer, beyond chance, than after the last cut (`round`). By Little's law the limit times their
//! quotient is what the target works on while the rest waits; the limit falls a little below it, so that nothing waits. How
//! long calls take then is what the next are compared with: so it is measured again and again, without ever refusing a call
//! just to measure. And whether the cut has helped is known: where latency has fallen along with the limit, calls still wait,
//! and it falls again; where it has not, the target has just become slower, and the limit rises to where it was.
//!
//! What others do was rejected. A least latency, as in TCP Vegas: where latency varies, the mean is always far above it, and the
//! limit collapses. A long-term mean, as in Netflix's Gradient2: it learns that waiting is normal, and the limit rises to its
//! bound. Measuring with a few calls at a time, as Envoy does: it refuses all others meanwhile.

use std::time::Duration;

use super::growth::Growth;
use super::round::{Latency, Round};

/// A round is so many calls, or so many times the limit where that is more.
const CALLS: f64 = 100.0;
const TIMES: f64 = 2.0;
/// So many may wait, times the root of the limit, as in Gradient2: of two limits the larger falls first, so they become equal.
const WAITING: f64 = 0.4;
/// So many standard errors are no chance.
const CHANCE: f64 = 2.0;
/// The limit falls to so much at once for latency, at most (the factor of CUBIC), and so far below what does not wait.
const DEEPEST: f64 = 0.7;
const BELOW: f64 = 0.9;
/// To so much it falls again while that helps.
const AGAIN: f64 = 0.8;
/// To so much it falls for drops, and back to so much it grows soon: a little below where they were.
const FOR_DROPS: f64 = 0.9;
const BELOW_DROPS: f64 = 0.95;
/// A cut has helped where latency has fallen by this share of it, and has not where by less than that. Logarithms, as both
/// are factors.
const HELPED: f64 = 0.6;
const USELESS: f64 = 0.25;
/// One drop in so many calls is forgiven.
const FORGIVEN: u32 = 100;

/// See the module.
#[derive(Debug)]
pub(super) struct Adaptive {
    least: f64,
    most: f64,
    limit: f64,
    growth: Growth,
    cuts: u64,
    successes_since_drop: u32,
    /// The limit before it fell: the first time of several in a row.
    fell_from: f64,
    /// So many calls to come may still have waited among those of before the cut.
    settling: f64,
    round: Round,
    /// How long calls take while none waits. None: in the first round.
    unhurried: Option<Latency>,
    /// The limit, and how long calls took, before a cut for latency of which is not known yet whether it has helped.
    before: Option<(f64, Latency)>,
}

impl Adaptive {
    pub(super) fn new(least: u32, most: u32, first: u32) -> Self {
        let least = least.max(1);
        let most = most.max(least);
        Adaptive {
            least: f64::from(least),
            most: f64::from(most),
            limit: f64::from(first.clamp(least, most)),
            growth: Growth::default(),
            cuts: 0,
            successes_since_drop: FORGIVEN,
            fell_from: f64::from(most),
            settling: 0.0,
            round: Round::default(),
            unhurried: None,
            before: None,
        }
    }

    pub(super) fn limit(&self) -> u32 {
        self.limit as u32
    }

    /// How often it has been cut.
    pub(super) fn cuts(&self) -> u64 {
        self.cuts
    }

    /// A call was answered, that was sent while at least half of the limit was in use, or was not.
    pub(super) fn succeeded(&mut self, took: Duration, was_used: bool) {
        self.successes_since_drop = self.successes_since_drop.saturating_add(1);
        if self.settling > 0.0 {
            self.settling -= 1.0;
            return;
        }
        let length = CALLS.max(TIMES * self.limit);
        // A clock may have stood still.
        self.round.record(took.as_secs_f64().max(1e-9), was_used, length);
        if self.round.is_over(length) {
            self.judge();
            self.round.clear();
        }
        if was_used && self.unhurried.is_some() && self.before.is_none() {
            self.limit = (self.limit + self.growth.step()).min(self.most);
        }
    }

    /// A call was too much, that was sent when there had been so many cuts.
    pub(super) fn dropped(&mut self, cuts: u64) {
        if cuts != self.cuts {
            return;
        }
        let is_forgiven = self.successes_since_drop >= FORGIVEN;
        self.successes_since_drop = 0;
        if !is_forgiven {
            self.successes_since_drop = FORGIVEN;
            self.cut(FOR_DROPS * self.limit);
            self.growth = Growth::after_cut(self.limit, BELOW_DROPS * self.fell_from);
        }
    }

    /// A round has ended.
    fn judge(&mut self) {
        let latency = self.round.latency();
        let Some(unhurried) = self.unhurried else {
            self.unhurried = Some(latency);
            return;
        };
        if let Some((limit, before)) = self.before.take() {
            self.unhurried = Some(latency);
            self.judge_cut(limit, &before, latency);
            return;
        }
        let comparable = self.round.latency_against(&unhurried);
        if comparable.is_below(&unhurried) {
            self.unhurried = Some(latency);
        } else if latency.was_used {
            let waiting = WAITING / self.limit.sqrt();
            let chance = CHANCE * comparable.error_against(&unhurried);
            if comparable.mean * (1.0 - waiting) - chance > unhurried.mean {
                let at_work = self.limit * (unhurried.mean / latency.mean).clamp(DEEPEST, 1.0);
                let limit = self.limit;
                self.cut(BELOW * at_work);
                self.growth = Growth::after_cut(self.limit, at_work * (1.0 + waiting / 2.0));
                self.before = Some((limit, latency));
            }
        }
    }

    /// What came of a cut for latency.
    fn judge_cut(&mut self, limit: f64, before: &Latency, latency: Latency) {
        let cut = (limit / self.limit).ln();
        let fallen = (before.mean / latency.mean).ln();
        let chance = before.error_of_quotient(&latency);
        if latency.was_used && fallen - chance > HELPED * cut {
            let limit = self.limit;
            self.cut(AGAIN * limit);
            self.growth = Growth::after_cut(self.limit, limit);
            self.before = Some((limit, latency));
        } else if fallen < USELESS * cut {
            self.growth = Growth::after_cut(self.limit, limit);
        }
    }

    fn cut(&mut self, limit: f64) {
        if self.settling <= 0.0 {
            self.fell_from = self.limit;
        }
        self.limit = limit.clamp(self.least, self.most);
        self.cuts += 1;
        self.settling = TIMES * self.limit;
        self.before = None;
        self.round.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOOK: Duration = Duration::from_millis(50);

    /// As it is after its first round.
    fn begun(limit: u32) -> Adaptive {
        let mut adaptive = Adaptive::new(1, 1000, limit);
        (0..200).for_each(|_| adaptive.succeeded(TOOK, false));
        adaptive
    }

    #[test]
    fn ten_drops_of_one_burst_cut_it_once() {
        let mut adaptive = begun(100);
        (0..10).for_each(|_| adaptive.dropped(0));
        assert_eq!((adaptive.limit(), adaptive.cuts()), (90, 1));
        (0..10).for_each(|_| adaptive.dropped(1));
        assert_eq!((adaptive.limit(), adaptive.cuts()), (81, 2));
    }

    #[test]
    fn one_drop_in_a_hundred_calls_is_forgiven() {
        let mut adaptive = begun(100);
        for _ in 0..10 {
            adaptive.dropped(0);
            (0..100).for_each(|_| adaptive.succeeded(TOOK, false));
        }
        assert_eq!(adaptive.limit(), 100);
        adaptive.dropped(0);
        (0..99).for_each(|_| adaptive.succeeded(TOOK, false));
        adaptive.dropped(0);
        assert_eq!(adaptive.limit(), 90);
    }

    #[test]
    fn it_grows_only_while_it_is_used() {
        let mut adaptive = begun(100);
        (0..10_000).for_each(|_| adaptive.succeeded(TOOK, false));
        assert_eq!(adaptive.limit(), 100);
        (0..10_000).for_each(|_| adaptive.succeeded(TOOK, true));
        assert_eq!(adaptive.limit(), 1000);
    }

    proptest! {
        /// Whatever it is told: it stays within its bounds, and falls only as it says that it was cut.
        #[test]
        fn it_stays_within_its_bounds(
            (least, most, first) in (any::<u32>(), any::<u32>(), 0..200_u32),
            is_small in any::<bool>(),
            told in proptest::collection::vec((0..8_u8, 0..400_u32, any::<bool>()), 0..60),
        ) {
            let (least, most) = if is_small { (least % 20, most % 300) } else { (least, most) };
            let mut adaptive = Adaptive::new(least, most, first);
            let least = least.max(1);
            for (what, times, was_used) in told {
                for _ in 0..times {
                    let (limit, cuts) = (adaptive.limit(), adaptive.cuts());
                    match what {
                        0 => adaptive.dropped(cuts),
                        1 => adaptive.dropped(cuts.wrapping_sub(1)),
                        2 => adaptive.succeeded(Duration::ZERO, was_used),
                        3 => adaptive.succeeded(Duration::MAX, was_used),
                        _ => adaptive.succeeded(TOOK * u32::from(what), was_used),
                    }
                    prop_assert!(adaptive.limit() >= least && adaptive.limit() <= most.max(least));
                    prop_assert!(adaptive.limit() >= limit || adaptive.cuts() == cuts + 1);
                    prop_assert!(what != 1 || adaptive.cuts() == cuts);
                }
            }
        }
    }
}
