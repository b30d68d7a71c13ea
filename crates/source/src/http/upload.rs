//! Upload: a request on its way out over HTTP/1.1, head and content. Driven by the exchange while it waits for the
//! answer's head, and by the answer's body for what is left then: an origin may answer before it has read everything.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http_body::Body as _;
use http1::Encoder;
use message::{Body, Error};
use tokio::io::AsyncWrite;

use super::transport::Transport;
use guard::Timer;

/// How long an origin may keep silent about `Expect: 100-continue`: many do not know it (RFC 9110 §10.1.1).
pub(super) const CONTINUE_WAIT: Duration = Duration::from_secs(1);
/// Chunks up to this size are copied behind their size line, which makes one piece of three.
const SMALL_CHUNK: usize = 2 * 1024;
/// Bytes that are worth a write although there may be more.
const ENOUGH: usize = 16 * 1024;

/// See the module.
pub(super) struct Upload {
    /// Head and chunk lines, ahead of `data`.
    output: Vec<u8>,
    written: usize,
    /// Content, ahead of what comes next into `output`.
    data: Bytes,
    /// The end of a large chunk, written with whatever comes behind it.
    owed: &'static [u8],
    encoder: Encoder,
    body: Body,
    stage: Stage,
    was_empty: bool,
    was_touched: bool,
    total: u64,
    is_blocked_by_origin: bool,
}

enum Stage {
    /// Nothing tried yet.
    Fresh,
    /// The head goes out, the content waits for `100`.
    Expecting(Timer),
    /// Content goes out.
    Content,
    /// Only what is in `output` and `data` is left.
    Ending,
    Complete,
}

/// Why a request could not be sent completely.
pub(super) enum Stopped {
    /// The client's content ended in an error.
    ByClient(Error),
    /// The origin does not take it; it may have said why.
    ByOrigin(io::Error),
}

impl Upload {
    /// `head` is complete; `body` fits what it says about framing.
    pub(super) fn new(head: Vec<u8>, body: Body, encoder: Encoder, expects_continue: bool) -> Self {
        let was_empty = body.is_empty();
        let stage = match (was_empty, expects_continue) {
            (true, _) => Stage::Ending,
            (false, true) => Stage::Expecting(Timer::default()),
            (false, false) => Stage::Fresh,
        };
        Upload {
            output: head,
            written: 0,
            data: Bytes::new(),
            owed: b"",
            encoder,
            body,
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

    /// Everything has been written.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self.stage, Stage::Complete)
    }

    /// Bytes written so far; tells progress.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// After `Pending`: whether the origin does not take what there is, rather than the client not giving any.
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
    pub(super) fn poll(
        &mut self,
        transport: &mut Transport,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Stopped>> {
        if let Stage::Fresh = self.stage {
            // One try before the first write, so that a small body goes out together with its head.
            self.stage = Stage::Content;
            if let Poll::Ready(Err(error)) = self.poll_content(cx) {
                return Poll::Ready(Err(Stopped::ByClient(error)));
            }
        }
        loop {
            self.is_blocked_by_origin = true;
            ready!(self.poll_write(transport, cx)).map_err(Stopped::ByOrigin)?;
            self.is_blocked_by_origin = false;
            match &mut self.stage {
                Stage::Complete => return Poll::Ready(Ok(())),
                Stage::Ending => self.stage = Stage::Complete,
                Stage::Expecting(timer) => {
                    ready!(timer.poll(CONTINUE_WAIT, cx));
                    self.stage = Stage::Content;
                }
                Stage::Fresh | Stage::Content => ready!(self.poll_content(cx)).map_err(Stopped::ByClient)?,
            }
        }
    }

    fn poll_write(&mut self, transport: &mut Transport, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let output = &self.output[self.written..];
            let written = match (output.is_empty(), self.data.is_empty()) {
                (true, true) => break,
                (false, true) => ready!(Pin::new(&mut *transport).poll_write(cx, output))?,
                (true, false) => ready!(Pin::new(&mut *transport).poll_write(cx, &self.data))?,
                (false, false) => {
                    let slices = [IoSlice::new(output), IoSlice::new(&self.data)];
                    ready!(Pin::new(&mut *transport).poll_write_vectored(cx, &slices))?
                }
            };
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            let of_output = written.min(output.len());
            self.written += of_output;
            self.data.advance(written - of_output);
            self.total += written as u64;
        }
        self.output.clear();
        self.written = 0;
        ready!(Pin::new(transport).poll_flush(cx))?;
        Poll::Ready(Ok(()))
    }

    /// Takes content behind what waits in `output`, as long as more is there at once and it is small: each write costs
    /// more than the copy. Pending only when nothing was taken.
    fn poll_content(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.was_touched = true;
        let before = self.output.len();
        while let Stage::Content = self.stage {
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Pending if self.output.len() == before => return Poll::Pending,
                Poll::Pending => break,
                Poll::Ready(None) => self.end(None)?,
                Poll::Ready(Some(frame)) => match frame?.into_data() {
                    Ok(data) if data.is_empty() => {}
                    Ok(data) => self.take(data)?,
                    Err(frame) => self.end(frame.trailers_ref())?,
                },
            }
            if !self.data.is_empty() || self.output.len() > ENOUGH {
                break;
            }
        }
        Poll::Ready(Ok(()))
    }

    fn take(&mut self, data: Bytes) -> Result<(), Error> {
        self.output.extend_from_slice(std::mem::take(&mut self.owed));
        self.encoder.chunk_prefix(data.len(), &mut self.output)?;
        let suffix = self.encoder.chunk_suffix();
        if suffix.is_empty() {
            self.data = data;
            if self.body.is_end_stream() {
                self.end(None)?;
            }
        } else if data.len() <= SMALL_CHUNK {
            self.output.extend_from_slice(&data);
            self.output.extend_from_slice(suffix);
        } else {
            self.data = data;
            self.owed = suffix;
        }
        Ok(())
    }

    fn end(&mut self, trailers: Option<&http::HeaderMap>) -> Result<(), Error> {
        self.stage = Stage::Ending;
        self.output.extend_from_slice(std::mem::take(&mut self.owed));
        self.encoder.finish(trailers, &mut self.output)
    }
}
