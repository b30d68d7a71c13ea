//! Timeout: what a timeout around a call means.

use std::time::Duration;

/// How long a call may take until its answer begins, or, for a step, is there as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeout {
    /// All tries together, and the pauses between them.
    pub overall: Option<Duration>,
    /// Each try.
    pub per_try: Option<Duration>,
}
