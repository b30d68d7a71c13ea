//! Answer over HTTP/2: the content of an answer, still arriving on its stream. Read by whoever got the response;
//! dropping it early resets the stream. Whatever of the request is left to send goes out meanwhile.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use h2::RecvStream;
use http_body::{Body, Frame, SizeHint};
use message::{Error, Kind, Result};

use super::http2_exchange::described;
use super::http2_session::Stream;
use super::http2_upload::{Http2Stopped, Http2Upload};
use guard::Timer;

/// See the module.
pub(super) struct Http2Answer {
    content: RecvStream,
    upload: Option<Http2Upload>,
    /// None after the end.
    stream: Option<Stream>,
    data_ended: bool,
    left: Option<u64>,
    timer: Timer,
    limit: Duration,
    target: Rc<str>,
}

impl Http2Answer {
    /// `length`: bytes of content, if the head said it. `limit`: how long the content may make no progress.
    pub(super) fn new(
        content: RecvStream,
        stream: Stream,
        upload: Option<Http2Upload>,
        length: Option<u64>,
        limit: Duration,
        target: Rc<str>,
    ) -> Self {
        let timer = Timer::default();
        Http2Answer {
            content,
            upload,
            stream: Some(stream),
            data_ended: false,
            left: length,
            timer,
            limit,
            target,
        }
    }

    /// Pushes the rest of the request on. An error only when the client's side fails.
    fn send(&mut self, cx: &mut Context<'_>) -> Result<()> {
        let Some(upload) = &mut self.upload else { return Ok(()) };
        let total = upload.total();
        let polled = upload.poll(cx);
        if upload.total() != total {
            self.timer.stop();
        }
        match polled {
            Poll::Pending => {}
            Poll::Ready(Ok(()) | Err(Http2Stopped::ByOrigin)) => self.upload = None,
            Poll::Ready(Err(Http2Stopped::ByClient(error))) => return Err(error),
        }
        Ok(())
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Frame<Bytes>>>> {
        if self.stream.is_none() {
            return Poll::Ready(Ok(None));
        }
        self.send(cx)?;
        match self.poll_received(cx) {
            Poll::Ready(next) => {
                self.timer.stop();
                return Poll::Ready(next.map_err(|error| described(&self.target, error)));
            }
            Poll::Pending => ready!(self.timer.poll(self.limit, cx)),
        }
        let detail = format!("{}: no content came for {:?}", self.target, self.limit);
        Poll::Ready(Err(Error::new(Kind::SourceTimeout, detail)))
    }

    fn poll_received(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<std::result::Result<Option<Frame<Bytes>>, h2::Error>> {
        while !self.data_ended {
            match ready!(self.content.poll_data(cx)) {
                Some(data) => {
                    let data = data?;
                    self.content.flow_control().release_capacity(data.len())?;
                    if data.is_empty() {
                        continue;
                    }
                    self.left = self.left.map(|left| left.saturating_sub(data.len() as u64));
                    return Poll::Ready(Ok(Some(Frame::data(data))));
                }
                None => self.data_ended = true,
            }
        }
        let trailers = ready!(self.content.poll_trailers(cx))?;
        self.end();
        Poll::Ready(Ok(trailers.map(|mut trailers| {
            rules::hop_by_hop::strip(&mut trailers);
            Frame::trailers(trailers)
        })))
    }

    fn end(&mut self) {
        self.stream = None;
        self.upload = None;
    }
}

impl Body for Http2Answer {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>>>> {
        let answer = self.get_mut();
        let next = answer.poll_next(cx);
        if let Poll::Ready(Err(_)) = next {
            answer.end();
        }
        next.map(Result::transpose)
    }

    fn is_end_stream(&self) -> bool {
        self.stream.is_none() || (self.upload.is_none() && self.content.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
