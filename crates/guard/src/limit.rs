//! Limit: how often something may be done, for each key on its own.
//!
//! In: what is allowed, a key and the time. Out: a [`LimitDecision`]. Whoever does the thing looks with `peek`, which costs the
//! key nothing, and takes with `take` when it is done: only what `take` says counts, as others take in between. Shared by
//! all cores as one [`Limits`].
//!
//! `quota` is the allowance in whole numbers. `gcra`, `fixed` and `sliding` are what is known of one key. `states` finds
//! it by the key, and `shard` keeps it within bounds. `shares` is a limit without keys that groups share. `joint` is one that
//! instances keep together.

mod fixed;
mod gcra;
mod joint;
mod quota;
mod shard;
mod shares;
mod sliding;
mod states;

use std::time::{Duration, Instant};

use crate::beginning::Beginning;
use fixed::Fixed;
use gcra::Gcra;
use quota::Quota;
use sliding::Sliding;
use states::{Sharded, States};

pub use joint::{Count, Delays, Joint, JointQuota, Way};
pub use shares::Shares;

/// How calls are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// The generic cell rate algorithm (ITU-T I.371, annex A): a steady rate, with a burst on top. In any time `t` no
    /// more than `burst + amount * t / per` are let through, and whatever keeps to that is. Nothing is rounded.
    #[default]
    Gcra,
    /// `amount` in a window as long as `per`. Each key has its own windows: one begins with the first that is let through
    /// after the last window has ended, so that not all keys are free at one moment, and what was forgotten is not
    /// missed. Around the end of a window, up to twice the amount may come at once.
    Fixed,
    /// `amount` in any interval as long as `per`, wherever it begins: never more. Exact for up to 16. Of more, those at
    /// most a sixteenth of `per` apart are counted as one group, until its last is `per` ago: one may count for up to a
    /// sixteenth of `per` too long, and never too short.
    Sliding,
}

/// How much of something is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// How is counted.
    pub algorithm: Algorithm,
    /// How many, `per` so much time. None: nothing is ever let through.
    pub amount: u64,
    /// The time they are for. At least a nanosecond, and at most 584 years: otherwise the nearest counts.
    pub per: Duration,
    /// How many may come at once. It counts for [`Algorithm::Gcra`] only, and none counts as one.
    pub burst: u64,
}

/// What is said to one who wants to do it. The times are from the `now` that was given; the fields of the RateLimit draft
/// (draft-ietf-httpapi-ratelimit-headers) and `Retry-After` (RFC 9110, section 10.2.3) are in seconds, rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitDecision {
    /// Whether this one is let through.
    pub is_allowed: bool,
    /// How many more may come right now, after this one.
    pub remaining: u64,
    /// How long until the whole quota is there again, if nobody else comes after this one.
    pub reset: Duration,
    /// How long until the next is let through, if nobody else comes: not a nanosecond longer than it has to be. Zero for
    /// one that is allowed; [`Duration::MAX`] where nothing ever is.
    pub retry_after: Duration,
}

/// See the module. It keeps nothing of a key whose quota is full.
#[derive(Debug)]
pub struct Limits {
    quota: Quota,
    beginning: Beginning,
    states: Box<dyn States>,
}

impl Limits {
    /// For so many keys at once, at least one. Where there are more, the one whose quota is full again soonest of a few
    /// is forgotten, and has the full quota from then on: see [`Limits::evicted`]. So there is to be room for all who
    /// come within `per`. The empty key is for limits without keys: it is always there, is never forgotten and is not
    /// counted.
    ///
    /// From 2048 keys on they are kept in several parts, of which one may be full a little before the others.
    pub fn new(allowance: Allowance, most_keys: usize) -> Self {
        Limits::with(allowance, most_keys, None)
    }

    /// The same, as if every key, also one that never came, had taken its whole quota at this moment.
    pub fn spent(allowance: Allowance, most_keys: usize, at: Instant) -> Self {
        Limits::with(allowance, most_keys, Some(at))
    }

    fn with(allowance: Allowance, most_keys: usize, spent_at: Option<Instant>) -> Self {
        let (quota, beginning) = (Quota::new(&allowance), Beginning::default());
        let spent_at = spent_at.map(|at| beginning.nanoseconds(at));
        let states: Box<dyn States> = match allowance.algorithm {
            Algorithm::Gcra => Box::new(Sharded::<Gcra>::new(most_keys, &quota, spent_at)),
            Algorithm::Fixed => Box::new(Sharded::<Fixed>::new(most_keys, &quota, spent_at)),
            Algorithm::Sliding => Box::new(Sharded::<Sliding>::new(most_keys, &quota, spent_at)),
        };
        Limits { quota, beginning, states }
    }

