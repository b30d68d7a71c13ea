//! Exchange: one request and the head of its answer over an HTTP/1.1 connection. In: a connection and an upload. Out:
//! a response whose body owns the connection, or a failure that says whether the request may be sent again. Called by
//! `origin`. Everything happens inside the caller's future: no task, no channel.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::{HeaderValue, Method, StatusCode};
use http1::{Framing, HeadLimits, ResponseHead};
use message::{Body, Error, Interim, InterimHead, Kind, Response, Result, Retry};
use plan::Timeouts;

use super::answer::Answer;
use super::connection::Connection;
use super::upgrade;
use super::upload::{Stopped, Upload};

/// What we read of an answer's head at most.
const LIMITS: HeadLimits =
    HeadLimits { head_size: 64 * 1024, target_size: 0, header_count: http1::MAX_LINES };
/// Informational answers before the final one at most: they are hints, and an origin that sends only hints is broken.
pub(super) const MAX_INTERIM: u32 = 32;

/// What an exchange has to know besides the bytes.
pub(super) struct Terms<'a> {
    pub(super) method: &'a Method,
    pub(super) interim: &'a Interim,
    pub(super) upgrade: Option<&'a HeaderValue>,
    pub(super) timeouts: &'a Timeouts,
    pub(super) target: &'a Arc<str>,
}

/// An exchange that failed before its final head.
pub(super) struct Failed {
    pub(super) error: Error,
    /// The content, if it can be sent again, and the request may be: nothing of an answer came from a connection that
    /// the origin was about to close.
    pub(super) again: Option<Body>,
}

/// Sends the request and waits for the final head. Not an `async fn`: its future would hold what it was given twice.
pub(super) fn exchange(connection: Box<Connection>, upload: Upload, terms: Terms<'_>) -> Exchanging<'_> {
    Exchanging(Some(Exchange {
        connection,
        upload,
        terms,
        seen: 0,
        interims: 0,
        progress: Progress::default(),
        broken: None,
    }))
}

/// See [`exchange`]; `None`: it is over.
pub(super) struct Exchanging<'a>(Option<Exchange<'a>>);

struct Exchange<'a> {
    connection: Box<Connection>,
    upload: Upload,
    terms: Terms<'a>,
    /// Bytes of the input in which no head's end was found.
    seen: usize,
    interims: u32,
    progress: Progress,
    /// Why the origin does not take the request any more; it may say so in an answer.
    broken: Option<std::io::Error>,
}

/// What the timer is running for.
#[derive(Default, PartialEq, Eq, Clone, Copy)]
struct Progress {
    sent: u64,
    waits_for_head: bool,
}

impl Future for Exchanging<'_> {
    type Output = std::result::Result<Response, Box<Failed>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(exchange) = &mut self.0 else { return Poll::Pending };
        let outcome = ready!(exchange.poll(cx));
        let exchange = self.0.take().expect("it was polled just now");
        Poll::Ready(match outcome {
            Ok(head) => exchange.respond(head).map_err(|error| Box::new(Failed { error, again: None })),
            Err(error) => Err(Box::new(exchange.fail(error))),
        })
    }
}

