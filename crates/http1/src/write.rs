//! Write: heads → bytes. Field values and names come from `http`'s types, which hold no line ends.

use http::header::{CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use http::{Method, StatusCode};

use crate::framing::Framing;

/// Appends a request head without its empty line, for whoever has lines of its own to add.
///
/// `Host` comes first, from `host`; the framing fields come from `framing`; those among `fields` are left out.
/// `target` and `host` must already be free of spaces and control bytes: they have been checked where they came in.
/// `UntilClose` does not exist for requests and counts as `Empty`.
pub fn write_request_head<'a>(
    out: &mut Vec<u8>,
    method: &Method,
    target: &str,
    host: &str,
    fields: impl IntoIterator<Item = (&'a HeaderName, &'a HeaderValue)>,
    framing: Framing,
) {
    for part in [method.as_str(), " ", target, " HTTP/1.1\r\nhost: ", host, "\r\n"] {
        out.extend_from_slice(part.as_bytes());
    }
    for (name, value) in fields {
        if name != HOST && name != CONTENT_LENGTH && name != TRANSFER_ENCODING {
            write_field(out, name, value);
        }
    }
    match framing {
        Framing::Length(length) => write_content_length(out, length),
        Framing::Chunked => out.extend_from_slice(b"transfer-encoding: chunked\r\n"),
        Framing::Empty | Framing::UntilClose if anticipates_content(method) => write_content_length(out, 0),
        Framing::Empty | Framing::UntilClose => {}
    }
}

/// Some origins answer 411 to these without a length (RFC 9110 §8.6).
fn anticipates_content(method: &Method) -> bool {
    matches!(*method, Method::POST | Method::PUT | Method::PATCH)
}

/// Appends `content-length` and its CRLF.
fn write_content_length(out: &mut Vec<u8>, length: u64) {
    write_line(out, "content-length", itoa::Buffer::new().format(length).as_bytes());
}

/// Appends `HTTP/1.1 200 OK` and its CRLF. A status without a known reason has an empty one (RFC 9112 §4).
pub fn write_status_line(out: &mut Vec<u8>, status: StatusCode) {
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(status.as_str().as_bytes());
    out.push(b' ');
    out.extend_from_slice(status.canonical_reason().unwrap_or_default().as_bytes());
    out.extend_from_slice(b"\r\n");
}

/// Appends every field, each with its CRLF.
pub fn write_fields(out: &mut Vec<u8>, fields: &HeaderMap) {
    for (name, value) in fields {
        write_field(out, name, value);
    }
}

/// Appends one field and its CRLF.
pub fn write_field(out: &mut Vec<u8>, name: &HeaderName, value: &HeaderValue) {
    write_line(out, name.as_str(), value.as_bytes());
}

fn write_line(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.reserve(name.len() + value.len() + 4);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_head_has_host_first_and_framing_once() {
        let mut fields = HeaderMap::new();
        fields.insert(CONTENT_LENGTH, HeaderValue::from_static("99"));
        fields.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        fields.insert(HOST, HeaderValue::from_static("other"));
        fields.append("x-a", HeaderValue::from_static("1"));
        fields.append("x-a", HeaderValue::from_static("2"));
        let head = |method: Method, framing| {
            let mut out = Vec::new();
            write_request_head(&mut out, &method, "/p?q", "h:1", &fields, framing);
            String::from_utf8(out).unwrap()
        };
        let begin = " /p?q HTTP/1.1\r\nhost: h:1\r\nx-a: 1\r\nx-a: 2\r\n";
        assert_eq!(head(Method::GET, Framing::Empty), format!("GET{begin}"));
        assert_eq!(head(Method::POST, Framing::Empty), format!("POST{begin}content-length: 0\r\n"));
        assert_eq!(head(Method::GET, Framing::Length(7)), format!("GET{begin}content-length: 7\r\n"));
        assert_eq!(head(Method::PUT, Framing::Chunked), format!("PUT{begin}transfer-encoding: chunked\r\n"));
    }

    #[test]
    fn status_lines() {
        let line = |status: u16| {
            let mut out = Vec::new();
            write_status_line(&mut out, StatusCode::from_u16(status).unwrap());
            String::from_utf8(out).unwrap()
        };
        assert_eq!(line(200), "HTTP/1.1 200 OK\r\n");
        assert_eq!(line(799), "HTTP/1.1 799 \r\n");
    }
}
