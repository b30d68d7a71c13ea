//! Request: bytes → request head, in place: nothing is copied, nothing allocated. Called by `listener` for each
//! request; the first thing that happens to one, so its cost counts.

use http::{Method, Version};
use message::{Error, Kind, Result, Scheme};

use crate::authority::{is_authority, normalize_authority};
use crate::framing::{Framing, content_length};
use crate::head::{ConnectionOptions, HeadLimits, Lines, imitates_framing, refuse_bare_line_feed};

/// A request head as it stands in the buffer, checked.
#[derive(Debug)]
pub struct RequestHead<'a> {
    /// The method, case as sent.
    pub method: Method,
    /// The request target as sent.
    pub target: &'a str,
    /// Which of the four forms the target has, and its parts.
    pub form: TargetForm<'a>,
    /// HTTP/1.0 or HTTP/1.1.
    pub version: Version,
    /// The fields, in order, names as sent.
    pub fields: &'a [httparse::Header<'a>],
    /// Bytes of the head in the buffer; content begins behind them.
    pub length: usize,
    /// How the content ends.
    pub framing: Framing,
    /// Whether the client wants the connection kept after the answer (RFC 9112 §9.3).
    pub keep_alive: bool,
    /// Whether the client waits for `100 Continue` before it sends content (RFC 9110 §10.1.1).
    pub expect_continue: bool,
    /// Whether the client offers to switch protocols: `Upgrade`, and `Connection` that names it.
    pub upgrade: bool,
    /// The `Host` field as sent, checked; empty for HTTP/1.0 without one.
    pub host: &'a str,
}

/// The form of a request target (RFC 9112 §3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TargetForm<'a> {
    /// `/path?query`.
    Origin,
    /// `http://authority/path?query`, as sent to proxies; agrees with `Host`.
    Absolute {
        /// Host and port as sent, checked.
        authority: &'a str,
        /// Path and query as sent; may be empty or begin with `?`.
        path: &'a str,
    },
    /// `host:port`, for CONNECT.
    Authority,
    /// `*`, for OPTIONS.
    Asterisk,
}

impl<'a> RequestHead<'a> {
    /// Host and port as sent: those of an absolute target, else of `Host` (RFC 9112 §3.3).
    pub fn authority(&self) -> &'a str {
        match self.form {
            TargetForm::Absolute { authority, .. } => authority,
            _ => self.host,
        }
    }
}

/// Reads the head at the beginning of `buffer`.
///
/// `Ok(None)`: it is not complete yet. Errors are `MalformedRequest`, `HeadTooLarge`, `TargetTooLong` and
/// `UnsupportedVersion`; nothing behind them on the connection can be trusted, so answer and close.
pub fn parse_request<'a>(
    buffer: &'a [u8],
    lines: &'a mut Lines<'a>,
    limits: &HeadLimits,
) -> Result<Option<RequestHead<'a>>> {
    let mut request = httparse::Request::new(&mut []);
    let length = match request.parse_with_uninit_headers(buffer, limits.lines(lines)) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return check_partial(buffer, limits).map(|()| None),
        Err(error) => return Err(refusal(error, buffer)),
    };
    if length > limits.head_size {
        return Err(too_large(&buffer[..limits.head_size]));
    }
    let (Some(method), Some(target), Some(minor)) = (request.method, request.path, request.version) else {
        return Err(malformed("the request line is incomplete"));
    };
    if target.len() > limits.target_size {
        return Err(Error::new(Kind::TargetTooLong, "the request target is longer than the limit"));
    }
    refuse_bare_line_feed(&buffer[..length], Kind::MalformedRequest)?;
    let method = Method::from_bytes(method.as_bytes()).map_err(|_| malformed("the method is not a token"))?;
    let form = form_of(&method, target)?;
    let facts = Facts::gather(request.headers, minor)?;
    check_host(&facts, form, minor)?;
    Ok(Some(RequestHead {
        method,
        target,
        form,
        version: if minor == 0 { Version::HTTP_10 } else { Version::HTTP_11 },
        fields: request.headers,
        length,
        framing: facts.framing(minor)?,
        keep_alive: facts.connection.keeps(minor),
        expect_continue: facts.expect_continue && minor == 1,
        upgrade: facts.upgrade && facts.connection.upgrade && minor == 1,
        host: facts.host.unwrap_or_default(),
    }))
}

fn malformed(detail: &'static str) -> Error {
    Error::new(Kind::MalformedRequest, detail)
}

/// A head that is not complete may already be too large.
fn check_partial(buffer: &[u8], limits: &HeadLimits) -> Result<()> {
    if buffer.len() < limits.head_size { Ok(()) } else { Err(too_large(&buffer[..limits.head_size])) }
}

/// 414 when not even the request line fits, else 431.
fn too_large(beginning: &[u8]) -> Error {
    if memchr::memchr(b'\n', beginning.trim_ascii_start()).is_none() {
        Error::new(Kind::TargetTooLong, "the request line is longer than the limit")
    } else {
        Error::new(Kind::HeadTooLarge, "the request's header section is larger than the limit")
    }
}

fn refusal(error: httparse::Error, buffer: &[u8]) -> Error {
    match error {
        httparse::Error::TooManyHeaders => {
            Error::new(Kind::HeadTooLarge, "the request has more header fields than the limit")
        }
        httparse::Error::Version if names_another_version(buffer) => {
            Error::new(Kind::UnsupportedVersion, "only HTTP/1.0, HTTP/1.1 and HTTP/2 are supported")
        }
        httparse::Error::Version => malformed("the request line does not end in an HTTP version"),
        httparse::Error::HeaderName => malformed("a field name is not a token followed by a colon"),
        httparse::Error::HeaderValue => malformed("a field value contains a control character or is folded"),
        httparse::Error::NewLine => malformed("a line of the head does not end in CRLF"),
        httparse::Error::Token | httparse::Error::Status => malformed("the request line is malformed"),
    }
}

