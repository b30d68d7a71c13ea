//! HTTP/1.1 to clients (RFC 9112): one connection, from its first byte to its last. Called by the acceptor once it
//! knows that the client speaks no HTTP/2.
//!
//! ```text
//!            ┌──────────── keeps the connection ────────────┐
//!            ▼                                              │
//! bytes → poll_hits ── not fresh ──→ exchange ──→ respond ──┤
//!            │  └───── refused ────────────────→ respond ───┤
//!            └──────── closes ──────────────────────────────┴─→ end
//! ```
//!
//! Most requests are fresh hits, so `poll_hits` is the hot path: bytes are read into and answers written from buffers
//! that all connections of the core share, heads are parsed where they lie, and a connection that waits holds no
//! buffer at all. Whatever takes longer lives in a boxed future that exists only meanwhile.

mod content;
mod ending;
mod exchange;
mod head;
mod hits;
mod incoming;
mod output;
mod request;
mod respond;
mod scratch;
mod timer;
mod transport;
mod tunnel;

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use ::http1::{HeadLimits, head_may_be_complete};
use bytes::BytesMut;
use message::{Duplex, Error, Kind};
use tokio::time::Instant;

use self::ending::Ending;
use self::exchange::Exchange;
use self::hits::{AnsweredHits, Rest, answer_hits};
use self::scratch::Scratch;
use self::timer::Timer;
use self::transport::Transport;
use crate::Handler;
use crate::connection::ConnectionContext;
use crate::drain::Wait;

/// Serves one connection to its end.
///
/// `initial`: bytes already read from it.
pub(crate) async fn serve<H: Handler, IO: Duplex + 'static>(
    io: IO,
    initial: BytesMut,
    context: ConnectionContext<H>,
) {
    let mut connection = Connection::new(io, initial, context);
    let ending = loop {
        let outcome = match poll_fn(|cx| connection.poll_hits(cx)).await {
            Next::Exchange(exchange) => Box::pin(connection.exchange(exchange)).await,
            Next::Refuse(refusal) => Box::pin(connection.refuse(refusal)).await,
            Next::End(ending) => Err(ending),
        };
        match outcome {
            Ok(()) => connection.wait_for_next(),
            Err(ending) => break ending,
        }
    };
    if ending != Ending::Drop {
        Box::pin(connection.end(ending)).await;
    }
}

/// What comes after the hits.
enum Next {
    /// A request that no fresh entry answers.
    Exchange(Box<Exchange>),
    /// A request that is refused; the connection ends with the answer.
    Refuse(Box<Refusal>),
    /// No further request.
    End(Ending),
}

/// Why a request is refused, and how the answer has to be written.
pub(crate) struct Refusal {
    error: Error,
    /// Whether it was a HEAD, as far as it could be read.
    is_head: bool,
}

/// One client connection.
struct Connection<H, IO> {
    context: ConnectionContext<H>,
    head_limits: HeadLimits,
    /// Shared with the content of the request under way, if it has any.
    transport: Rc<RefCell<Transport<IO>>>,
    timer: Timer,
    drain: Wait,
    waiting: Waiting,
    /// Since when.
    since: Instant,
    /// Whether all that was read has been looked at, and found to hold no whole head.
    looked_at: bool,
    /// Set once the last answer's head has said so.
    closing: Option<Ending>,
}

/// What a connection without a whole request waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Waiting {
    /// The first byte of its first request.
    First,
    /// The first byte of another one.
    Idle,
    /// The rest of a head.
    Head,
}

