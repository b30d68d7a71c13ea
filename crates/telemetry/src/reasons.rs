//! Reasons: why requests were forwarded, counted by the pair of RFC 9211's `fwd` word and detail.
//!
//! The words are fixed in the program text, so there are few pairs, but which ones only the callers know. Each core
//! has a short table: its one writer fills the next slot at a pair's first appearance, readers see whole slots only.

use std::sync::OnceLock;

use crate::counter::Counter;

/// Pairs counted apart; whatever comes when the table is full is counted under one more, `other`.
const SLOTS: usize = 96;

/// A `fwd` word and a detail. Not an empty detail for none: comparing empty literals, which point nowhere, was measured
/// at 150 ns on a machine whose `memcmp` uses masked loads.
pub(crate) type Reason = (&'static str, Option<&'static str>);

/// Counts by reason; see the module.
#[derive(Debug)]
pub(crate) struct Reasons {
    slots: Box<[(OnceLock<Reason>, Counter)]>,
    other: Counter,
}

impl Default for Reasons {
    fn default() -> Self {
        let slots = std::iter::repeat_with(Default::default).take(SLOTS).collect();
        Reasons { slots, other: Counter::default() }
    }
}

impl Reasons {
    /// Counts one more of this reason.
    pub(crate) fn add(&self, reason: Reason) {
        for (key, count) in &self.slots {
            if *key.get_or_init(|| reason) == reason {
                return count.add(1);
            }
        }
        self.other.add(1);
    }

    /// Every reason seen so far with its count.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (Reason, u64)> {
        let other = self.other.get();
        self.slots
            .iter()
            .map_while(|(key, count)| key.get().map(|reason| (*reason, count.get())))
            .chain((other > 0).then_some((("other", None), other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_pair_apart() {
        let reasons = Reasons::default();
        for reason in [("miss", None), ("stale", Some("late")), ("miss", None), ("miss", Some("late"))] {
            reasons.add(reason);
        }
        let counts: Vec<_> = reasons.counts().collect();
        assert_eq!(counts, [(("miss", None), 2), (("stale", Some("late")), 1), (("miss", Some("late")), 1)]);
    }

    #[test]
    fn a_full_table_counts_on_under_other() {
        let reasons = Reasons::default();
        let details: Vec<&'static str> = (0..SLOTS + 3).map(|n| &*n.to_string().leak()).collect();
        for detail in details {
            reasons.add(("miss", Some(detail)));
        }
        assert_eq!(reasons.counts().count(), SLOTS + 1);
        assert_eq!(reasons.counts().last(), Some((("other", None), 3)));
    }
}
