//! Learn: what keeping to a provider's limits means.

use std::time::Duration;

use expression::Template;

use super::Queue;

/// Calls keep to what the source says of its limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Learn {
    /// The policy's name in the file.
    pub name: String,
    /// Whose quota it is: calls for which this gives the same. `None`: all calls to a source.
    pub by: Option<Template>,
    /// How many owners are told apart at once.
    pub owners: usize,
    /// One call may always go after so long, whatever the source says.
    pub longest: Duration,
    /// How calls wait that may not go yet; `None`: they are refused.
    pub queue: Option<Queue>,
}
