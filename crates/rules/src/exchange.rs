//! Exchange: one request with the answer it got, as a cache sees them when it thinks of storing.

use http::{HeaderMap, Method, StatusCode};
use message::{Fields, Skew, Timestamp};

/// A request and its answer, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// The request's method; `GET` for one whose content is part of the key, so that it is looked up as a GET is.
    pub method: &'a Method,
    /// The request's fields, as the client sent them.
    pub request: Fields<'a>,
    /// The answer's status; after a 304, the status of the stored answer.
    pub status: StatusCode,
    /// The answer's fields as received; after a 304, the stored ones brought up to date.
    pub response: &'a HeaderMap,
    /// Whether the answer is stored for this user alone, under a key that names them: then it may be `private`, and asked
    /// for with `Authorization` or cookies. Never `no-store`, `Vary: *` or with `Set-Cookie`, and no policy forces it.
    pub personal: bool,
    /// When the request was sent to the origin (RFC 9111 §4.2.3 `request_time`).
    pub requested_at: Timestamp,
    /// When the answer's head had arrived (`response_time`).
    pub received_at: Timestamp,
    /// Between these two moments and the dates that the answer's fields are compared with.
    pub skew: Skew,
}
