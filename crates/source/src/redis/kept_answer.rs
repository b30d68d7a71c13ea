//! Kept answer: an answer that is kept, and what it was true of.

use std::sync::Arc;
use std::time::Duration;

use message::Timestamp;

use crate::read::Rendered;

/// See the module. Clones share the answer.
#[derive(Clone, Debug)]
pub(super) struct KeptAnswer {
    pub(super) rendered: Arc<Rendered>,
    /// When Redis was asked: at that moment it was so, or has become so since.
    pub(super) asked_at: Timestamp,
    /// When the first of its keys ends.
    pub(super) until: Option<Timestamp>,
}

impl KeptAnswer {
    /// Whether its key has come to its end, of which nobody needs to be told.
    pub(super) fn is_over(&self, now: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= now)
    }

    /// How old it is, where it may stand in for a Redis that is gone.
    pub(super) fn stands_in(&self, now: Timestamp, max_stale: Duration) -> Option<Duration> {
        let age = now.since(self.asked_at);
        (age <= max_stale && !self.is_over(now)).then_some(age)
    }

    /// Bytes it takes.
    pub(super) fn cost(&self) -> usize {
        size_of::<Self>() + self.rendered.cost()
    }
}
