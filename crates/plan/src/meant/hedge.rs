//! Hedge: what hedging a call means.

use std::time::Duration;

/// When a call that takes long is made a second time, beside the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Hedge {
    /// The policy's name in the file.
    pub name: String,
    /// How long the first may take before that.
    pub after: HedgeAfter,
    /// Second calls at most, as a share of the calls of the last ten seconds.
    pub share: f64,
}

/// How long is long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HedgeAfter {
    /// Longer than this share of the calls of the last half minute (0.95: than all but one in twenty).
    Percentile(f64),
    /// Longer than this.
    Time(Duration),
}
