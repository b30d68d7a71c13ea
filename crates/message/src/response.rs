//! Response: what goes back, and its head, borrowed. Made by a source, the cache or `response::failure`; written by the listener.

use http::{HeaderMap, HeaderName, StatusCode};

use crate::{Body, CacheStatus};

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

/// A response's head, borrowed, and what a cache had to do with it.
#[derive(Clone, Copy, Debug)]
pub struct ResponseView<'a> {
    /// See [`Response::status`].
    pub status: StatusCode,
    /// See [`Response::fields`].
    pub fields: HeadFields<'a>,
    /// What the cache behind whoever looks did; `None`: none had a part in it.
    pub cache: Option<CacheStatus>,
}

/// Fields of a response: as a map, or as the lines that are about to go out.
#[derive(Clone, Copy, Debug)]
pub enum HeadFields<'a> {
    /// As an owned map.
    Map(&'a HeaderMap),
    /// As whole lines, written by us: `name: value` and CRLF; one without a colon is no field.
    Lines(&'a [u8]),
}

impl<'a> HeadFields<'a> {
    /// Every value of the field, in order.
    pub fn all(self, name: &HeaderName) -> impl Iterator<Item = &'a [u8]> {
        let (map, lines) = match self {
            HeadFields::Map(map) => (Some(map.get_all(name)), &[][..]),
            HeadFields::Lines(lines) => (None, lines),
        };
        let values = lines.split(|byte| *byte == b'\n').filter_map(move |line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let is_meant = line[..colon].eq_ignore_ascii_case(name.as_str().as_bytes());
            is_meant.then(|| line[colon + 1..].trim_ascii())
        });
        map.into_iter().flatten().map(http::HeaderValue::as_bytes).chain(values)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn fields_read_alike_in_a_map_and_in_lines() {
        let name = HeaderName::from_static("x-a");
        let mut map = HeaderMap::new();
        for value in ["1", "", "a: b"] {
            map.append(&name, HeaderValue::from_static(value));
        }
        let lines = b"HTTP/1.1 200 OK\r\nX-A: 1\r\nx-ab: 2\r\nx-a:\r\nx-a: a: b\r\n";
        for fields in [HeadFields::Map(&map), HeadFields::Lines(lines)] {
            assert_eq!(fields.all(&name).collect::<Vec<_>>(), [&b"1"[..], b"", b"a: b"]);
        }
    }
}
