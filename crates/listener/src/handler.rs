//! Handler: what the listener calls with each request. `server` implements it by walking the rooms below.

use std::future::Future;

use bytes::Bytes;
use message::{Client, Error, Request, RequestView, Response};

/// Answers requests. One per core; shared by its connections behind an `Rc`.
pub trait Handler: 'static {
    /// Answers from a fresh entry, at once, or not at all.
    ///
    /// On `Some(content)` the status line and all fields, each ended by CRLF, have been appended to `out`, without the
    /// empty line that ends the head: the listener adds `Connection` where needed, that line, and the content (empty
    /// for HEAD). On `None` nothing was appended.
    fn answer_fresh(&self, request: &RequestView<'_>, client: &Client, out: &mut Vec<u8>) -> Option<Bytes>;

    /// Whether content that clients do not take keeps others from having theirs: then whoever does not move is cut loose.
    fn is_short_of_memory(&self) -> bool {
        false
    }

    /// Answers by the whole way. Never fails: a failure is a response too. Dropping the future means the client left.
    fn answer(&self, request: Request) -> impl Future<Output = Response>;

    /// The answer to a request that is refused before it became one: malformed, too large, too slow. Counted and logged.
    fn refuse(&self, client: &Client, error: &Error) -> Response;
}
