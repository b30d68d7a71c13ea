//! Timeout: what a timeout around a call means.

use std::time::Duration;

/// How long a call may take until its answer begins, or, for a step, is there as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// The name of its policy.
    pub name: String,
    /// So long.
    pub within: Duration,
}
