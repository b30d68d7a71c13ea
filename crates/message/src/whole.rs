//! Whole: a body read to its end, within a bound. Called by whoever needs all of it: a key made of content, a retry, a step.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use http_body::{Body as HttpBody, Frame};

use crate::{Body, Error, Result};

impl Body {
    /// All of it, or, where it is longer than `most` bytes, the same body again with nothing lost. Trailers of what is read
    /// to its end are dropped (RFC 9110 §6.5.1).
    ///
    /// # Errors
    /// Whatever cut it off.
    pub async fn within(mut self, most: u64) -> Result<std::result::Result<Bytes, Body>> {
        if self.exact_length().is_some_and(|length| length > most) {
            return Ok(Err(self));
        }
        if let Body::Whole(whole) = self {
            return Ok(Ok(whole));
        }
        let mut first = Bytes::new();
        let mut more = BytesMut::new();
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut self).poll_frame(cx)).await {
            let Ok(data) = frame?.into_data() else { continue };
            let length = first.len() + more.len() + data.len();
            // Most bodies come in one piece, which need not be copied.
            if first.is_empty() && more.is_empty() {
                first = data;
            } else {
                if more.is_empty() {
                    more.reserve(length);
                    more.extend_from_slice(&std::mem::take(&mut first));
                }
                more.extend_from_slice(&data);
            }
            if length as u64 > most {
                let read = if more.is_empty() { first } else { more.freeze() };
                return Ok(Err(Body::stream(Resumed { read: Some(read), rest: self })));
            }
        }
        Ok(Ok(if more.is_empty() { first } else { more.freeze() }))
    }
}

/// What was read already, then the rest.
struct Resumed {
    read: Option<Bytes>,
    rest: Body,
}

impl HttpBody for Resumed {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>>>> {
        match self.read.take() {
            Some(read) => Poll::Ready(Some(Ok(Frame::data(read)))),
            None => Pin::new(&mut self.rest).poll_frame(cx),
        }
    }
}
