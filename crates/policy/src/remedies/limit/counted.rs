//! Counted: how calls are counted against a limit: each key on its own, or groups within one limit. In: what a call counts
//! against, and the time. Out: a decision. Used by `limit`.

use std::time::Instant;

use guard::{LimitDecision, Limits, Shares};
use plan::LimitBy;

/// See the module.
#[derive(Debug)]
pub(super) enum Counted {
    /// Each key has the whole limit.
    Keys(Limits),
    /// A key is the place of a group, in one byte: the limit is one.
    Groups(Shares),
}

impl Counted {
    pub(super) fn new(rule: &plan::Limit) -> Self {
        let allowance = rule.allowance();
        match &rule.by {
            LimitBy::Shares(shares) => {
                let of = shares.of.iter().map(|(_, share)| *share).chain([shares.others]);
                Counted::Groups(Shares::new(&allowance, &of.collect::<Vec<_>>()))
            }
            LimitBy::All | LimitBy::Source | LimitBy::Value(_) => {
                Counted::Keys(Limits::new(allowance, rule.keys))
            }
        }
    }

    pub(super) fn take(&self, key: &[u8], now: Instant) -> LimitDecision {
        match self {
            Counted::Keys(limits) => limits.take(key, now),
            Counted::Groups(shares) => shares.take(group(key), now),
        }
    }

    pub(super) fn peek(&self, key: &[u8], now: Instant) -> LimitDecision {
        match self {
            Counted::Keys(limits) => limits.peek(key, now),
            Counted::Groups(shares) => shares.peek(group(key), now),
        }
    }

    /// How many keys are told apart now, and how many were forgotten for there were too many.
    pub(super) fn keys(&self) -> (u64, u64) {
        match self {
            Counted::Keys(limits) => (limits.len() as u64, limits.evicted()),
            Counted::Groups(_) => (0, 0),
        }
    }
}

fn group(key: &[u8]) -> usize {
    key.first().map_or(0, |group| usize::from(*group))
}
