//! Content: what a client sends behind its head, as a body. Read by whoever answers the request.
//!
//! The client may send on only as we read (flow control), never more than the limit, and never slower than the timeout.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use h2::RecvStream;
use http::{HeaderMap, StatusCode};
use http_body::{Body, Frame, SizeHint};
use message::{Error, Interim, InterimHead, Kind};
use plan::Limits;
use tokio::time::{Instant, Sleep, sleep};

use super::stream::Progress;

/// The content of one request. An error is its end.
pub(super) struct Content {
    stream: RecvStream,
    /// Where a `100 Continue` is to go before the first read, when the client waits for one.
    awaited: Option<Interim>,
    /// Bytes still to come, where the head told.
    remaining: Option<u64>,
    /// Bytes that may still come.
    allowance: u64,
    timeout: Duration,
    /// Runs while we wait for the client.
    waiting: Option<Pin<Box<Sleep>>>,
    progress: Progress,
    ended: bool,
}

impl Content {
    /// `length` is the declared one; `awaited` is there when the client waits for `100 Continue`.
    pub(super) fn new(
        stream: RecvStream,
        length: Option<u64>,
        awaited: Option<Interim>,
        limits: &Limits,
        progress: Progress,
    ) -> Self {
        Content {
            stream,
            awaited,
            remaining: length,
            allowance: limits.body_size,
            timeout: limits.body_timeout,
            waiting: None,
            progress,
            ended: false,
        }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        loop {
            return match ready!(self.stream.poll_data(cx)) {
                Some(Ok(bytes)) if bytes.is_empty() => continue,
                Some(Ok(bytes)) => Poll::Ready(Some(self.take(bytes).map(Frame::data))),
                Some(Err(error)) => Poll::Ready(Some(Err(broken(error)))),
                None => match ready!(self.stream.poll_trailers(cx)) {
                    Ok(None) => Poll::Ready(None),
                    Ok(Some(trailers)) => Poll::Ready(Some(check_trailers(trailers).map(Frame::trailers))),
                    Err(error) => Poll::Ready(Some(Err(broken(error)))),
                },
            };
        }
    }

    fn take(&mut self, bytes: Bytes) -> Result<Bytes, Error> {
        let length = bytes.len() as u64;
        self.allowance = self.allowance.checked_sub(length).ok_or_else(|| {
            Error::new(Kind::ContentTooLarge, "the request's content is larger than the limit")
        })?;
        self.remaining = self.remaining.map(|remaining| remaining.saturating_sub(length));
        // fails only when more is released than came
        let _ = self.stream.flow_control().release_capacity(bytes.len());
        Ok(bytes)
    }

    /// Ready when the client has kept us waiting for too long. Once an answer goes out, the silence of one side is
    /// no failure: in a conversation (gRPC) it may only be listening.
    fn poll_late(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let timeout = self.timeout;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(timeout)));
        while waiting.as_mut().poll(cx).is_ready() {
            if !self.progress.is_answered() {
                return Poll::Ready(());
            }
            waiting.as_mut().reset(Instant::now() + timeout);
        }
        Poll::Pending
    }
}

impl Body for Content {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        if let Some(interim) = self.awaited.take() {
            interim.push(InterimHead { status: StatusCode::CONTINUE, fields: HeaderMap::new() });
        }
        let next = match self.poll_next(cx) {
            Poll::Ready(next) => next,
            Poll::Pending => {
                ready!(self.poll_late(cx));
                Some(Err(Error::new(Kind::ClientTimeout, "the request's content did not arrive in time")))
            }
        };
        self.waiting = None;
        self.ended = !matches!(&next, Some(Ok(frame)) if frame.is_data());
        Poll::Ready(next)
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.stream.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.remaining.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// h2 resets a stream for breaking the rules; every other end is the client's doing.
fn broken(error: h2::Error) -> Error {
    let kind = if error.is_library() { Kind::MalformedRequest } else { Kind::ClientGone };
    Error::new(kind, "the request's content broke off").caused_by(error)
}

/// Fields that are understood before the content or not at all (RFC 9110 §6.5.1) would change the meaning of a request
/// that has been decided on already.
fn check_trailers(trailers: HeaderMap) -> Result<HeaderMap, Error> {
    const FORBIDDEN: [&str; 16] = [
        "authorization",
        "cache-control",
        "content-encoding",
        "content-length",
        "content-range",
        "content-type",
        "content_length",
        "cookie",
        "expect",
        "host",
        "max-forwards",
        "proxy-authorization",
        "range",
        "te",
        "trailer",
        "transfer_encoding",
    ];
    let forbidden = FORBIDDEN.into_iter().any(|name| trailers.contains_key(name));
    let blank = |value: &http::HeaderValue| value.as_bytes().trim_ascii().len() != value.len();
    if forbidden || trailers.values().any(blank) {
        return Err(Error::new(
            Kind::MalformedRequest,
            "a trailer contains a field that belongs in the header section",
        ));
    }
    Ok(trailers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailers_that_change_the_head_are_refused() {
        let trailers = |name: &'static str, value: &'static str| {
            let mut trailers = HeaderMap::new();
            trailers.insert(name, value.parse().unwrap());
            trailers
        };
        for name in ["host", "authorization", "content-type", "content-length", "transfer_encoding"] {
            assert!(check_trailers(trailers(name, "1")).is_err(), "{name}");
        }
        assert!(check_trailers(trailers("x", " 1")).is_err());
        check_trailers(trailers("grpc-status", "0")).unwrap();
    }
}
