//! Positions: purges are numbered twice: by the stream that instances share, and by the epochs of this process. Here one
//! is told from the other, so that an answer another instance stored is compared with all purges it has not seen.
//!
//! Pure. In: purges as they are marked here, and as the stream tells of them. Out: the epoch an answer of a position counts
//! as of (and the other way round), or that nobody can vouch for it. Where the two orders differ, an answer counts as
//! older than it is, which costs a fetch and never serves what was purged.

use std::collections::VecDeque;

/// A place in the stream of purges: the number Redis gave it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Position {
    pub(crate) millis: u64,
    pub(crate) sequence: u64,
}

/// What an answer stored in Redis says of the purges it has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Vouched {
    /// Which life of the stream it is about.
    pub(crate) generation: u64,
    /// Every purge up to this one was compared with it.
    pub(crate) position: Position,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    /// 0: no life of the stream is known.
    generation: u64,
    /// Nothing from before it can be compared any more.
    floor: Position,
    /// The last that the stream told of.
    heard: Position,
    /// Purges that the stream told of, in its order, with their epochs here.
    known: VecDeque<(Position, u64)>,
    /// None of those has a later epoch.
    latest: u64,
    /// The epochs of our own purges that the stream has not told of yet, in their order.
    unheard: VecDeque<u64>,
}

/// Purges that are remembered. What has not seen those before is not used any more.
const MOST: usize = 65_536;

