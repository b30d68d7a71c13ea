//! Sorted: an object whose values are numbers, as a sorted set: by score, and by member among equal ones. In: a range.
//! Out: its members, as Redis gives them.

use bytes::Bytes;

use crate::read::{By, Range};

/// See the module.
#[derive(Debug)]
pub(super) struct Sorted(Vec<(Bytes, f64)>);

impl Sorted {
    pub(super) fn new(mut members: Vec<(Bytes, f64)>) -> Self {
        members.sort_by(|(one, one_score), (other, other_score)| {
            one_score.total_cmp(other_score).then_with(|| one.cmp(other))
        });
        Sorted(members)
    }

    /// How many.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Members and scores of a range, in the order it asks for.
    pub(super) fn range(&self, range: &Range<'_>) -> Vec<&(Bytes, f64)> {
        let within = |(member, score): &(Bytes, f64)| match &range.by {
            By::Place(..) => true,
            By::Score(low, high) => low.is_at_most(*score) && high.is_at_least(*score),
            By::Member(low, high) => low.is_at_most(member) && high.is_at_least(member),
        };
        let mut members: Vec<_> = self.0.iter().filter(|entry| within(entry)).collect();
        if range.reversed {
            members.reverse();
        }
        if let By::Place(first, last) = range.by {
            return slice(&members, first, last).to_vec();
        }
        match range.limit {
            None => members,
            // As Redis has it: from below zero on there is nothing, and a count below zero is all.
            Some((skipped, taken)) => {
                let Ok(skipped) = usize::try_from(skipped) else { return Vec::new() };
                let taken = usize::try_from(taken).unwrap_or(usize::MAX);
                members.into_iter().skip(skipped).take(taken).collect()
            }
        }
    }
}

/// From one place to another, both included; below zero from the end. As `LRANGE` has it.
pub(super) fn slice<T>(items: &[T], first: i64, last: i64) -> &[T] {
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let place = |index: i64| if index < 0 { index.saturating_add(length) } else { index };
    let (first, last) = (place(first).max(0), place(last).min(length - 1));
    if first > last { &[] } else { &items[first as usize..=last as usize] }
}