impl<H: Handler, IO: Duplex + 'static> Connection<H, IO> {
    fn new(io: IO, initial: BytesMut, context: ConnectionContext<H>) -> Self {
        let limits = &context.limits;
        let head_limits = HeadLimits {
            head_size: limits.head_size,
            target_size: limits.head_size,
            header_count: limits.header_count,
        };
        Connection {
            head_limits,
            looked_at: initial.is_empty(),
            transport: Rc::new(RefCell::new(Transport::new(io, initial))),
            timer: Timer::default(),
            drain: context.drain.wait(),
            waiting: Waiting::First,
            since: Instant::now(),
            closing: None,
            context,
        }
    }

    /// Answers one hit after another until something else comes. The only place that reads heads.
    fn poll_hits(&mut self, cx: &mut Context<'_>) -> Poll<Next> {
        let shared = Rc::clone(&self.transport);
        let mut scratch = Scratch::take();
        let next = self.poll_hits_with(&mut shared.borrow_mut(), &mut scratch, cx);
        scratch.put_back();
        next
    }

    fn poll_hits_with(
        &mut self,
        transport: &mut Transport<IO>,
        scratch: &mut Scratch,
        cx: &mut Context<'_>,
    ) -> Poll<Next> {
        loop {
            if transport.is_writing() {
                match transport.poll_write(cx) {
                    Poll::Ready(Ok(())) => scratch.take_back(&mut transport.output),
                    Poll::Ready(Err(_)) => return Poll::Ready(Next::End(Ending::Drop)),
                    Poll::Pending => return self.poll_stalled(transport, cx),
                }
            }
            if let Some(ending) = self.closing {
                return Poll::Ready(Next::End(ending));
            }
            let answered = if self.looked_at {
                let length = match transport.poll_read(&mut scratch.input, cx) {
                    Poll::Ready(Ok(length)) if length > 0 => length,
                    Poll::Ready(_) => return Poll::Ready(Next::End(Ending::Drop)),
                    Poll::Pending => return self.poll_idle(transport.input.is_empty(), cx),
                };
                let Some(answered) = self.answer_read(transport, scratch, length) else { continue };
                answered
            } else {
                let answered = self.answer_kept(transport, scratch);
                self.note(Instant::now(), &answered, transport.input.is_empty());
                answered
            };
            transport.output.stage(&mut scratch.output, answered.content);
            self.looked_at = matches!(answered.rest, Rest::Partial);
            match answered.rest {
                Rest::More | Rest::Partial => {}
                Rest::Close(ending) => self.closing = Some(ending),
                Rest::Exchange(exchange) => return Poll::Ready(Next::Exchange(exchange)),
                Rest::Refuse(refusal) => return Poll::Ready(Next::Refuse(refusal)),
            }
        }
    }

    /// Answers from the `length` bytes just read into the scratch; what is left of them is kept.
    /// `None`: there was the beginning of a head already, and this is not its end.
    fn answer_read(
        &mut self,
        transport: &mut Transport<IO>,
        scratch: &mut Scratch,
        length: usize,
    ) -> Option<AnsweredHits> {
        let now = Instant::now();
        let read = &scratch.input[..length];
        let kept = transport.input.len();
        let answered = if kept == 0 {
            let answered = answer_hits(&self.context, &self.head_limits, read, &mut scratch.output);
            transport.input.extend_from_slice(&read[answered.consumed..]);
            answered
        } else {
            transport.input.extend_from_slice(read);
            let is_full = transport.input.len() >= self.head_limits.head_size;
            if !is_full && !head_may_be_complete(&transport.input, kept) {
                return None;
            }
            self.answer_kept(transport, scratch)
        };
        self.note(now, &answered, transport.input.is_empty());
        Some(answered)
    }

    /// Answers from the bytes kept from earlier reads.
    fn answer_kept(&self, transport: &mut Transport<IO>, scratch: &mut Scratch) -> AnsweredHits {
        let answered = answer_hits(&self.context, &self.head_limits, &transport.input, &mut scratch.output);
        transport.consume(answered.consumed);
        answered
    }

    /// Notes what is waited for from now on.
    fn note(&mut self, now: Instant, answered: &AnsweredHits, nothing_kept: bool) {
        if answered.consumed > 0 || self.waiting == Waiting::Idle {
            self.since = now;
        }
        self.waiting = match (nothing_kept, self.waiting) {
            (false, _) => Waiting::Head,
            (true, Waiting::First) if answered.consumed == 0 => Waiting::First,
            (true, _) => Waiting::Idle,
        };
    }

    /// After an exchange.
    fn wait_for_next(&mut self) {
        let mut transport = self.transport.borrow_mut();
        transport.release_input();
        transport.connection = None;
        let mut scratch = Scratch::take();
        scratch.take_back(&mut transport.output);
        scratch.put_back();
        self.looked_at = transport.input.is_empty();
        self.waiting = if self.looked_at { Waiting::Idle } else { Waiting::Head };
        self.since = Instant::now();
    }

    /// Nothing to read: sleep until there is, or until it has taken too long, or until we drain.
    fn poll_idle(&mut self, nothing_kept: bool, cx: &mut Context<'_>) -> Poll<Next> {
        if nothing_kept && Pin::new(&mut self.drain).poll(cx).is_ready() {
            return Poll::Ready(Next::End(Ending::Close));
        }
        let limits = &self.context.limits;
        let patience = match self.waiting {
            Waiting::Idle => limits.idle_timeout,
            Waiting::First | Waiting::Head => limits.header_timeout,
        };
        if self.timer.poll(self.since + patience, cx).is_pending() {
            return Poll::Pending;
        }
        Poll::Ready(match self.waiting {
            Waiting::First | Waiting::Idle => Next::End(Ending::Close),
            Waiting::Head => {
                let error =
                    Error::new(Kind::ClientTimeout, "the request's header section did not arrive in time");
                Next::Refuse(Box::new(Refusal { error, is_head: false }))
            }
        })
    }

    /// The client does not take our answers: wait for it no longer than for content.
    fn poll_stalled(&mut self, transport: &Transport<IO>, cx: &mut Context<'_>) -> Poll<Next> {
        let since = transport.stalled_since.unwrap_or_else(Instant::now);
        self.poll_patience(since, cx).map(|()| Next::End(Ending::Drop))
    }

    /// Ready when a client has taken nothing of what we write for too long. How long that is changes when memory is short.
    fn poll_patience(&mut self, stalled_since: Instant, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let now = Instant::now();
            if now >= stalled_since + self.context.patience() {
                return Poll::Ready(());
            }
            ready!(self.timer.poll(self.context.next_look(stalled_since, now), cx));
        }
    }
}

#[cfg(test)]
mod tests;