    /// What [`Limits::take`] would say now, field by field. It takes nothing, so it promises nothing.
    pub fn peek(&self, key: &[u8], now: Instant) -> LimitDecision {
        if self.quota.amount == 0 {
            return LimitDecision::NEVER;
        }
        self.states.peek(key, &self.quota, self.beginning.nanoseconds(now))
    }

    /// Takes one where that is allowed; a refusal takes nothing. Looking and taking are one step: however many cores take
    /// at once, no more are let through than allowed.
    ///
    /// A `now` that was read a little before somebody else's is fine: it counts as no earlier than what the key has seen.
    pub fn take(&self, key: &[u8], now: Instant) -> LimitDecision {
        if self.quota.amount == 0 {
            return LimitDecision::NEVER;
        }
        self.states.take(key, &self.quota, self.beginning.nanoseconds(now))
    }

    /// How many keys were forgotten, since it was made, although their quota was not full.
    pub fn evicted(&self) -> u64 {
        self.states.evicted()
    }

    /// How many keys are kept. Some of them may be full again: they leave as others come.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether no key is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl LimitDecision {
    const NEVER: LimitDecision =
        LimitDecision { is_allowed: false, remaining: 0, reset: Duration::ZERO, retry_after: Duration::MAX };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NANOSECOND: Duration = Duration::from_nanos(1);

    fn allowance() -> impl Strategy<Value = Allowance> {
        let algorithm = prop_oneof![Just(Algorithm::Gcra), Just(Algorithm::Fixed), Just(Algorithm::Sliding)];
        (algorithm, 1..40_u64, 1..2000_u64, 1..10_u64).prop_map(|(algorithm, amount, per, burst)| Allowance {
            algorithm,
            amount,
            per: Duration::from_nanos(per),
            burst,
        })
    }

    /// How long is waited before each, in nanoseconds: often not at all.
    fn waits() -> impl Strategy<Value = Vec<u64>> {
        proptest::collection::vec(prop_oneof![3 => Just(0), 3 => 0..50_u64, 1 => 0..3000_u64], 1..200)
    }

    fn just_before(wait: Duration) -> Duration {
        wait.saturating_sub(NANOSECOND)
    }

    fn at_once(allowance: &Allowance) -> u64 {
        if allowance.algorithm == Algorithm::Gcra { allowance.burst } else { allowance.amount }
    }

    /// Whether one more, at `now`, is too much after those in `given`: by what the algorithm promises, word for word.
    fn is_too_much(allowance: &Allowance, given: &[u64], now: u64) -> bool {
        let per = allowance.per.as_nanos() as u64;
        match allowance.algorithm {
            Algorithm::Gcra => given
                .iter()
                .rev()
                .zip(2..)
                .any(|(since, count)| count > allowance.burst + allowance.amount * (now - since) / per),
            Algorithm::Fixed => {
                let mut window = (0, 0);
                for &moment in given {
                    if window.1 == 0 || moment >= window.0 + per {
                        window = (moment, 0);
                    }
                    window.1 += 1;
                }
                window.1 >= allowance.amount && now < window.0 + per
            }
            Algorithm::Sliding => {
                given.iter().filter(|&since| now - since < per).count() as u64 >= allowance.amount
            }
        }
    }

