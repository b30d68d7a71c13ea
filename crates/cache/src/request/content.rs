//! Content: that of a request, read to its end where it is part of the key.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body as HttpBody, Frame};
use message::{Body, Error};

/// What reading came to.
pub(crate) enum Content {
    /// All of it.
    Whole(Bytes),
    /// More than the limit: the same content again, nothing lost.
    TooLong(Body),
}

/// Reads content of at most `max` bytes.
pub(crate) async fn read(mut body: Body, max: u64) -> Result<Content, Error> {
    if body.exact_length().is_some_and(|length| length > max) {
        return Ok(Content::TooLong(body));
    }
    let mut read = BytesMut::new();
    loop {
        match poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            None => return Ok(Content::Whole(read.freeze())),
            Some(Err(error)) => return Err(error),
            // Trailers are not part of the key, so the origin does not get them (RFC 9110 §6.5.1 allows that).
            Some(Ok(frame)) => read.extend_from_slice(frame.data_ref().unwrap_or(&Bytes::new())),
        }
        if read.len() as u64 > max {
            let first = Some(read.freeze());
            return Ok(Content::TooLong(Body::stream(Rest { first, rest: body })));
        }
    }
}

/// What was read already, then the rest.
struct Rest {
    first: Option<Bytes>,
    rest: Body,
}

impl HttpBody for Rest {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        match self.first.take() {
            Some(first) => Poll::Ready(Some(Ok(Frame::data(first)))),
            None => Pin::new(&mut self.rest).poll_frame(cx),
        }
    }
}
