//! Sliding: never more than so many in any interval of that length. Used by `states`.
//!
//! The usual counter of two windows, weighed by how far the second has come, was rejected: it supposes that those of the
//! first came evenly, and lets up to twice as many through where they did not. Every moment on its own takes as much memory
//! as somebody likes to allow. So moments that are close together are one group, which counts until its last is over.

use std::collections::VecDeque;
use std::time::Duration;

use super::LimitDecision;
use super::quota::{Quota, between};
use super::states::State;

/// How finely an interval is divided: with so many or fewer allowed, each is a group of its own.
const GROUPS: u64 = 16;

/// Those of a key that may still count, the oldest first; no more than `GROUPS + 1`.
#[derive(Debug, Default)]
pub(super) struct Sliding {
    groups: VecDeque<Group>,
}

/// Calls that are close together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) taken: u64,
}

/// How long after its first one more belongs to a group.
pub(super) fn longest(quota: &Quota) -> u64 {
    if quota.amount <= GROUPS { 0 } else { quota.per.div_ceil(GROUPS) }
}

impl Sliding {
    pub(super) fn of(groups: impl IntoIterator<Item = Group>) -> Self {
        Sliding { groups: groups.into_iter().collect() }
    }

    /// The newest anybody has told of, be it later than `now`: what is done now is done after that.
    fn latest(&self, now: u64) -> u64 {
        self.groups.back().map_or(now, |newest| newest.last.max(now))
    }
}

impl State for Sliding {
    fn spent(quota: &Quota, at: u64) -> Self {
        Sliding::of([Group { first: at, last: at, taken: quota.amount }])
    }

    fn verdict(&self, quota: &Quota, now: u64) -> LimitDecision {
        let latest = self.latest(now);
        let until = |moment: u64| between(now, moment.saturating_add(quota.per));
        let mut counting = self.groups.iter().filter(|group| latest - group.last < quota.per);
        let oldest = counting.next();
        let taken = oldest.map_or(0, |oldest| oldest.taken) + counting.map(|group| group.taken).sum::<u64>();
        let left = quota.amount.saturating_sub(taken);
        LimitDecision {
            is_allowed: left > 0,
            remaining: left.saturating_sub(1),
            // One that is refused leaves the newest as it is.
            reset: until(if left > 0 {
                latest
            } else {
                self.groups.back().map_or(latest, |newest| newest.last)
            }),
            retry_after: oldest.filter(|_| left == 0).map_or(Duration::ZERO, |oldest| until(oldest.last)),
        }
    }

    fn count(&mut self, quota: &Quota, now: u64) {
        let latest = self.latest(now);
        while self.groups.pop_front_if(|oldest| latest - oldest.last >= quota.per).is_some() {}
        match self.groups.back_mut() {
            Some(newest) if latest - newest.first <= longest(quota) => {
                newest.last = latest;
                newest.taken += 1;
            }
            _ => self.groups.push_back(Group { first: latest, last: latest, taken: 1 }),
        }
    }

    fn full_at(&self, quota: &Quota) -> u64 {
        self.groups.back().map_or(0, |newest| newest.last.saturating_add(quota.per))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn up_to_sixteen_are_remembered_one_by_one() {
        let quota = Quota { amount: 3, per: 1600, burst: 1 };
        let mut sliding = Sliding::default();
        assert!([0, 1, 700].into_iter().all(|now| sliding.take(&quota, now).is_allowed));
        let moments = [700, 1599, 1600, 1600, 1601, 2299, 2300, 2301];
        let given: Vec<_> = moments.into_iter().filter(|&now| sliding.take(&quota, now).is_allowed).collect();
        assert_eq!(given, [1600, 1601, 2300]);
    }

    #[test]
    fn all_at_once_is_all_again_when_the_interval_is_over() {
        let quota = Quota { amount: 1000, per: 1600, burst: 1 };
        let mut sliding = Sliding::default();
        for now in [5, 1605, 3205] {
            assert_eq!((0..2000).filter(|_| sliding.take(&quota, now).is_allowed).count(), 1000);
            assert!(!sliding.take(&quota, now + 1599).is_allowed);
        }
        assert_eq!(sliding.groups.len(), 1);
    }

    proptest! {
        #[test]
        fn whatever_comes_there_are_few_groups(
            amount in 1..200_u64,
            per in 1..500_u64,
            waits in proptest::collection::vec(0..40_u64, 0..400),
        ) {
            let (quota, mut sliding, mut now) = (Quota { amount, per, burst: 1 }, Sliding::default(), 0);
            for wait in waits {
                now += wait;
                sliding.take(&quota, now);
                prop_assert!(sliding.groups.len() as u64 <= GROUPS + 1);
            }
        }
    }
}