impl Positions {
    /// A life of the stream begins, or is entered: at `floor`, from where on its purges will be told.
    pub(crate) fn begin(&mut self, generation: u64, floor: Position) {
        let unheard = std::mem::take(&mut self.unheard);
        *self = Positions { generation, floor, heard: floor, unheard, ..Positions::default() };
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn heard(&self) -> Position {
        self.heard
    }

    /// A purge of ours is in force here since this epoch, and will be told.
    pub(crate) fn marked(&mut self, epoch: u64) {
        if self.unheard.len() >= MOST {
            // By then all these are told as one (see `telling`): that of the first is what counts.
            self.unheard.truncate(1);
        }
        self.unheard.push_back(epoch);
    }

    /// Whether a purge of ours of this epoch is still to be heard of.
    pub(crate) fn awaits(&self, epoch: u64) -> bool {
        self.unheard.binary_search(&epoch).is_ok()
    }

    /// The stream told of a purge of ours. Whether it is in force here as it was told: not so where it is one of
    /// `everything` that stands for several (see `telling`), nor where it is told once more. It counts as another
    /// instance's then.
    pub(crate) fn tell_ours(&mut self, position: Position, epoch: u64, everything: bool) -> bool {
        let Ok(index) = self.unheard.binary_search(&epoch) else { return false };
        if everything && index > 0 {
            self.unheard.drain(..=index);
            return false;
        }
        self.unheard.remove(index);
        self.tell(position, epoch);
        true
    }

    /// The stream told of a purge, which is in force here since this epoch.
    pub(crate) fn tell(&mut self, position: Position, epoch: u64) {
        self.heard = self.heard.max(position);
        self.latest = self.latest.max(epoch);
        self.known.push_back((position, epoch));
        if self.known.len() > MOST
            && let Some((dropped, _)) = self.known.pop_front()
        {
            self.floor = dropped;
        }
    }

    /// The stream told of something that purges nothing.
    pub(crate) fn pass(&mut self, position: Position) {
        self.heard = self.heard.max(position);
    }

    /// The epoch an answer counts as of: it is to be compared with the purges of later ones. `now`: the latest.
    pub(crate) fn epoch_of(&self, vouched: Vouched, now: u64) -> Option<u64> {
        if self.generation == 0 || vouched.generation != self.generation || vouched.position < self.floor {
            return None;
        }
        let later = self.known.iter().rev().take_while(|(position, _)| *position > vouched.position);
        let unseen = later.map(|(_, epoch)| *epoch).chain(self.unheard.front().copied()).min();
        Some(unseen.map_or(now, |epoch| epoch.saturating_sub(1)).min(now))
    }

    /// What an answer that was compared up to `epoch` may say of itself.
    pub(crate) fn vouched_by(&self, epoch: u64) -> Option<Vouched> {
        if self.generation == 0 {
            return None;
        }
        if epoch >= self.latest {
            return Some(Vouched { generation: self.generation, position: self.heard });
        }
        let seen = self.known.iter().position(|(_, other)| *other > epoch);
        let position = match seen {
            None => self.heard,
            Some(0) => self.floor,
            Some(index) => self.known[index - 1].0,
        };
        Some(Vouched { generation: self.generation, position })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(sequence: u64) -> Position {
        Position { millis: 1, sequence }
    }

    fn answer(sequence: u64) -> Vouched {
        Vouched { generation: 7, position: at(sequence) }
    }

    fn begun() -> Positions {
        let mut positions = Positions::default();
        positions.begin(7, at(0));
        positions
    }

    #[test]
    fn an_answer_is_compared_with_the_purges_it_has_not_seen() {
        let mut positions = begun();
        positions.tell(at(1), 11);
        positions.tell(at(2), 12);
        assert_eq!(positions.epoch_of(answer(0), 12), Some(10));
        assert_eq!(positions.epoch_of(answer(1), 12), Some(11));
        assert_eq!(positions.epoch_of(answer(2), 12), Some(12));
        assert_eq!(positions.epoch_of(answer(9), 12), Some(12), "it is ahead of us");
    }

    #[test]
    fn our_own_purge_counts_before_the_stream_tells_of_it() {
        let mut positions = begun();
        positions.marked(11);
        assert_eq!(positions.epoch_of(answer(9), 11), Some(10));
        assert!(positions.tell_ours(at(3), 11, false));
        assert_eq!(positions.epoch_of(answer(9), 11), Some(11));
        assert_eq!(positions.epoch_of(answer(2), 11), Some(10));
        assert!(!positions.tell_ours(at(4), 11, false), "told once more");
    }

    #[test]
    fn one_of_everything_that_stands_for_several_is_marked_as_one() {
        let mut positions = begun();
        for epoch in 11..=13 {
            positions.marked(epoch);
        }
        assert!(!positions.tell_ours(at(3), 13, true), "that of 13 alone says nothing of 11 and 12");
        positions.tell(at(3), 14);
        assert_eq!(positions.epoch_of(answer(2), 14), Some(13), "compared with what was marked then");
        assert_eq!(positions.epoch_of(answer(3), 14), Some(14));
    }

    #[test]
    fn a_purge_that_was_lost_on_its_way_counts_until_it_is_told_again() {
        let mut positions = begun();
        positions.marked(11);
        positions.marked(12);
        assert!(positions.tell_ours(at(3), 12, false));
        assert!(positions.awaits(11) && !positions.awaits(12));
        assert_eq!(positions.epoch_of(answer(9), 12), Some(10));
    }

    #[test]
    fn purges_that_nobody_can_be_told_take_a_bounded_room() {
        let mut positions = begun();
        for epoch in 1..=3 * MOST as u64 {
            positions.marked(epoch);
        }
        assert!(positions.unheard.len() <= MOST);
        assert_eq!(positions.epoch_of(answer(9), u64::MAX), Some(0), "the first still counts");
    }

    #[test]
    fn of_another_life_or_from_before_the_floor_nobody_knows() {
        let mut positions = begun();
        assert_eq!(positions.epoch_of(Vouched { generation: 6, position: at(1) }, 5), None);
        positions.begin(8, at(4));
        assert_eq!(positions.epoch_of(Vouched { generation: 8, position: at(3) }, 5), None);
        let unborn = Positions::default();
        assert_eq!(unborn.epoch_of(Vouched::default(), 5), None);
        assert_eq!(unborn.vouched_by(5), None);
    }

    #[test]
    fn what_is_stored_vouches_for_what_it_was_compared_with() {
        let mut positions = begun();
        assert_eq!(positions.vouched_by(10), Some(answer(0)));
        positions.tell(at(1), 11);
        positions.tell(at(2), 12);
        assert_eq!(positions.vouched_by(10), Some(answer(0)));
        assert_eq!(positions.vouched_by(11), Some(answer(1)));
        assert_eq!(positions.vouched_by(12), Some(answer(2)));
    }

    #[test]
    fn purges_long_past_are_forgotten_and_so_is_what_has_not_seen_them() {
        let mut positions = begun();
        for number in 1..=MOST as u64 + 2 {
            positions.tell(at(number), number);
        }
        assert_eq!(positions.epoch_of(answer(1), u64::MAX), None);
        assert_eq!(positions.epoch_of(answer(2), u64::MAX), Some(2));
    }

    proptest! {
        /// Two instances with purges in different local orders: whatever one stores, the other compares with every purge
        /// that the first had not.
        #[test]
        fn no_purge_is_lost_between_two_instances(
            order in Just((1..=8_u64).collect::<Vec<_>>()).prop_shuffle(),
            told in 0..=8_usize,
            compared in 0..=8_u64,
            heard in 0..=8_usize,
        ) {
            // The writer marked them in another order than the stream tells.
            let mut writer = begun();
            let epoch_there = |purge: u64| order.iter().position(|other| *other == purge).unwrap() as u64 + 1;
            for purge in 1..=told as u64 {
                writer.tell(at(purge), epoch_there(purge));
            }
            let vouched = writer.vouched_by(compared).unwrap();
            let mut reader = begun();
            for purge in 1..=heard as u64 {
                reader.tell(at(purge), purge);
            }
            let since = reader.epoch_of(vouched, heard as u64).unwrap();
            for purge in 1..=heard as u64 {
                let seen_there = purge <= told as u64 && epoch_there(purge) <= compared;
                prop_assert!(seen_there || purge > since, "purge {purge} is lost");
            }
        }
    }
}
