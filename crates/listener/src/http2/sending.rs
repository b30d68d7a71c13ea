//! Sending: content → DATA frames, as fast as the client takes them and no faster.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use bytes::Bytes;
use h2::{Reason, SendStream};
use http::HeaderMap;
use http_body::{Body as _, Frame};
use message::Body;
use tokio::time::{Instant, timeout_at};

use super::response::remove_connection_fields;
use crate::Handler;
use crate::connection::ConnectionContext;

/// Content given to h2 at once at most; it waits there until the socket takes it.
const PIECE: usize = 64 * 1024;

/// Why content was not sent to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// The client, or its connection, is gone.
    Gone,
    /// The client took nothing for too long.
    Stalled,
    /// The content broke off, or was not as long as promised.
    BrokeOff,
}

impl Broken {
    /// What to reset the stream with.
    pub(super) fn reason(self) -> Option<Reason> {
        match self {
            Broken::Gone => None,
            Broken::Stalled => Some(Reason::CANCEL),
            Broken::BrokeOff => Some(Reason::INTERNAL_ERROR),
        }
    }
}

/// Sends content on a stream whose head has been sent.
pub(super) struct Sending<'a, H> {
    pub(super) stream: SendStream<Bytes>,
    pub(super) connection: &'a ConnectionContext<H>,
}

impl<H: Handler> Sending<'_, H> {
    /// Sends all of it, with its trailers. `length` is what was promised.
    pub(super) async fn send(&mut self, mut body: Body, length: Option<u64>) -> Result<(), Broken> {
        let mut remaining = length;
        while let Some(frame) = self.next(&mut body).await? {
            match frame.into_data() {
                Ok(data) => {
                    if let Some(remaining) = &mut remaining {
                        *remaining = remaining.checked_sub(data.len() as u64).ok_or(Broken::BrokeOff)?;
                    }
                    let last = body.is_end_stream() && remaining.is_none_or(|remaining| remaining == 0);
                    self.send_data(data, last).await?;
                    if last {
                        return Ok(());
                    }
                }
                Err(frame) => {
                    let Ok(trailers) = frame.into_trailers() else { continue };
                    is_kept(remaining)?;
                    return self.send_trailers(trailers);
                }
            }
        }
        is_kept(remaining)?;
        self.stream.send_data(Bytes::new(), true).map_err(|_| Broken::Gone)
    }

    /// The next frame of the body, unless the client goes away first.
    async fn next(&mut self, body: &mut Body) -> Result<Option<Frame<Bytes>>, Broken> {
        poll_fn(|cx| {
            if self.stream.poll_reset(cx).is_ready() {
                return Poll::Ready(Err(Broken::Gone));
            }
            Pin::new(&mut *body).poll_frame(cx).map(|frame| frame.transpose().map_err(|_| Broken::BrokeOff))
        })
        .await
    }

    async fn send_data(&mut self, mut data: Bytes, last: bool) -> Result<(), Broken> {
        while !data.is_empty() {
            self.stream.reserve_capacity(data.len().min(PIECE));
            let capacity = match self.stream.capacity() {
                0 => self.awaited_capacity().await?,
                capacity => capacity,
            };
            let piece = data.split_to(capacity.min(data.len()));
            self.stream.send_data(piece, last && data.is_empty()).map_err(|_| Broken::Gone)?;
        }
        Ok(())
    }

    /// Waits until the client takes more, as long as there is patience. How long that is changes when memory is short.
    async fn awaited_capacity(&mut self) -> Result<usize, Broken> {
        let since = Instant::now();
        loop {
            let next_look = self.connection.next_look(since, Instant::now());
            if let Ok(capacity) = timeout_at(next_look, self.capacity()).await {
                return capacity;
            }
            if Instant::now() >= since + self.connection.patience() {
                return Err(Broken::Stalled);
            }
        }
    }

    /// Waits until the client takes more.
    async fn capacity(&mut self) -> Result<usize, Broken> {
        poll_fn(|cx| {
            if self.stream.poll_reset(cx).is_ready() {
                return Poll::Ready(Err(Broken::Gone));
            }
            self.stream.poll_capacity(cx).map(|capacity| match capacity {
                Some(Ok(capacity)) => Ok(capacity),
                Some(Err(_)) | None => Err(Broken::Gone),
            })
        })
        .await
    }

    fn send_trailers(&mut self, mut trailers: HeaderMap) -> Result<(), Broken> {
        remove_connection_fields(&mut trailers);
        self.stream.send_trailers(trailers).map_err(|_| Broken::Gone)
    }
}

/// Whether all that was promised has been sent.
fn is_kept(remaining: Option<u64>) -> Result<(), Broken> {
    if remaining.is_some_and(|remaining| remaining > 0) { Err(Broken::BrokeOff) } else { Ok(()) }
}
