//! Multipart: several ranges in one answer, as `multipart/byteranges` (RFC 9110 §14.6).

use std::hash::{BuildHasher, RandomState};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};

use crate::stored::content_range;

/// The body with the parts, each under its own `Content-Range`; the answer's `Content-Type` moves into the parts.
pub(crate) fn byteranges(fields: &mut HeaderMap, body: &Bytes, ranges: &[std::ops::Range<u64>]) -> Bytes {
    // Not to be guessed, so that no content can be made to look like a boundary.
    let boundary = format!("{:016x}{:016x}", RandomState::new().hash_one(0), RandomState::new().hash_one(1));
    let multipart = HeaderValue::try_from(format!("multipart/byteranges; boundary={boundary}"))
        .expect("hexadecimal digits are a valid parameter");
    let part_type = fields.insert(CONTENT_TYPE, multipart);
    let mut out = Vec::new();
    for range in ranges {
        out.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        if let Some(part_type) = &part_type {
            out.extend_from_slice(b"Content-Type: ");
            out.extend_from_slice(part_type.as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"Content-Range: ");
        out.extend_from_slice(content_range(range, body.len()).as_bytes());
        out.extend_from_slice(b"\r\n\r\n");
        out.extend_from_slice(&body[range.start as usize..range.end as usize]);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    out.into()
}
