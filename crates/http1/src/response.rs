//! Response: bytes → response head. Called by `source/http` for each answer of an origin, informational ones too.

use http::header::CONTENT_LENGTH;
use http::{HeaderMap, Method, StatusCode, Version};
use message::{Error, Kind, Result};

use crate::framing::{Framing, content_length};
use crate::head::{ConnectionOptions, HeadLimits, Lines, new_lines, refuse_bare_line_feed, to_header_map};

/// An origin's response head, checked and owned.
#[derive(Debug)]
pub struct ResponseHead {
    /// The status, any of three digits from 100.
    pub status: StatusCode,
    /// HTTP/1.0 or HTTP/1.1.
    pub version: Version,
    /// All fields as sent, but for `Content-Length`: where content follows, `framing` has it; where none does although
    /// it might (HEAD, 304), it stands here once.
    pub fields: HeaderMap,
    /// Bytes of the head in the buffer.
    pub length: usize,
    /// How the content ends.
    pub framing: Framing,
    /// Whether the origin keeps the connection, provided that the content has been read to its end.
    pub keep_alive: bool,
}

/// Reads the head at the beginning of `buffer`, the answer to a request with this method.
///
/// `Ok(None)`: it is not complete yet. An error is `MalformedResponse`: the connection is unusable. Heads of 1xx come
/// out like any other, with `Framing::Empty`; the caller goes on reading, and after a 101 stops speaking HTTP.
pub fn parse_response(
    buffer: &[u8],
    request_method: &Method,
    limits: &HeadLimits,
) -> Result<Option<ResponseHead>> {
    if !b"HTTP/1.".starts_with(&buffer[..buffer.len().min(7)]) {
        // httparse would skip empty lines here, which only requests may have before them (RFC 9112 §2.2).
        return Err(malformed("the answer does not begin with an HTTP/1 status line"));
    }
    let mut lines: Lines<'_> = new_lines();
    let mut response = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(
        &mut response,
        buffer,
        limits.lines(&mut lines),
    );
    let length = match parsed {
        Ok(httparse::Status::Complete(length)) if length <= limits.head_size => length,
        Ok(httparse::Status::Partial) if buffer.len() < limits.head_size => return Ok(None),
        Ok(_) => return Err(malformed("the answer's head is larger than the limit")),
        Err(error) => return Err(malformed("the answer's head is not well-formed").caused_by(error)),
    };
    refuse_bare_line_feed(&buffer[..length], Kind::MalformedResponse)?;
    let (Some(status), Some(minor)) = (response.code, response.version) else {
        return Err(malformed("the status line is incomplete"));
    };
    let status =
        StatusCode::from_u16(status).map_err(|_| malformed("the status is not a number from 100"))?;
    let facts = Facts::gather(response.headers, minor)?;
    let framing = facts.framing(request_method, status);
    let in_framing = matches!(framing, Framing::Length(_)).then_some(&CONTENT_LENGTH);
    let mut fields = to_header_map(response.headers, in_framing, Kind::MalformedResponse)?;
    if framing == Framing::Empty {
        settle_content_length(&mut fields, status);
    }
    Ok(Some(ResponseHead {
        status,
        version: if minor == 0 { Version::HTTP_10 } else { Version::HTTP_11 },
        fields,
        length,
        framing,
        keep_alive: facts.connection.keeps(minor) && framing != Framing::UntilClose,
    }))
}

fn malformed(detail: &'static str) -> Error {
    Error::new(Kind::MalformedResponse, detail)
}

/// What the fields say about the message itself.
#[derive(Default)]
struct Facts {
    content_length: Option<u64>,
    chunked: bool,
    connection: ConnectionOptions,
}

impl Facts {
    fn gather(lines: &[httparse::Header<'_>], minor: u8) -> Result<Self> {
        let mut facts = Facts::default();
        for line in lines {
            let (name, value) = (line.name, line.value);
            match name.len() {
                10 if name.eq_ignore_ascii_case("connection") => facts.connection.add(value),
                14 if name.eq_ignore_ascii_case("content-length") => facts.add_content_length(value)?,
                17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                    facts.add_transfer_encoding(value, minor)?;
                }
                _ => {}
            }
        }
        if facts.chunked && facts.content_length.is_some() {
            return Err(malformed("Content-Length with Transfer-Encoding"));
        }
        Ok(facts)
    }

    /// The same number twice is what an origin behind a careless gateway sends; one reading, so it passes.
    fn add_content_length(&mut self, value: &[u8]) -> Result<()> {
        let length = content_length(value, Kind::MalformedResponse)?;
        if self.content_length.is_some_and(|other| other != length) {
            return Err(malformed("two different Content-Length"));
        }
        self.content_length = Some(length);
        Ok(())
    }

    /// Other codings than `chunked` could not be taken off here, and passing them on undone would be a lie.
    fn add_transfer_encoding(&mut self, value: &[u8], minor: u8) -> Result<()> {
        if minor == 0 || self.chunked || !value.eq_ignore_ascii_case(b"chunked") {
            return Err(malformed("Transfer-Encoding is not exactly `chunked` in HTTP/1.1"));
        }
        self.chunked = true;
        Ok(())
    }

    /// RFC 9112 §6.3.
    fn framing(&self, request_method: &Method, status: StatusCode) -> Framing {
        if *request_method == Method::HEAD || has_no_content(status) || status == StatusCode::NOT_MODIFIED {
            return Framing::Empty;
        }
        match (self.chunked, self.content_length) {
            (true, _) => Framing::Chunked,
            (false, Some(length)) => Framing::Length(length),
            (false, None) => Framing::UntilClose,
        }
    }
}

/// The statuses that never have content nor a length of it (RFC 9110 §8.6).
fn has_no_content(status: StatusCode) -> bool {
    status.is_informational() || status == StatusCode::NO_CONTENT
}

fn settle_content_length(fields: &mut HeaderMap, status: StatusCode) {
    if has_no_content(status) {
        fields.remove(CONTENT_LENGTH);
    } else if let Some(length) = fields.get(CONTENT_LENGTH).cloned() {
        fields.insert(CONTENT_LENGTH, length);
    }
}

#[cfg(test)]
#[path = "response_tests.rs"]
mod tests;
