//! StoredHead: a head as the bytes that go out, and back again.

use http::header::{AGE, CONTENT_LENGTH, HeaderName};
use http::{HeaderMap, HeaderValue, StatusCode};

/// Status line and fields, each ended by CRLF, with the content's length, without `Age` and the closing empty line.
pub(crate) fn write(status: StatusCode, fields: &HeaderMap, length: usize) -> Box<[u8]> {
    let mut head =
        Vec::with_capacity(64 + fields.iter().map(|(n, v)| n.as_str().len() + v.len() + 4).sum::<usize>());
    http1::write_status_line(&mut head, status);
    for (name, value) in fields {
        if name != AGE && name != CONTENT_LENGTH {
            http1::write_field(&mut head, name, value);
        }
    }
    if has_length(status) {
        http1::write_field(&mut head, &CONTENT_LENGTH, &HeaderValue::from(length));
    }
    head.into_boxed_slice()
}

/// The fields of a head that [`write`] made.
pub(crate) fn fields(head: &[u8]) -> HeaderMap {
    head.split(|byte| *byte == b'\n')
        .skip(1)
        .filter_map(|line| {
            let line = line.strip_suffix(b"\r")?;
            let colon = line.iter().position(|byte| *byte == b':')?;
            let name = HeaderName::from_bytes(&line[..colon]).ok()?;
            let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii_start()).ok()?;
            Some((name, value))
        })
        .collect()
}

/// 204 has no content and so no length (RFC 9110 §8.6).
fn has_length(status: StatusCode) -> bool {
    status != StatusCode::NO_CONTENT
}
