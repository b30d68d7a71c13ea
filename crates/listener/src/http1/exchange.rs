//! Exchange: one request that goes the whole way, up to its response. Meanwhile the connection is looked after:
//! earlier answers and informational ones are written, and a client that goes away ends it all.
//!
//! A client that closes its side behind a whole request may have left, or may only have nothing more to say (RFC 9112
//! §9.6); both look alike until something is written. So it is told `100 Continue`, which a client may simply discard (RFC
//! 9110 §15.2.1): a system that has closed both sides answers that with a reset, and then the exchange ends. Over TLS it
//! has left: there the end of what it says is a farewell.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use ::http1::Framing;
use http::{StatusCode, Version};
use message::{Body, Duplex, Error, Interim, Kind, Request, Response};
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::content::{Content, SharedContent};
use super::ending::Ending;
use super::head::{Asked, write_interim_head};
use super::incoming::Incoming;
use super::scratch::Scratch;
use super::transport::Transport;
use super::{Connection, Refusal};
use crate::Handler;

/// Bytes a client may send ahead while its request is under way.
const READ_AHEAD: usize = 64 * 1024;

/// How often it is looked whether a client that closed its side has closed both.
const LOOK: Duration = Duration::from_millis(100);

/// A request on its way, and what is known about its content and its answer.
pub(crate) struct Exchange {
    /// Without its content yet.
    pub(super) request: Request,
    pub(super) asked: Asked,
    pub(super) framing: Framing,
    pub(super) expect_continue: bool,
}

impl<H: Handler, IO: Duplex + 'static> Connection<H, IO> {
    /// Answers a request by the whole way. `Ok`: the connection may be used for another.
    pub(super) async fn exchange(&mut self, exchange: Box<Exchange>) -> Result<(), Ending> {
        let Exchange { mut request, asked, framing, expect_continue } = *exchange;
        let content = match framing {
            Framing::Empty | Framing::Length(0) => None,
            _ => Some(Content::new(framing, self.context.limits.body_size, expect_continue)),
        };
        if let Some(content) = &content {
            let transport = Rc::downgrade(&self.transport);
            request.body = Body::stream(Incoming { transport, content: Rc::clone(content) });
        }
        let interim = request.interim.clone();
        let handler = Rc::clone(&self.context.handler);
        let response = {
            let mut answer = pin!(handler.answer(request));
            poll_fn(|cx| self.poll_answer(answer.as_mut(), &interim, asked, content.as_ref(), cx)).await
        };
        let outcome = match response {
            Some(response) => self.respond(response, asked, content.as_ref()).await,
            None => Err(Ending::Drop),
        };
        if let Some(content) = &content {
            let error = Error::new(Kind::ClientGone, "the exchange ended before the request's content did");
            content.borrow_mut().fail(error);
        }
        outcome
    }

    /// Answers a request that did not become one, and ends the connection.
    pub(super) async fn refuse(&mut self, refusal: Box<Refusal>) -> Result<(), Ending> {
        let Refusal { error, is_head } = *refusal;
        let response = self.context.handler.refuse(&self.context.client, &error);
        let asked = Asked { is_head, version: Version::HTTP_11, keep_alive: false, upgrade: false };
        match self.respond(response, asked, None).await {
            // The client may still be sending, and would not see the answer for the reset.
            Ok(()) | Err(Ending::Close) => Err(Ending::Linger),
            Err(ending) => Err(ending),
        }
    }

    /// `None`: the client is gone. Informational answers do not exist in HTTP/1.0 (RFC 9110 §15.2).
    fn poll_answer(
        &mut self,
        answer: Pin<&mut impl Future<Output = Response>>,
        interim: &Interim,
        asked: Asked,
        content: Option<&SharedContent>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Response>> {
        let answer = answer.poll(cx);
        while let Some(head) = interim.take(cx.waker()) {
            if head.status == StatusCode::CONTINUE
                && let Some(content) = content
            {
                content.borrow_mut().expects_continue = false; // the origin's will do
            }
            if asked.version == Version::HTTP_11 {
                write_interim_head(self.transport.borrow_mut().output.staged(), head);
            }
        }
        if let Poll::Ready(response) = answer {
            return Poll::Ready(Some(response));
        }
        let mut looked = self.look_after(content, false, cx);
        if looked.is_ok()
            && asked.version == Version::HTTP_11
            && self.transport.borrow_mut().has_to_be_asked()
        {
            self.transport.borrow_mut().output.staged().extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
            looked = self.look_after(content, false, cx);
        }
        match looked {
            Ok(_) => Poll::Pending,
            Err(Gone) => Poll::Ready(None),
        }
    }

    /// Looks after the connection while somebody else works on the answer: writes what there is to write, notices
    /// when the client goes away or stalls, and wakes whoever waits for content. Leaves the task to be woken by
    /// whatever comes next. `is_answering`: the answer has begun. `Ok(true)`: all has been written.
    pub(super) fn look_after(
        &mut self,
        content: Option<&SharedContent>,
        is_answering: bool,
        cx: &mut Context<'_>,
    ) -> Result<bool, Gone> {
        let shared = Rc::clone(&self.transport);
        let mut transport = shared.borrow_mut();
        transport.remember(cx.waker());
        let is_written = match transport.poll_write(cx) {
            Poll::Ready(Ok(())) => Ok(true),
            Poll::Ready(Err(_)) => Err(Gone),
            Poll::Pending => Ok(false),
        };
        let outcome = is_written.and_then(|is_written| {
            // Who closes amid an answer, with nothing on its way that could be answered with a reset, has left.
            let is_late = is_answering && is_written;
            watch(&mut transport, content, is_late, cx)?;
            if transport.is_half_closed && has_left(&transport.io) {
                return Err(Gone);
            }
            self.see_to_timeouts(&transport, content, cx)?;
            Ok(is_written)
        });
        if let (Err(Gone), Some(content)) = (&outcome, content) {
            content.borrow_mut().fail(Error::new(Kind::ClientGone, "the client went away amid its content"));
        }
        outcome
    }

    /// Neither may a client stall what we write, nor let whoever reads its content wait for ever.
    fn see_to_timeouts(
        &mut self,
        transport: &Transport<IO>,
        content: Option<&SharedContent>,
        cx: &mut Context<'_>,
    ) -> Result<(), Gone> {
        if let Some(since) = transport.stalled_since
            && self.poll_patience(since, cx).is_ready()
        {
            return Err(Gone);
        }
        let now = Instant::now();
        let waiting_since = content.and_then(|content| content.borrow().waiting_since);
        let mut deadline = waiting_since.map(|since| since + self.context.limits.body_timeout);
        if let Some(content) = content
            && deadline.is_some_and(|deadline| deadline <= now)
        {
            let error = Error::new(Kind::ClientTimeout, "the request's content did not arrive in time");
            content.borrow_mut().fail(error);
            deadline = None;
        }
        let look = transport.is_half_closed.then(|| now + LOOK);
        // A client that stalls is looked at often enough.
        if let (None, Some(next)) = (transport.stalled_since, deadline.into_iter().chain(look).min())
            && self.timer.poll(next, cx).is_ready()
        {
            cx.waker().wake_by_ref();
        }
        Ok(())
    }
}

