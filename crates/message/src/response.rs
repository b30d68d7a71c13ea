//! Response: what goes back. Made by a source, the cache or `response::failure`; written by the listener.

use http::{HeaderMap, StatusCode};

use crate::Body;

/// A final answer (or 101 with a [`Body::Tunnel`]). The listener adds framing; hop-by-hop fields are not in here.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// Header fields. `Content-Length` stands here when the length is known but the body is not sent (HEAD, 304).
    pub fields: HeaderMap,
    /// The content.
    pub body: Body,
}

impl Response {
    /// A response without fields or content.
    pub fn new(status: StatusCode) -> Self {
        Response { status, fields: HeaderMap::new(), body: Body::Empty }
    }
}
