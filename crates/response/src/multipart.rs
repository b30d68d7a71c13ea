//! Multipart: several ranges in one answer, as `multipart/byteranges` (RFC 9110 §14.6). Their content is not copied: a
//! client who asks for much in ranges costs no more than one who asks for all.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use http_body::{Frame, SizeHint};
use message::{Body, Error};

use crate::stored::content_range;

/// The body with the parts, each under its own `Content-Range`; the answer's `Content-Type` moves into the parts.
pub(crate) fn byteranges(fields: &mut HeaderMap, body: &Bytes, ranges: &[std::ops::Range<u64>]) -> Body {
    // Not to be guessed, so that no content can be made to look like a boundary.
    let boundary = format!("{:016x}{:016x}", RandomState::new().hash_one(0), RandomState::new().hash_one(1));
    let multipart = HeaderValue::try_from(format!("multipart/byteranges; boundary={boundary}"))
        .expect("hexadecimal digits are a valid parameter");
    let part_type = fields.insert(CONTENT_TYPE, multipart);
    let mut pieces = VecDeque::new();
    let mut end = "";
    for range in ranges {
        let mut out = Vec::from(end);
        out.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
        if let Some(part_type) = &part_type {
            out.extend_from_slice(b"Content-Type: ");
            out.extend_from_slice(part_type.as_bytes());
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"Content-Range: ");
        out.extend_from_slice(content_range(range, body.len()).as_bytes());
        out.extend_from_slice(b"\r\n\r\n");
        pieces.push_back(out.into());
        pieces.push_back(body.slice(range.start as usize..range.end as usize));
        end = "\r\n";
    }
    pieces.push_back(format!("{end}--{boundary}--\r\n").into());
    Body::stream(Pieces(pieces))
}

/// One behind the other.
struct Pieces(VecDeque<Bytes>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|piece| piece.len() as u64).sum())
    }
}
