//! Quota: a limit in the numbers that a server's scripts count with, and what they have counted as a decision. In whole
//! microseconds, since Lua's numbers are exact up to 2^53 only: the moments of two centuries fit, and a product with the amount does
//! not. So a moment of GCRA is whole microseconds and parts of one, `amount` parts each. Used by whoever asks the server.

use std::time::Duration;

use crate::limit::fixed::Fixed;
use crate::limit::gcra::Gcra;
use crate::limit::quota::Quota;
use crate::limit::sliding::{Group, Sliding, longest};
use crate::limit::states::State;
use crate::limit::{Algorithm, Allowance, LimitDecision};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct JointQuota {
    algorithm: Algorithm,
    /// In microseconds.
    quota: Quota,
}

/// What a script says of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Whether the call was counted, and so may be made.
    pub is_allowed: bool,
    /// The server's clock, in microseconds.
    pub now: u64,
    /// What was there before. GCRA: when the next would come if all came evenly, whole and in parts. Fixed: when the window
    /// began, and those in it. Sliding: the newest, how many still count, and when the oldest of them was.
    pub before: [u64; 3],
}

impl JointQuota {
    /// Of an allowance, whose `per` is rounded up to microseconds.
    pub fn new(allowance: &Allowance) -> Self {
        let per = u64::try_from(allowance.per.as_nanos().div_ceil(1000)).unwrap_or(u64::MAX);
        let quota = Quota::new(allowance);
        JointQuota { algorithm: allowance.algorithm, quota: Quota { per: per.max(1), ..quota } }
    }

    /// Calls.
    pub fn amount(&self) -> u64 {
        self.quota.amount
    }

    /// In so many microseconds.
    pub fn per(&self) -> u64 {
        self.quota.per
    }

    /// Calls at once, for GCRA.
    pub fn burst(&self) -> u64 {
        self.quota.burst
    }

    /// How far apart calls are if they come evenly: microseconds, and parts of one.
    pub fn interval(&self) -> (u64, u64) {
        self.whole_and_parts(1)
    }

    /// In how long a whole burst comes again.
    pub fn most(&self) -> (u64, u64) {
        self.whole_and_parts(self.quota.burst)
    }

    /// How long after its first one more belongs to a group of calls.
    pub fn group(&self) -> u64 {
        longest(&self.quota)
    }

    /// How long it takes at most until a whole quota is there again, in microseconds, rounded up.
    pub fn window(&self) -> u64 {
        match self.algorithm {
            Algorithm::Gcra => self.most().0.saturating_add(1),
            Algorithm::Fixed | Algorithm::Sliding => self.quota.per,
        }
    }

    /// What is said to whoever wanted to make the call.
    pub fn decision(&self, count: &Count) -> LimitDecision {
        let (quota, now, [a, b, c]) = (&self.quota, count.now, count.before);
        let decision = match self.algorithm {
            Algorithm::Gcra => {
                let fine = u128::from(a).saturating_mul(u128::from(quota.amount));
                Gcra(fine.saturating_add(u128::from(b))).verdict(quota, now)
            }
            Algorithm::Fixed => Fixed { start: a, taken: b }.verdict(quota, now),
            Algorithm::Sliding => {
                // Those between count as the newest does: only the oldest and the newest are asked for.
                let group = |at, taken| Group { first: at, last: at, taken };
                let oldest = (b > 0).then(|| group(c, 1));
                let others = (b > 1).then(|| group(a, b - 1));
                Sliding::of(oldest.into_iter().chain(others)).verdict(quota, now)
            }
        };
        LimitDecision {
            is_allowed: count.is_allowed,
            remaining: decision.remaining,
            reset: microseconds(decision.reset),
            retry_after: microseconds(decision.retry_after),
        }
    }

    fn whole_and_parts(&self, calls: u64) -> (u64, u64) {
        let (amount, all) =
            (u128::from(self.quota.amount.max(1)), u128::from(self.quota.per) * u128::from(calls));
        (u64::try_from(all / amount).unwrap_or(u64::MAX), (all % amount) as u64)
    }
}

/// What was reckoned as if it were nanoseconds.
fn microseconds(counted: Duration) -> Duration {
    counted.saturating_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(algorithm: Algorithm) -> JointQuota {
        JointQuota::new(&Allowance { algorithm, amount: 3, per: Duration::from_micros(10), burst: 2 })
    }

    fn said(algorithm: Algorithm, is_allowed: bool, before: [u64; 3]) -> (u64, u128, u128) {
        let decision = quota(algorithm).decision(&Count { is_allowed, now: 100, before });
        assert_eq!(decision.is_allowed, is_allowed);
        (decision.remaining, decision.reset.as_micros(), decision.retry_after.as_micros())
    }

    #[test]
    fn a_third_is_not_rounded() {
        let quota = quota(Algorithm::Gcra);
        assert_eq!((quota.interval(), quota.most(), quota.window()), ((3, 1), (6, 2), 7));
    }

    #[test]
    fn what_was_counted_is_what_is_said() {
        assert_eq!(said(Algorithm::Gcra, true, [0, 0, 0]), (1, 4, 0));
        assert_eq!(said(Algorithm::Gcra, true, [103, 1, 0]), (0, 7, 0));
        assert_eq!(said(Algorithm::Gcra, false, [106, 2, 0]), (0, 7, 4));
        assert_eq!(said(Algorithm::Fixed, true, [95, 1, 0]), (1, 5, 0));
        assert_eq!(said(Algorithm::Fixed, false, [95, 3, 0]), (0, 5, 5));
        assert_eq!(said(Algorithm::Sliding, true, [0, 0, 0]), (2, 10, 0));
        assert_eq!(said(Algorithm::Sliding, true, [98, 2, 92]), (0, 10, 0));
        assert_eq!(said(Algorithm::Sliding, false, [98, 3, 92]), (0, 8, 2));
    }
}
