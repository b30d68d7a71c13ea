//! Shard: what is known of some of the keys, up to a bound. Used by `states`, under a lock.
//!
//! Whenever a new key comes, the next few are looked at, in turn. Those whose quota is full are dropped: no one will know.
//! Where that makes no room, the one that is full again soonest of them is dropped. So a call looks at a few at most, and
//! dead ones are gone long before as many new ones have come. With GCRA, whoever floods it with keys loses the flood: a key
//! whose quota is used up goes only after those that are less used up. With windows the oldest goes.

use std::collections::HashMap;

use super::LimitDecision;
use super::quota::Quota;
use super::states::State;
use crate::fingerprint::Fingerprint;

/// How many are looked at when one comes.
const LOOKS: usize = 8;

/// See the module.
#[derive(Debug)]
pub(super) struct Shard<S> {
    kept: Vec<Kept<S>>,
    /// Where in `kept`. Fingerprints are secret and even already, so the quickest hash will do.
    index: HashMap<Fingerprint, usize, foldhash::fast::RandomState>,
    most: usize,
    /// When the whole quota of keys that nothing is known of was taken; `None`: it is there.
    spent_at: Option<u64>,
    /// The one to look at next.
    next: usize,
    evicted: u64,
}

#[derive(Debug)]
struct Kept<S> {
    fingerprint: Fingerprint,
    state: S,
}

impl<S: State> Shard<S> {
    /// For so many keys, at least one. Memory is taken as they come. See [`spent_at`](Shard::spent_at).
    pub(super) fn new(most: usize, spent_at: Option<u64>) -> Self {
        let most = most.max(1);
        Shard { kept: Vec::new(), index: HashMap::default(), most, spent_at, next: 0, evicted: 0 }
    }

    /// What holds for a key that nothing is known of.
    fn unknown(&self, quota: &Quota) -> S {
        self.spent_at.map_or_else(S::default, |at| S::spent(quota, at))
    }

    pub(super) fn peek(&self, fingerprint: Fingerprint, quota: &Quota, now: u64) -> LimitDecision {
        match self.index.get(&fingerprint) {
            Some(&place) => self.kept[place].state.verdict(quota, now),
            None => self.unknown(quota).verdict(quota, now),
        }
    }

    pub(super) fn take(&mut self, fingerprint: Fingerprint, quota: &Quota, now: u64) -> LimitDecision {
        if let Some(&place) = self.index.get(&fingerprint) {
            return self.kept[place].state.take(quota, now);
        }
        let mut state = self.unknown(quota);
        let verdict = state.take(quota, now);
        self.make_room(quota, now);
        self.index.insert(fingerprint, self.kept.len());
        self.kept.push(Kept { fingerprint, state });
        verdict
    }

    pub(super) fn len(&self) -> usize {
        self.kept.len()
    }

    /// How many were dropped whose quota was not full.
    pub(super) fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Looks at the next few, and drops what may go, or what has to.
    fn make_room(&mut self, quota: &Quota, now: u64) {
        let mut soonest: Option<(u64, usize)> = None;
        for _ in 0..LOOKS.min(self.kept.len()) {
            // Each look drops one or goes on by one, so there is one left for each.
            if self.next >= self.kept.len() {
                self.next = 0;
            }
            let full_at = self.kept[self.next].state.full_at(quota);
            if full_at <= now {
                self.remove(self.next);
                continue;
            }
            if soonest.is_none_or(|(soonest, _)| full_at < soonest) {
                soonest = Some((full_at, self.next));
            }
            self.next += 1;
        }
        // Still full: nothing was dropped, so nothing has moved.
        if self.kept.len() >= self.most
            && let Some((_, place)) = soonest
        {
            self.remove(place);
            self.evicted += 1;
        }
    }

    /// The last takes its place.
    fn remove(&mut self, place: usize) {
        let gone = self.kept.swap_remove(place);
        self.index.remove(&gone.fingerprint);
        if let Some(moved) = self.kept.get(place) {
            self.index.insert(moved.fingerprint, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limit::gcra::Gcra;

    const QUOTA: Quota = Quota { amount: 1, per: 100, burst: 10 };

    fn key(number: u64) -> Fingerprint {
        Fingerprint(number, 0)
    }

    #[test]
    fn full_ones_leave_first_and_unnoticed() {
        let mut shard = Shard::<Gcra>::new(100, None);
        for number in 0..10_000 {
            shard.take(key(number), &QUOTA, 10 * number);
        }
        assert_eq!(shard.evicted(), 0);
        assert!(shard.len() < 25, "10 live at a time: {}", shard.len());
    }

    #[test]
    fn a_flood_of_keys_does_not_help_whoever_is_refused() {
        let mut shard = Shard::<Gcra>::new(50, None);
        (0..10).for_each(|_| assert!(shard.take(key(0), &QUOTA, 0).is_allowed));
        (1..10_000).for_each(|number| assert!(shard.take(key(number), &QUOTA, 0).is_allowed));
        assert!(!shard.take(key(0), &QUOTA, 0).is_allowed);
        assert_eq!((shard.len(), shard.evicted()), (50, 9950));
    }

    proptest! {
        /// Whatever comes and goes: what is kept is found, all of it within the bound, and nobody live is missed but
        /// those counted.
        #[test]
        fn all_that_is_kept_is_found(
            most in 1..20_usize,
            takes in proptest::collection::vec((0..40_u64, 0..60_u64), 0..300),
        ) {
            let (mut shard, mut now, mut seen) = (Shard::<Gcra>::new(most, None), 0, std::collections::BTreeMap::new());
            for (number, wait) in takes {
                now += wait;
                let had = shard.index.contains_key(&key(number));
                if !had && seen.get(&number).is_none_or(|full_at| *full_at <= now) {
                    prop_assert_eq!(shard.peek(key(number), &QUOTA, now).remaining, 9);
                }
                shard.take(key(number), &QUOTA, now);
                seen.insert(number, shard.kept[shard.index[&key(number)]].state.full_at(&QUOTA));
                prop_assert!(shard.len() <= most && shard.index.len() == shard.len());
                for (place, kept) in shard.kept.iter().enumerate() {
                    prop_assert_eq!(shard.index[&kept.fingerprint], place);
                }
                let lost: Vec<_> = seen.iter().filter(|(number, full_at)| {
                    **full_at > now && !shard.index.contains_key(&key(**number))
                }).collect();
                prop_assert!(lost.len() as u64 <= shard.evicted());
            }
        }
    }
}
