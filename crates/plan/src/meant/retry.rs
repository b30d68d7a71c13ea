//! Retry: what retrying a call means.

use std::time::Duration;

use http::StatusCode;
use message::Kind;

use super::Failures;

/// When a call that failed is made again, and how often.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// The policy's name in the file.
    pub name: String,
    /// Tries in all, the first one counted.
    pub attempts: u32,
    /// The longest pause before the second try; it doubles from try to try.
    pub first: Duration,
    /// The longest pause there is, a source's `Retry-After` included.
    pub longest: Duration,
    /// Retries at most, as a share of the calls of the last ten seconds.
    pub share: f64,
    /// Retries a second that are allowed whatever the share.
    pub floor: f64,
    /// What is retried.
    pub on: Failures,
    /// Whether also what is not idempotent is asked again when it failed half-way.
    pub any_method: bool,
    /// Bytes of a request's content that are held for another try; a longer one is sent once.
    pub replay: u64,
}

impl Default for Retry {
    fn default() -> Self {
        Retry {
            name: "default".to_owned(),
            attempts: 3,
            first: Duration::from_millis(25),
            longest: Duration::from_secs(1),
            share: 0.2,
            floor: 3.0,
            on: Failures {
                statuses: vec![
                    StatusCode::BAD_GATEWAY,
                    StatusCode::SERVICE_UNAVAILABLE,
                    StatusCode::GATEWAY_TIMEOUT,
                ],
                errors: vec![
                    Kind::Resolve,
                    Kind::Connect,
                    Kind::ConnectTimeout,
                    Kind::SourceTimeout,
                    Kind::BrokeOff,
                    Kind::NoHealthyTarget,
                    Kind::ReadUnavailable,
                ],
            },
            any_method: false,
            replay: 64 * 1024,
        }
    }
}
