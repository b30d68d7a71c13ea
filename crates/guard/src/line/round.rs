//! Round: those of one priority. Their groups take turns; a group is served in the order in which its own came. Used by
//! `line`.
//!
//! A round number for each who joins, as in fair queueing by virtual time, was rejected: who came last of ten thousand would
//! keep the ten thousandth turn after the others of its group have gone away.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Exit;
use crate::fingerprint::Fingerprint;

/// See the module.
#[derive(Debug)]
pub(super) struct Round<T> {
    /// Only those of which somebody waits.
    groups: HashMap<Fingerprint, Group<T>, foldhash::fast::RandomState>,
    /// The group whose turn it is comes first.
    turns: BTreeMap<u64, Fingerprint>,
    /// How many wait of each, and its turn: of two with as many, the one whose turn is later has the last one.
    lengths: BTreeSet<(usize, u64)>,
    next_turn: u64,
}

#[derive(Debug)]
struct Group<T> {
    turn: u64,
    /// By their numbers, which rise.
    waiting: BTreeMap<u64, T>,
}

impl<T> Round<T> {
    pub(super) fn join(&mut self, group: Fingerprint, number: u64, kept: T) {
        self.change(group, |group, _| group.waiting.insert(number, kept));
    }

    pub(super) fn remove(&mut self, group: Fingerprint, number: u64, exit: Exit) -> Option<T> {
        self.change(group, |group, next_turn| {
            let kept = group.waiting.remove(&number)?;
            if exit == Exit::Served {
                group.turn = next_turn;
            }
            Some(kept)
        })
    }

    pub(super) fn get_mut(&mut self, group: Fingerprint, number: u64) -> Option<&mut T> {
        self.groups.get_mut(&group)?.waiting.get_mut(&number)
    }

    /// Whose turn it is: its group and number.
    pub(super) fn first(&self) -> Option<(Fingerprint, u64)> {
        let (_, group) = self.turns.first_key_value()?;
        let (&number, _) = self.groups.get(group)?.waiting.first_key_value()?;
        Some((*group, number))
    }

    /// Whose turn comes last: the group with the most waiting is the last to have any.
    pub(super) fn last(&self) -> Option<(Fingerprint, u64)> {
        let (_, turn) = self.lengths.last()?;
        let group = self.turns.get(turn)?;
        let (&number, _) = self.groups.get(group)?.waiting.last_key_value()?;
        Some((*group, number))
    }

    /// How many wait of the group of which the most do.
    pub(super) fn longest(&self) -> usize {
        self.lengths.last().map_or(0, |&(len, _)| len)
    }

    pub(super) fn len_of(&self, group: Fingerprint) -> usize {
        self.groups.get(&group).map_or(0, |group| group.waiting.len())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Changes a group, and keeps what is known of all of them true. It is told the turn after all others.
    fn change<R>(&mut self, name: Fingerprint, change: impl FnOnce(&mut Group<T>, u64) -> R) -> R {
        let next_turn = self.next_turn;
        self.next_turn += 1;
        let group =
            self.groups.entry(name).or_insert_with(|| Group { turn: next_turn, waiting: BTreeMap::new() });
        self.turns.remove(&group.turn);
        self.lengths.remove(&(group.waiting.len(), group.turn));
        let result = change(group, next_turn);
        if group.waiting.is_empty() {
            self.groups.remove(&name);
        } else {
            self.turns.insert(group.turn, name);
            self.lengths.insert((group.waiting.len(), group.turn));
        }
        result
    }
}

impl<T> Default for Round<T> {
    fn default() -> Self {
        Round { groups: HashMap::default(), turns: BTreeMap::new(), lengths: BTreeSet::new(), next_turn: 0 }
    }
}
