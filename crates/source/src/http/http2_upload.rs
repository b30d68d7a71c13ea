//! Upload over HTTP/2: a request's content on its way out, as fast as the origin's window allows. Driven by the
//! exchange while it waits for the answer's head, and by the answer's body from then on: gRPC speaks both ways at once.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::SendStream;
use http_body::Body as _;
use message::{Body, Error};

use super::upload::CONTINUE_WAIT;
use guard::Timer;

/// Asked for at once, however large a piece is: what is granted and not used is missing for other streams.
const LARGEST_RESERVATION: usize = 256 * 1024;

/// See the module.
pub(super) struct Http2Upload {
    stream: SendStream<Bytes>,
    body: Body,
    data: Bytes,
    stage: Stage,
    was_empty: bool,
    was_touched: bool,
    total: u64,
    is_blocked_by_origin: bool,
}

enum Stage {
    /// The content waits for `100`.
    Expecting(Timer),
    /// Content goes out.
    Content,
    /// What is in `data` is the last of it.
    Last,
    Complete,
}

/// Why a request could not be sent completely.
pub(super) enum Http2Stopped {
    /// The client's content ended in an error.
    ByClient(Error),
    /// The origin reset the stream or the connection; the answer, or its failure, says why.
    ByOrigin,
}

impl Http2Upload {
    /// The head is out already; with an empty `body` so is the end.
    pub(super) fn new(stream: SendStream<Bytes>, body: Body, expects_continue: bool) -> Self {
        let was_empty = body.is_empty();
        let stage = match (was_empty, expects_continue) {
            (true, _) => Stage::Complete,
            (false, true) => Stage::Expecting(Timer::default()),
            (false, false) => Stage::Content,
        };
        Http2Upload {
            stream,
            body,
            data: Bytes::new(),
            stage,
            was_empty,
            was_touched: false,
            total: 0,
            is_blocked_by_origin: false,
        }
    }

    /// The origin wants the content.
    pub(super) fn proceed(&mut self) {
        if matches!(self.stage, Stage::Expecting(_)) {
            self.stage = Stage::Content;
        }
    }

    /// Everything has been handed over.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.stage, Stage::Complete)
    }

    /// Bytes handed over so far; tells progress.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// After `Pending`: whether the origin's window is full, rather than the client not giving anything.
    pub(super) fn is_blocked_by_origin(&self) -> bool {
        self.is_blocked_by_origin
    }

    /// Whether there never was content.
    pub(super) fn was_empty(&self) -> bool {
        self.was_empty
    }

    /// The content, whole and unused, if it still is.
    pub(super) fn into_body(self) -> Option<Body> {
        (self.was_empty || !self.was_touched).then_some(self.body)
    }

    /// Sends as much as goes now. Ready when everything is out.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Http2Stopped>> {
        loop {
            if !self.data.is_empty() {
                self.is_blocked_by_origin = true;
                ready!(self.poll_data(cx))?;
                self.is_blocked_by_origin = false;
            }
            match &mut self.stage {
                Stage::Complete => return Poll::Ready(Ok(())),
                Stage::Last => self.stage = Stage::Complete,
                Stage::Expecting(timer) => {
                    ready!(timer.poll(CONTINUE_WAIT, cx));
                    self.stage = Stage::Content;
                }
                Stage::Content => ready!(self.poll_content(cx))?,
            }
        }
    }

    /// Sends all of `data`, in pieces as large as the window.
    fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Http2Stopped>> {
        while !self.data.is_empty() {
            self.stream.reserve_capacity(self.data.len().min(LARGEST_RESERVATION));
            while self.stream.capacity() == 0 {
                let Some(Ok(_)) = ready!(self.stream.poll_capacity(cx)) else {
                    return Poll::Ready(Err(Http2Stopped::ByOrigin));
                };
            }
            let piece = self.data.split_to(self.data.len().min(self.stream.capacity()));
            self.total += piece.len() as u64;
            let is_last = self.data.is_empty() && matches!(self.stage, Stage::Last);
            self.stream.send_data(piece, is_last).map_err(|_| Http2Stopped::ByOrigin)?;
        }
        Poll::Ready(Ok(()))
    }

    /// Takes the next piece of content; `data` is empty then.
    fn poll_content(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Http2Stopped>> {
        self.was_touched = true;
        let sent = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
            None => {
                self.stage = Stage::Complete;
                self.stream.send_data(Bytes::new(), true)
            }
            Some(Err(error)) => return Poll::Ready(Err(Http2Stopped::ByClient(error))),
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) => {
                    if self.body.is_end_stream() && !data.is_empty() {
                        self.stage = Stage::Last;
                    }
                    self.data = data;
                    Ok(())
                }
                Err(frame) => {
                    self.stage = Stage::Complete;
                    self.stream.send_trailers(frame.into_trailers().unwrap_or_default())
                }
            },
        };
        Poll::Ready(sent.map_err(|_| Http2Stopped::ByOrigin))
    }
}
