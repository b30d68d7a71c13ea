//! Choose: which target gets the next request. In: how many there are, which may be used, how busy each is. Out: an
//! index. Called by `send` for each attempt; one `Chooser` per core, so that cores need not agree on a counter.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

use plan::Balance;

/// Remembers whose turn it is.
pub(super) struct Chooser {
    balance: Balance,
    random: RandomState,
    turn: Cell<usize>,
}

impl Chooser {
    pub(super) fn new(balance: Balance) -> Self {
        let random = RandomState::new();
        // Cores start at different targets, or the first one would get the first request of each.
        let turn = Cell::new(random.hash_one(0) as usize >> 1);
        Chooser { balance, random, turn }
    }

    /// One of the `count` targets that is `usable`, or `None` when none is.
    pub(super) fn choose(
        &self,
        count: usize,
        usable: impl Fn(usize) -> bool,
        load: impl Fn(usize) -> usize,
    ) -> Option<usize> {
        if count == 1 {
            return usable(0).then_some(0);
        }
        let turn = self.turn.get();
        self.turn.set(turn.wrapping_add(1));
        let among = (0..count).filter(|&index| usable(index)).count();
        // The nth usable one, not the next one after an unusable: that would get twice its share.
        let nth = |n: usize| (0..count).filter(|&index| usable(index)).nth(n);
        match (self.balance, among) {
            (_, 0) => None,
            (_, 1) => nth(0),
            (Balance::RoundRobin, _) => nth(turn % among),
            (Balance::LeastRequests, _) => {
                let random = self.random.hash_one(turn) as usize;
                let first = random % among;
                let second = (first + 1 + (random >> 32) % (among - 1)) % among;
                let (first, second) = (nth(first)?, nth(second)?);
                Some(if load(second) < load(first) { second } else { first })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_robin_shares_evenly_also_around_a_dead_one() {
        let chooser = Chooser::new(Balance::RoundRobin);
        let mut counts = [0; 4];
        for _ in 0..300 {
            let index = chooser.choose(4, |index| index != 2, |_| 0).unwrap();
            counts[index] += 1;
        }
        assert_eq!(counts, [100, 100, 0, 100]);
    }

    #[test]
    fn least_requests_avoids_the_busiest() {
        let chooser = Chooser::new(Balance::LeastRequests);
        let mut counts = [0; 3];
        for _ in 0..300 {
            let index = chooser.choose(3, |_| true, |index| if index == 1 { 9 } else { 0 }).unwrap();
            counts[index] += 1;
        }
        assert_eq!(counts[1], 0, "the busiest of three loses every pair");
        assert!(counts[0] > 50 && counts[2] > 50, "{counts:?}");
    }

    #[test]
    fn nobody_usable_is_none() {
        for balance in [Balance::RoundRobin, Balance::LeastRequests] {
            assert_eq!(Chooser::new(balance).choose(3, |_| false, |_| 0), None);
            assert_eq!(Chooser::new(balance).choose(1, |_| false, |_| 0), None);
            assert_eq!(Chooser::new(balance).choose(3, |index| index == 2, |_| 0), Some(2));
        }
    }
}
