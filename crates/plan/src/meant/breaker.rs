//! Breaker: what a breaker around calls means.

use bytes::Bytes;
use guard::BreakerRule;
use http::StatusCode;
use message::Kind;

use super::Failures;

/// When calls to a target that keeps failing are not made.
#[derive(Clone, Debug, PartialEq)]
pub struct Breaker {
    /// The policy's name in the file.
    pub name: String,
    /// When it opens, how long it rests, what closes it.
    pub rule: BreakerRule,
    /// What counts as failed.
    pub failures: Failures,
    /// What is given while it is open, as JSON; `None`: the error.
    pub instead: Option<Bytes>,
}

impl Breaker {
    /// What counts as failed where nothing is said: what the source is to blame for.
    pub(crate) fn failures() -> Failures {
        Failures {
            statuses: (500..600).filter_map(|status| StatusCode::from_u16(status).ok()).collect(),
            errors: Kind::of_sources().filter(|kind| *kind != Kind::BreakerOpen).collect(),
        }
    }
}