impl Exchange<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<ResponseHead>> {
        loop {
            self.send(cx)?;
            match self.receive(cx)? {
                Received::Final(head) => return Poll::Ready(Ok(*head)),
                Received::Continue => {}
                Received::Nothing => return self.wait(cx),
            }
        }
    }

    /// Pushes the upload on. An error only when the client's side fails.
    fn send(&mut self, cx: &mut Context<'_>) -> Result<()> {
        if self.upload.is_complete() || self.broken.is_some() {
            return Ok(());
        }
        match self.upload.poll(&mut self.connection.transport, cx) {
            Poll::Ready(Err(Stopped::ByClient(error))) => Err(error),
            Poll::Ready(Err(Stopped::ByOrigin(error))) => {
                self.broken = Some(error);
                Ok(())
            }
            Poll::Ready(Ok(())) | Poll::Pending => Ok(()),
        }
    }

    fn receive(&mut self, cx: &mut Context<'_>) -> Result<Received> {
        loop {
            while let Some(head) = self.parse()? {
                if !head.status.is_informational() || head.status == StatusCode::SWITCHING_PROTOCOLS {
                    return Ok(Received::Final(Box::new(head)));
                }
                self.connection.input.advance(head.length);
                if self.take_interim(head)? {
                    return Ok(Received::Continue);
                }
            }
            match self.connection.poll_fill(cx) {
                Poll::Ready(Ok(0)) => return Err(self.closed(None)),
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => return Err(self.closed(Some(error))),
                Poll::Pending => return Ok(Received::Nothing),
            }
        }
    }

    fn parse(&mut self) -> Result<Option<ResponseHead>> {
        let input = &self.connection.input;
        let worth_it = self.seen == 0
            || input.len() >= LIMITS.head_size
            || http1::head_may_be_complete(input, self.seen);
        if input.is_empty() || !worth_it {
            self.seen = input.len();
            return Ok(None);
        }
        let head = http1::parse_response(input, self.terms.method, &LIMITS)
            .map_err(|error| error.within(self.terms.target))?;
        self.seen = if head.is_some() { 0 } else { input.len() };
        Ok(head)
    }

    /// True when the upload may go on now.
    fn take_interim(&mut self, head: ResponseHead) -> Result<bool> {
        self.interims += 1;
        if self.interims > MAX_INTERIM {
            let detail = format!("{}: more than {MAX_INTERIM} informational answers", self.terms.target);
            return Err(Error::new(Kind::MalformedResponse, detail));
        }
        if head.status == StatusCode::CONTINUE {
            // For the client it is the listener that says this, as soon as the content is asked for.
            self.upload.proceed();
            return Ok(true);
        }
        let mut fields = head.fields;
        rules::hop_by_hop::strip(&mut fields);
        self.terms.interim.push(InterimHead { status: head.status, fields });
        Ok(false)
    }

    /// Nothing goes now: runs the timer of whoever is to blame.
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<Result<ResponseHead>> {
        let sent_all = self.upload.is_complete() || self.broken.is_some();
        let progress = Progress { sent: self.upload.total(), waits_for_head: sent_all };
        if progress != self.progress {
            self.progress = progress;
            self.connection.timer.stop();
        }
        let Terms { timeouts, target, .. } = &self.terms;
        let (limit, what) = if sent_all {
            (timeouts.head, "no answer")
        } else if self.upload.is_blocked_by_origin() {
            (timeouts.body, "the request's content was not taken")
        } else {
            return Poll::Pending; // the listener watches over the client's pace
        };
        if self.connection.timer.poll(limit, cx).is_pending() {
            return Poll::Pending;
        }
        Poll::Ready(Err(Error::new(Kind::SourceTimeout, format!("{target}: {what} within {limit:?}"))))
    }

    fn closed(&mut self, error: Option<std::io::Error>) -> Error {
        let so_far = if self.connection.input.is_empty() {
            "before it answered"
        } else {
            "amid the head of its answer"
        };
        let detail = format!("{}: the origin closed the connection {so_far}", self.terms.target);
        let closed = Error::new(Kind::BrokeOff, detail);
        match error.or_else(|| self.broken.take()) {
            Some(cause) => closed.caused_by(cause),
            None => closed,
        }
    }

    /// RFC 9110 §9.2.2, RFC 9112 §9.3.1: again only on behalf of a connection that had been idle, and only what does no
    /// harm twice.
    fn fail(self, error: Error) -> Failed {
        let silent = error.kind() == Kind::BrokeOff && self.connection.input.is_empty() && self.interims == 0;
        let untouched = self.upload.total() == 0;
        let harmless = self.terms.method.is_idempotent() && self.upload.was_empty();
        let error = match (silent, untouched) {
            (true, true) => error.retry(Retry::Always),
            (true, false) => error.retry(Retry::IfIdempotent),
            (false, _) => error,
        };
        let may_again = silent && self.connection.was_used && (untouched || harmless);
        Failed { error, again: if may_again { self.upload.into_body() } else { None } }
    }

    fn respond(mut self, head: ResponseHead) -> Result<Response> {
        self.connection.timer.stop();
        self.connection.input.advance(head.length);
        if head.status == StatusCode::SWITCHING_PROTOCOLS {
            return upgrade::respond(*self.connection, head, &self.terms);
        }
        let ResponseHead { status, mut fields, framing, keep_alive, .. } = head;
        rules::hop_by_hop::strip(&mut fields);
        let is_reusable = keep_alive && self.terms.upgrade.is_none() && self.broken.is_none();
        let body = if let Some(content) = self.whole(framing) {
            if is_reusable && self.upload.is_complete() {
                self.connection.give_back();
            }
            Body::from(content)
        } else {
            let upload = (!self.upload.is_complete() && self.broken.is_none()).then_some(self.upload);
            let Terms { timeouts, target, .. } = self.terms;
            let target = Arc::clone(target);
            Body::stream(Answer::new(self.connection, framing, upload, is_reusable, timeouts.body, target))
        };
        Ok(Response { status, fields, body })
    }

    /// The content, if all of it is here already. Then the connection is free at once and nothing needs boxing.
    fn whole(&mut self, framing: Framing) -> Option<Bytes> {
        let length = match framing {
            Framing::Empty => 0,
            Framing::Length(length) => usize::try_from(length).ok()?,
            Framing::Chunked | Framing::UntilClose => return None,
        };
        let input = &mut self.connection.input;
        (input.len() >= length).then(|| input.split_to(length).freeze())
    }
}

enum Received {
    Final(Box<ResponseHead>),
    /// A `100`: the upload may go on.
    Continue,
    Nothing,
}