/// Reads ahead, within bounds: what comes is content that nobody has asked for yet, or the next request. What is
/// looked for is the end: a client that closes its side amid its request has left.
fn watch<IO: Duplex + 'static>(
    transport: &mut Transport<IO>,
    content: Option<&SharedContent>,
    is_late: bool,
    cx: &mut Context<'_>,
) -> Result<(), Gone> {
    if transport.is_half_closed {
        return Ok(());
    }
    let mut scratch = Scratch::take();
    let watched = loop {
        if transport.input.len() >= READ_AHEAD {
            break Ok(());
        }
        match transport.poll_read(&mut scratch.input, cx) {
            Poll::Ready(Ok(length)) if length > 0 => {
                transport.input.extend_from_slice(&scratch.input[..length]);
                if let Some(content) = content {
                    content.borrow_mut().wake_reader();
                }
            }
            Poll::Ready(Ok(_)) if !is_late && has_said_all(transport, content) => {
                transport.is_half_closed = true;
                if let Some(content) = content {
                    content.borrow_mut().wake_reader();
                }
                break Ok(());
            }
            Poll::Ready(_) => break Err(Gone),
            Poll::Pending => break Ok(()),
        }
    };
    scratch.put_back();
    watched
}

/// Whether a client that closed its side may be waiting for its answer. Of content in chunks its reader finds the end.
fn has_said_all<IO: Duplex + 'static>(transport: &Transport<IO>, content: Option<&SharedContent>) -> bool {
    let left = content.and_then(|content| content.borrow().decoder.remaining());
    let is_whole = left.is_none_or(|left| left <= transport.input.len() as u64);
    is_whole && (&transport.io as &dyn Any).is::<TcpStream>()
}

/// Whether the other side has answered what we wrote with a reset.
fn has_left(io: &dyn Any) -> bool {
    io.downcast_ref::<TcpStream>().is_some_and(|stream| !matches!(stream.take_error(), Ok(None)))
}

/// The client went away, or takes nothing any more.
#[derive(Debug)]
pub(super) struct Gone;
