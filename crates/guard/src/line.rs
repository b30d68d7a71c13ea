//! Line: who waits, and in which order, for one limit or for one place to become free.
//!
//! In: whoever has to wait, its priority and the group it belongs to. Out: whose turn it is. Higher priorities go first.
//! Within one, groups take turns, so that one with ten thousand waiting does not hold up one with a single call. Within
//! a group, who came first goes first. No clock, no lock and no waker here.
//!
//! `round` is one priority. `lines` are the lines of all keys, with one bound for all of them. `shared` is those for all
//! cores, and `waiting` is one call in them, on tokio's clock; layers use these two. `simulation` tests all of it.

mod lines;
mod round;
mod shared;
#[cfg(test)]
mod simulation;
mod waiting;

use std::collections::BTreeMap;

use crate::fingerprint::Fingerprint;
use round::Round;

pub use lines::Full;
pub use shared::SharedLines;
pub use waiting::{Admission, NoTurn, Waiting};

/// Who waits in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticket {
    priority: i32,
    group: Fingerprint,
    /// One that is never given again.
    number: u64,
}

/// How somebody comes to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// It was its turn, so another group is next.
    Served,
    /// It has gone away, so the next of its group is in its place.
    Left,
}

/// See the module. `T` is what is kept of one who waits. Everything takes the logarithm of how many wait.
#[derive(Debug)]
struct Line<T> {
    /// None is empty.
    rounds: BTreeMap<i32, Round<T>>,
    len: usize,
}

impl<T> Line<T> {
    const fn new() -> Self {
        Line { rounds: BTreeMap::new(), len: 0 }
    }

    fn join(&mut self, ticket: Ticket, kept: T) {
        self.rounds.entry(ticket.priority).or_default().join(ticket.group, ticket.number, kept);
        self.len += 1;
    }

    /// What is kept of it, if it still waits.
    fn remove(&mut self, ticket: &Ticket, exit: Exit) -> Option<T> {
        let round = self.rounds.get_mut(&ticket.priority)?;
        let kept = round.remove(ticket.group, ticket.number, exit)?;
        if round.is_empty() {
            self.rounds.remove(&ticket.priority);
        }
        self.len -= 1;
        Some(kept)
    }

    fn get_mut(&mut self, ticket: &Ticket) -> Option<&mut T> {
        self.rounds.get_mut(&ticket.priority)?.get_mut(ticket.group, ticket.number)
    }

    /// Whose turn it is.
    fn first(&self) -> Option<Ticket> {
        let (&priority, round) = self.rounds.last_key_value()?;
        round.first().map(|(group, number)| Ticket { priority, group, number })
    }

    /// Whose turn would come last, if nobody else came.
    fn last(&self) -> Option<Ticket> {
        let (&priority, round) = self.rounds.first_key_value()?;
        round.last().map(|(group, number)| Ticket { priority, group, number })
    }

    /// Whether a newcomer has to go where there is room for one less: unless the last has a lower priority, or the same and
    /// more of its group before it. Otherwise a group that fills the line would keep all others out.
    fn would_be_last(&self, priority: i32, group: Fingerprint) -> bool {
        self.rounds.first_key_value().is_none_or(|(&lowest, round)| {
            priority < lowest || priority == lowest && round.len_of(group) + 1 >= round.longest()
        })
    }

    fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Joins with these priorities and groups. Their numbers count from zero.
    fn line(of: &[(i32, u64)]) -> (Line<()>, Vec<Ticket>) {
        let mut line = Line::new();
        let tickets: Vec<_> = of
            .iter()
            .zip(0..)
            .map(|(&(priority, group), number)| Ticket { priority, group: Fingerprint(group, 0), number })
            .collect();
        for &ticket in &tickets {
            line.join(ticket, ());
        }
        (line, tickets)
    }

    fn served(line: &mut Line<()>) -> Vec<u64> {
        std::iter::from_fn(|| {
            let first = line.first()?;
            line.remove(&first, Exit::Served).map(|()| first.number)
        })
        .collect()
    }

    #[test]
    fn higher_priorities_go_first_and_groups_take_turns() {
        let (mut line, _) = line(&[(0, 1), (0, 1), (0, 1), (0, 2), (5, 1), (0, 3), (0, 2), (-5, 9)]);
        assert_eq!(served(&mut line), [4, 0, 3, 5, 1, 6, 2, 7]);
        assert_eq!((line.len(), line.rounds.len()), (0, 0));
    }

    #[test]
    fn one_waits_for_one_of_each_other_group_however_many_they_have() {
        let mut of = vec![(0, 1); 10_000];
        of.push((0, 2));
        let (mut line, _) = line(&of);
        assert_eq!(served(&mut line)[..3], [0, 10_000, 1]);
    }

    #[test]
    fn who_leaves_gives_its_turn_to_its_group() {
        let (mut line, tickets) = line(&[(0, 1), (0, 1), (0, 2), (0, 3)]);
        assert!(
            line.remove(&tickets[0], Exit::Left).is_some() && line.remove(&tickets[3], Exit::Left).is_some()
        );
        assert_eq!(line.remove(&tickets[0], Exit::Left), None, "only once");
        assert_eq!((line.len(), served(&mut line)), (2, vec![1, 2]));
    }

    #[test]
    fn the_last_is_who_would_be_served_last() {
        let (mut line, _) = line(&[(0, 1), (0, 1), (0, 2), (0, 3), (0, 1), (7, 1), (0, 3), (0, 3), (0, 2)]);
        let mut backwards: Vec<_> = std::iter::from_fn(|| {
            let last = line.last()?;
            line.remove(&last, Exit::Left).map(|()| last.number)
        })
        .collect();
        backwards.reverse();
        let (mut line, _) =
            self::line(&[(0, 1), (0, 1), (0, 2), (0, 3), (0, 1), (7, 1), (0, 3), (0, 3), (0, 2)]);
        assert_eq!(backwards, served(&mut line));
    }

    #[test]
    fn a_newcomer_is_not_last_behind_a_lower_priority_or_a_longer_group() {
        let (line, _) = line(&[(0, 1), (0, 1), (0, 1), (0, 2), (3, 4)]);
        let would_be_last = |priority, group| line.would_be_last(priority, Fingerprint(group, 0));
        assert!(would_be_last(-1, 5) && would_be_last(0, 1));
        assert!(!would_be_last(1, 1) && !would_be_last(3, 4));
        assert!(!would_be_last(0, 2), "two of it, three of the longest");
        assert!(Line::<()>::new().would_be_last(9, Fingerprint(1, 0)));
    }
}
