//! Lines: a line for each key, and one bound for all of them. Used by `shared`, under a lock.
//!
//! In: who joins and who leaves. Out: whose turn it is in a line, and who has to go where too many wait. Then the longest
//! line pays, for its key is the one that asks for most: with a bound alone, one key that fills it would keep all others
//! out. Priorities are compared within a line only.

use std::collections::{BTreeSet, HashMap};

use super::{Exit, Line, Ticket};
use crate::fingerprint::Fingerprint;

/// Too many wait, and nobody of them has to go before the newcomer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// How many wait in the line of its key.
    pub waiting: usize,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Lines<T> {
    /// None is empty.
    by_key: HashMap<Fingerprint, Line<T>, foldhash::fast::RandomState>,
    lengths: BTreeSet<(usize, Fingerprint)>,
    len: usize,
    size: usize,
    /// The number of the next who joins.
    next: u64,
}

/// Who has joined.
#[derive(Debug)]
pub(super) struct Joined<T> {
    pub(super) ticket: Ticket,
    /// What was kept of the one who had to go.
    pub(super) turned_out: Option<T>,
}

impl<T> Lines<T> {
    /// For so many who wait.
    pub(super) fn new(size: usize) -> Self {
        Lines { by_key: HashMap::default(), lengths: BTreeSet::new(), len: 0, size, next: 0 }
    }

    pub(super) fn join(
        &mut self,
        key: Fingerprint,
        priority: i32,
        group: Fingerprint,
        kept: T,
    ) -> Result<Joined<T>, Full> {
        let turned_out =
            if self.len < self.size { None } else { Some(self.turn_out_for(key, priority, group)?) };
        let ticket = Ticket { priority, group, number: self.next };
        self.next += 1;
        self.change(key, |line| line.join(ticket, kept));
        Ok(Joined { ticket, turned_out })
    }

    /// What is kept of it, if it still waits.
    pub(super) fn remove(&mut self, key: Fingerprint, ticket: &Ticket, exit: Exit) -> Option<T> {
        self.change(key, |line| line.remove(ticket, exit))
    }

    pub(super) fn get_mut(&mut self, key: Fingerprint, ticket: &Ticket) -> Option<&mut T> {
        self.by_key.get_mut(&key)?.get_mut(ticket)
    }

    /// Whose turn it is.
    pub(super) fn first(&self, key: Fingerprint) -> Option<Ticket> {
        self.by_key.get(&key)?.first()
    }

    /// How many wait, whatever their keys.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn len_of(&self, key: Fingerprint) -> usize {
        self.by_key.get(&key).map_or(0, Line::len)
    }

    /// The last of the longest line goes. Of this line, where no other is longer than it would be with the newcomer.
    fn turn_out_for(&mut self, key: Fingerprint, priority: i32, group: Fingerprint) -> Result<T, Full> {
        let waiting = self.len_of(key);
        let longer = self.lengths.last().filter(|&&(len, _)| len > waiting + 1).map(|&(_, longer)| longer);
        if longer.is_none() && self.by_key.get(&key).is_none_or(|line| line.would_be_last(priority, group)) {
            return Err(Full { waiting });
        }
        self.change(longer.unwrap_or(key), |line| line.last().and_then(|last| line.remove(&last, Exit::Left)))
            .ok_or(Full { waiting })
    }

    /// Changes a line, and keeps what is known of all of them true.
    fn change<R>(&mut self, key: Fingerprint, change: impl FnOnce(&mut Line<T>) -> R) -> R {
        let line = self.by_key.entry(key).or_insert_with(Line::new);
        let before = line.len();
        self.lengths.remove(&(before, key));
        let result = change(line);
        let after = line.len();
        if after == 0 {
            self.by_key.remove(&key);
        } else {
            self.lengths.insert((after, key));
        }
        self.len = self.len - before + after;
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: Fingerprint = Fingerprint(0, 0);

    fn key(number: u64) -> Fingerprint {
        Fingerprint(number, 0)
    }

    fn join(
        lines: &mut Lines<&'static str>,
        of: u64,
        priority: i32,
        name: &'static str,
    ) -> Option<&'static str> {
        lines.join(key(of), priority, GROUP, name).map_or(Some("full"), |joined| joined.turned_out)
    }

    #[test]
    fn in_a_full_line_a_higher_priority_turns_the_lowest_out() {
        let mut lines = Lines::new(2);
        assert_eq!(join(&mut lines, 1, 1, "a"), None);
        assert_eq!(join(&mut lines, 1, 0, "b"), None);
        assert_eq!(join(&mut lines, 1, 0, "as low as b"), Some("full"));
        assert_eq!(join(&mut lines, 1, 1, "c"), Some("b"));
        assert_eq!(join(&mut lines, 1, 1, "as low as both"), Some("full"));
        assert_eq!(join(&mut lines, 1, 2, "d"), Some("c"), "the newer one");
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn where_all_lines_together_are_full_the_longest_pays() {
        let mut lines = Lines::new(4);
        for name in ["a1", "a2", "a3", "a4"] {
            assert_eq!(join(&mut lines, 1, 9, name), None);
        }
        assert_eq!(join(&mut lines, 2, 0, "b1"), Some("a4"), "whatever their priorities");
        assert_eq!(join(&mut lines, 2, 0, "b2"), Some("a3"));
        assert_eq!(join(&mut lines, 2, 0, "b3"), Some("full"));
        assert_eq!(join(&mut lines, 2, 1, "b3"), Some("b2"), "within its own line");
        assert_eq!(join(&mut lines, 3, 0, "c1"), Some("b1"));
        assert_eq!(join(&mut lines, 3, 0, "c2"), Some("full"));
        assert_eq!([1, 2, 3].map(|of| lines.len_of(key(of))), [2, 1, 1]);
    }

    #[test]
    fn a_line_that_is_empty_is_gone() {
        let mut lines = Lines::new(10);
        let joined = lines.join(key(1), 0, GROUP, ()).unwrap();
        assert_eq!(lines.first(key(1)), Some(joined.ticket));
        assert_eq!(lines.remove(key(1), &joined.ticket, Exit::Left), Some(()));
        assert_eq!(lines.remove(key(1), &joined.ticket, Exit::Left), None);
        assert!(lines.by_key.is_empty() && lines.lengths.is_empty() && lines.len() == 0);
        let another = lines.join(key(1), 0, GROUP, ()).unwrap();
        assert_ne!(joined.ticket, another.ticket, "whoever has left takes nobody else's place");
    }

    #[test]
    fn a_line_for_nobody_is_always_full() {
        assert_eq!(Lines::new(0).join(key(1), 9, GROUP, ()).unwrap_err(), Full { waiting: 0 });
    }
}
