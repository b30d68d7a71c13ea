//! Failures: which answers and errors count as failed.

use http::StatusCode;
use message::Kind;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    /// Statuses of answers.
    pub statuses: Vec<StatusCode>,
    /// Errors on the side of the source.
    pub errors: Vec<Kind>,
}
