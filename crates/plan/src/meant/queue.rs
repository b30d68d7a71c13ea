//! Queue: what waiting for a turn means.

use std::time::Duration;

use expression::Template;

/// How calls wait that would be refused otherwise.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// How long each waits at most.
    pub wait: Duration,
    /// How many wait at once.
    pub size: usize,
    /// A whole number: higher ones go first. What gives none has zero.
    pub priority: Option<Template>,
    /// Calls for which this gives the same take turns with the others. `None`: who came first goes first.
    pub fair: Option<Template>,
}
