//! FaultInjection: what `faults` of a policy means: what goes wrong on purpose.

use std::time::Duration;

use expression::Expression;
use http::StatusCode;

/// What goes wrong, and how often. Shares are from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultInjection {
    /// The policy's name in the file.
    pub name: String,
    /// For which calls; `None`: all.
    pub when: Option<Expression>,
    /// Some wait.
    pub delay: Option<Delay>,
    /// Some fail.
    pub abort: Option<Abort>,
    /// The content of this share breaks off half-way.
    pub cut: f64,
}

/// Calls that wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Delay {
    /// How many.
    pub share: f64,
    /// How long at least.
    pub least: Duration,
    /// How long at most.
    pub most: Duration,
}

/// Calls that fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Abort {
    /// How many.
    pub share: f64,
    /// What requests over HTTP get; calls that give values just fail.
    pub status: StatusCode,
}