    proptest! {
        #[test]
        fn never_more_than_allowed_and_never_fewer(allowance in allowance(), waits in waits()) {
            let (limits, start) = (Limits::new(allowance, 1), Instant::now());
            let (mut now, mut given) = (0, Vec::new());
            for wait in waits {
                now += wait;
                let verdict = limits.take(b"key", start + Duration::from_nanos(now));
                let is_too_much = is_too_much(&allowance, &given, now);
                if allowance.algorithm == Algorithm::Sliding && allowance.amount > 16 {
                    let longer = Allowance { per: allowance.per + allowance.per.div_f64(16.0) + NANOSECOND, ..allowance };
                    prop_assert!(!(verdict.is_allowed && is_too_much));
                    prop_assert!(verdict.is_allowed || self::is_too_much(&longer, &given, now));
                } else {
                    prop_assert_eq!(verdict.is_allowed, !is_too_much);
                }
                if verdict.is_allowed {
                    given.push(now);
                }
            }
        }

        #[test]
        fn what_is_said_is_true(allowance in allowance(), waits in waits()) {
            let limits = Limits::new(allowance, 1);
            let mut now = Instant::now();
            for wait in waits {
                now += Duration::from_nanos(wait);
                let foretold = limits.peek(b"key", now);
                prop_assert_eq!(limits.peek(b"key", now), foretold, "a look takes nothing");
                let verdict = limits.take(b"key", now);
                prop_assert_eq!(verdict, foretold);
                prop_assert_eq!(verdict.is_allowed, verdict.retry_after.is_zero());
                let next = limits.peek(b"key", now);
                prop_assert_eq!(next.is_allowed, verdict.remaining > 0, "it counts down, one by one");
                prop_assert_eq!(next.remaining, verdict.remaining.saturating_sub(1));
                if !next.is_allowed {
                    prop_assert!(limits.peek(b"key", now + next.retry_after).is_allowed);
                    prop_assert!(!limits.peek(b"key", now + just_before(next.retry_after)).is_allowed);
                }
                let full = at_once(&allowance) - 1;
                prop_assert_eq!(limits.peek(b"key", now + verdict.reset).remaining, full);
                prop_assert!(limits.peek(b"key", now + just_before(verdict.reset)).remaining < full || full == 0);
            }
        }

        #[test]
        fn a_clock_that_goes_backwards_lets_no_more_through(
            allowance in allowance(),
            moments in proptest::collection::vec(0..5000_u64, 1..200),
        ) {
            let (limits, start) = (Limits::new(allowance, 1), Instant::now());
            let (mut latest, mut given) = (0, Vec::new());
            for moment in moments {
                let verdict = limits.take(b"key", start + Duration::from_nanos(moment));
                latest = latest.max(moment);
                if verdict.is_allowed {
                    prop_assert!(!is_too_much(&allowance, &given, latest));
                    given.push(latest);
                }
            }
        }

        #[test]
        fn no_number_makes_it_panic(
            amount in prop_oneof![Just(0), Just(1), any::<u64>()],
            per in prop_oneof![Just(Duration::ZERO), Just(Duration::MAX), any::<u64>().prop_map(Duration::from_nanos)],
            burst in any::<u64>(),
            waits in proptest::collection::vec(any::<u32>(), 1..20),
        ) {
            for algorithm in [Algorithm::Gcra, Algorithm::Fixed, Algorithm::Sliding] {
                let limits = Limits::new(Allowance { algorithm, amount, per, burst }, 0);
                let mut now = Instant::now();
                for wait in &waits {
                    prop_assert_eq!(limits.peek(b"key", now), limits.take(b"key", now));
                    limits.take(&wait.to_be_bytes(), now);
                    now += Duration::from_millis(u64::from(*wait));
                }
            }
        }
    }

    #[test]
    fn where_nothing_is_allowed_nothing_is_promised() {
        let per = Duration::from_secs(1);
        let limits = Limits::new(Allowance { algorithm: Algorithm::Gcra, amount: 0, per, burst: 5 }, 10);
        assert_eq!(limits.take(b"", Instant::now()), LimitDecision::NEVER);
        assert!(limits.is_empty());
    }

    proptest! {
        #[test]
        fn a_spent_quota_is_whole_again_as_if_somebody_had_taken_it(allowance in allowance()) {
            let (start, whole) = (Instant::now(), Limits::new(allowance, 2));
            let spent = Limits::spent(allowance, 2, start);
            for key in [&b""[..], b"key"] {
                (0..at_once(&allowance)).for_each(|_| assert!(whole.take(key, start).is_allowed));
                prop_assert_eq!(spent.peek(key, start), whole.peek(key, start));
                let wait = spent.peek(key, start).retry_after;
                prop_assert!(!spent.take(key, start + just_before(wait)).is_allowed);
                prop_assert_eq!(spent.take(key, start + wait), whole.take(key, start + wait));
            }
        }
    }

    #[test]
    fn a_third_of_a_second_is_not_rounded() {
        let per = Duration::from_secs(1);
        let limits = Limits::new(Allowance { algorithm: Algorithm::Gcra, amount: 3, per, burst: 2 }, 10);
        let start = Instant::now();
        (0..2).for_each(|_| assert!(limits.take(b"", start).is_allowed));
        let mut now = start;
        for _ in 0..3000 {
            let refused = limits.take(b"", now);
            assert!(!refused.is_allowed);
            now += refused.retry_after;
            assert!(limits.take(b"", now).is_allowed);
        }
        assert_eq!(now - start, Duration::from_secs(1000));
    }
}
