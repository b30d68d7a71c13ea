//! Trailers: the fields behind the last chunk (RFC 9112 §7.1.2). Read by `Decoder`.

use http::HeaderMap;
use message::{Error, Kind, Result, Side};

use crate::head::{refuse_bare_line_feed, to_header_map};

/// Bytes of a trailer section at most.
pub(crate) const MAX_SIZE: usize = 8 * 1024;
/// Fields of a trailer section at most.
const MAX_COUNT: usize = 32;

/// Fields that are understood before the content or not at all: framing, routing, authentication, request modifiers,
/// response control data, content format (RFC 9110 §6.5.1).
const FORBIDDEN: [&str; 38] = [
    "age",
    "authorization",
    "cache-control",
    "cdn-cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "cookie",
    "date",
    "expect",
    "expires",
    "forwarded",
    "host",
    "http2-settings",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "keep-alive",
    "location",
    "max-forwards",
    "pragma",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "retry-after",
    "set-cookie",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "vary",
    "warning",
    "www-authenticate",
];

/// A trailer section at the beginning of `buffer`: its length, its empty line included, and its fields.
/// `None`: not complete yet.
pub(crate) fn parse(buffer: &[u8], side: Side, fault: Kind) -> Result<Option<(usize, HeaderMap)>> {
    let mut lines = [httparse::EMPTY_HEADER; MAX_COUNT];
    let (length, lines) = match httparse::parse_headers(buffer, &mut lines) {
        Ok(httparse::Status::Complete(parsed)) => parsed,
        Ok(httparse::Status::Partial) if buffer.len() < MAX_SIZE => return Ok(None),
        Ok(httparse::Status::Partial) => return Err(Error::new(fault, "the trailers are too large")),
        Err(error) => return Err(Error::new(fault, "the trailers are not well-formed").caused_by(error)),
    };
    if length > MAX_SIZE {
        return Err(Error::new(fault, "the trailers are too large"));
    }
    refuse_bare_line_feed(&buffer[..length], fault)?;
    let mut fields = to_header_map(lines, None, fault)?;
    remove_forbidden(&mut fields, side, fault)?;
    Ok(Some((length, fields)))
}

/// A client that sends such a trailer tries something: refused. An origin's is dropped, as RFC 9110 §6.5.1 asks.
fn remove_forbidden(fields: &mut HeaderMap, side: Side, fault: Kind) -> Result<()> {
    for name in FORBIDDEN.into_iter().chain(["content_length", "transfer_encoding"]) {
        if fields.remove(name).is_some() && side == Side::Client {
            return Err(Error::new(fault, "a trailer contains a field that belongs in the header section"));
        }
    }
    Ok(())
}