/// True for a request line that is right but for its `HTTP/d.d`; anything else at that place is no version at all.
fn names_another_version(buffer: &[u8]) -> bool {
    let line =
        buffer.trim_ascii_start().split(|&byte| byte == b'\r' || byte == b'\n').next().unwrap_or_default();
    let mut parts = line.split(|&byte| byte == b' ').skip(2);
    let version = parts.next().unwrap_or_default();
    parts.next().is_none()
        && matches!(version, [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
            if major.is_ascii_digit() && minor.is_ascii_digit())
}

/// What the fields say about the message itself, gathered in one pass.
#[derive(Default)]
struct Facts<'a> {
    host: Option<&'a str>,
    content_length: Option<u64>,
    chunked: bool,
    connection: ConnectionOptions,
    expect_continue: bool,
    upgrade: bool,
}

impl<'a> Facts<'a> {
    /// The length of the name decides first: most fields are of no interest, and cost one comparison of numbers.
    fn gather(lines: &[httparse::Header<'a>], minor: u8) -> Result<Self> {
        let mut facts = Facts::default();
        for line in lines {
            let (name, value) = (line.name, line.value);
            match name.len() {
                4 if name.eq_ignore_ascii_case("host") => facts.add_host(value)?,
                6 if name.eq_ignore_ascii_case("expect") => {
                    facts.expect_continue |= value.eq_ignore_ascii_case(b"100-continue");
                }
                7 if name.eq_ignore_ascii_case("upgrade") => facts.upgrade = true,
                10 if name.eq_ignore_ascii_case("connection") => facts.connection.add(value),
                14 if name.eq_ignore_ascii_case("content-length") => facts.add_content_length(value)?,
                17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                    facts.add_transfer_encoding(value, minor)?;
                }
                14 | 17 if imitates_framing(name) => {
                    return Err(malformed("a field name imitates Content-Length or Transfer-Encoding"));
                }
                _ => {}
            }
        }
        Ok(facts)
    }

    fn add_host(&mut self, value: &'a [u8]) -> Result<()> {
        if self.host.is_some() {
            return Err(malformed("Host is given twice"));
        }
        if !is_authority(value) {
            return Err(malformed("Host is not a host and port"));
        }
        self.host = std::str::from_utf8(value).ok();
        Ok(())
    }

    fn add_content_length(&mut self, value: &[u8]) -> Result<()> {
        if self.content_length.is_some() {
            return Err(malformed("Content-Length is given twice"));
        }
        self.content_length = Some(content_length(value, Kind::MalformedRequest)?);
        Ok(())
    }

    fn add_transfer_encoding(&mut self, value: &[u8], minor: u8) -> Result<()> {
        if minor == 0 {
            return Err(malformed("Transfer-Encoding is not allowed in HTTP/1.0"));
        }
        if self.chunked {
            return Err(malformed("Transfer-Encoding is given twice"));
        }
        if !value.eq_ignore_ascii_case(b"chunked") {
            return Err(malformed("Transfer-Encoding is not exactly `chunked`"));
        }
        self.chunked = true;
        Ok(())
    }

    /// RFC 9112 §6.3, with everything it calls an error or an attack refused.
    fn framing(&self, minor: u8) -> Result<Framing> {
        debug_assert!(minor == 1 || !self.chunked, "refused while gathering");
        match (self.chunked, self.content_length) {
            (true, Some(_)) => Err(malformed("Content-Length and Transfer-Encoding are given together")),
            (true, None) => Ok(Framing::Chunked),
            (false, Some(length)) => Ok(Framing::Length(length)),
            (false, None) => Ok(Framing::Empty),
        }
    }
}

/// RFC 9112 §3.2.
fn form_of<'a>(method: &Method, target: &'a str) -> Result<TargetForm<'a>> {
    if !target.is_ascii() || memchr::memchr(b'#', target.as_bytes()).is_some() {
        return Err(malformed("the request target contains a byte that must be percent-encoded"));
    }
    if *method == Method::CONNECT {
        return if is_authority(target.as_bytes()) {
            Ok(TargetForm::Authority)
        } else {
            Err(malformed("CONNECT needs a host and port"))
        };
    }
    if target.starts_with('/') {
        return Ok(TargetForm::Origin);
    }
    if target == "*" && *method == Method::OPTIONS {
        return Ok(TargetForm::Asterisk);
    }
    absolute(target)
}

fn absolute(target: &str) -> Result<TargetForm<'_>> {
    let Some((scheme, rest)) = target.split_once("://") else {
        return Err(malformed("the request target is neither a path nor a URL"));
    };
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return Err(malformed("the request target is a URL with an unsupported scheme"));
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    if !is_authority(authority.as_bytes()) {
        return Err(malformed("the request target's authority is not a host and port"));
    }
    Ok(TargetForm::Absolute { authority, path })
}

/// RFC 9112 §3.2: exactly one `Host` in HTTP/1.1. An absolute target replaces it by the letter of §3.2.2; when they
/// differ, somebody before or behind us would choose the other one, so that is refused.
fn check_host(facts: &Facts<'_>, form: TargetForm<'_>, minor: u8) -> Result<()> {
    match (facts.host, form) {
        (None, _) if minor == 1 => Err(malformed("Host is missing")),
        (Some(host), TargetForm::Absolute { authority, .. })
            if host != authority
                && normalize_authority(host, Scheme::Http)
                    != normalize_authority(authority, Scheme::Http) =>
        {
            Err(malformed("Host differs from the request target"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
