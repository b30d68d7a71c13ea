//! Fields: the header fields of a request, read without being copied.
//!
//! The path of a fresh hit reads them straight from the connection's buffer (`Wire`); later, and for HTTP/2, they
//! are a `HeaderMap` (`Map`). Whoever decides takes `Fields` and need not know which.

use http::HeaderMap;
use http::header::HeaderName;

/// A borrowed view of header fields. Names compare without regard to case.
#[derive(Clone, Copy, Debug)]
pub enum Fields<'a> {
    /// As they stand in a parsed HTTP/1 head.
    Wire(&'a [httparse::Header<'a>]),
    /// As an owned map.
    Map(&'a HeaderMap),
}

impl<'a> Fields<'a> {
    /// Every value of the field, in order.
    pub fn all(self, name: &HeaderName) -> impl Iterator<Item = &'a [u8]> {
        let (wire, map) = match self {
            Fields::Wire(lines) => (Some(lines), None),
            Fields::Map(map) => (None, Some(map.get_all(name))),
        };
        let name = name.as_str();
        wire.into_iter()
            .flatten()
            .filter(move |line| line.name.len() == name.len() && line.name.eq_ignore_ascii_case(name))
            .map(|line| line.value)
            .chain(map.into_iter().flatten().map(http::HeaderValue::as_bytes))
    }

    /// The name of every field, in order, as sent; one with several values may come once for each.
    pub fn names(self) -> impl Iterator<Item = &'a [u8]> {
        let (wire, map) = match self {
            Fields::Wire(lines) => (Some(lines), None),
            Fields::Map(map) => (None, Some(map.keys())),
        };
        let wire = wire.into_iter().flatten().map(|line| line.name.as_bytes());
        wire.chain(map.into_iter().flatten().map(|name| name.as_str().as_bytes()))
    }

    /// The first value of the field.
    pub fn first(self, name: &HeaderName) -> Option<&'a [u8]> {
        match self {
            Fields::Wire(lines) => {
                let name = name.as_str();
                lines
                    .iter()
                    .find(|line| line.name.len() == name.len() && line.name.eq_ignore_ascii_case(name))
                    .map(|line| line.value)
            }
            Fields::Map(map) => map.get(name).map(http::HeaderValue::as_bytes),
        }
    }

    /// Whether the field is there at all.
    pub fn has(self, name: &HeaderName) -> bool {
        self.first(name).is_some()
    }
}
