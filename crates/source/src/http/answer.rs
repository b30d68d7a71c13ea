//! Answer: the content of an HTTP/1.1 answer, still arriving. Owns the connection and gives it back to the pool when
//! the content has ended as its head said; in every other case the connection is closed. Read by whoever got the
//! response. Whatever of the request is left to send goes out meanwhile.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http1::{Decoded, Decoder, Framing};
use message::{Error, Kind, Result, Side};

use super::connection::Connection;
use super::upload::{Stopped, Upload};

/// See the module.
pub(super) struct Answer {
    /// None after the end.
    connection: Option<Box<Connection>>,
    decoder: Decoder,
    upload: Option<Upload>,
    is_reusable: bool,
    limit: Duration,
    target: Arc<str>,
}

impl Answer {
    /// `limit`: how long the content may make no progress.
    pub(super) fn new(
        connection: Box<Connection>,
        framing: Framing,
        upload: Option<Upload>,
        is_reusable: bool,
        limit: Duration,
        target: Arc<str>,
    ) -> Self {
        let decoder = Decoder::new(framing, Side::Source);
        Answer { connection: Some(connection), decoder, upload, is_reusable, limit, target }
    }

    /// Pushes the rest of the request on. An error only when the client's side fails.
    fn send(&mut self, cx: &mut Context<'_>) -> Result<()> {
        let (Some(upload), Some(connection)) = (&mut self.upload, &mut self.connection) else {
            return Ok(());
        };
        let total = upload.total();
        let polled = upload.poll(&mut connection.transport, cx);
        if upload.total() != total {
            connection.timer.stop();
        }
        match polled {
            Poll::Pending => Ok(()),
            Poll::Ready(Ok(())) => {
                self.upload = None;
                Ok(())
            }
            Poll::Ready(Err(Stopped::ByOrigin(_))) => {
                // It does not want the rest, which is its right once it has answered.
                self.upload = None;
                self.is_reusable = false;
                Ok(())
            }
            Poll::Ready(Err(Stopped::ByClient(error))) => Err(error),
        }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Frame<Bytes>>>> {
        self.send(cx)?;
        let Some(connection) = &mut self.connection else { return Poll::Ready(Ok(None)) };
        loop {
            match self.decoder.decode(&mut connection.input).map_err(|error| error.within(&self.target))? {
                Decoded::Data(data) => {
                    connection.timer.stop();
                    connection.let_go();
                    if self.decoder.is_complete() {
                        self.finish();
                    }
                    return Poll::Ready(Ok(Some(Frame::data(data))));
                }
                Decoded::Trailers(mut trailers) => {
                    rules::hop_by_hop::strip(&mut trailers);
                    return Poll::Ready(Ok(Some(Frame::trailers(trailers))));
                }
                Decoded::Complete => {
                    self.finish();
                    return Poll::Ready(Ok(None));
                }
                Decoded::NeedMore => {}
            }
            match connection.poll_fill(cx) {
                Poll::Ready(Ok(0)) => {
                    self.decoder.end_of_input().map_err(|error| error.within(&self.target))?;
                    self.connection = None;
                    return Poll::Ready(Ok(None));
                }
                Poll::Ready(Ok(_)) => connection.timer.stop(),
                Poll::Ready(Err(error)) => {
                    let detail = format!("{}: the connection broke amid the content", self.target);
                    return Poll::Ready(Err(Error::new(Kind::BrokeOff, detail).caused_by(error)));
                }
                Poll::Pending => break,
            }
        }
        if connection.timer.poll(self.limit, cx).is_pending() {
            return Poll::Pending;
        }
        let detail = format!("{}: no content came for {:?}", self.target, self.limit);
        Poll::Ready(Err(Error::new(Kind::SourceTimeout, detail)))
    }

    fn finish(&mut self) {
        if let Some(connection) = self.connection.take()
            && self.is_reusable
            && self.upload.is_none()
        {
            connection.give_back();
        }
    }
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>>>> {
        let answer = self.get_mut();
        let next = answer.poll_next(cx);
        if let Poll::Ready(Err(_)) = next {
            answer.connection = None;
        }
        next.map(Result::transpose)
    }

    fn is_end_stream(&self) -> bool {
        self.connection.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.decoder.remaining().map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
