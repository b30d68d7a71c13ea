//! Exchange over HTTP/2: one request and the head of its answer on a stream of a shared connection. In: a session and
//! the request. Out: a response whose body owns the stream, or a failure that says whether the request may be sent
//! again. Called by `origin`.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use h2::client::ResponseFuture;
use h2::{Reason, RecvStream};
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, Method, StatusCode};
use message::{Body, Error, Interim, InterimHead, Kind, Response, Result, Retry};

use super::exchange::{Failed, MAX_INTERIM};
use super::http2_answer::Http2Answer;
use super::http2_session::{Session, Stream};
use super::http2_upload::{Http2Stopped, Http2Upload};
use super::outgoing::Outgoing;
use super::shared_origin::Target;
use guard::Timer;

/// Sends the request and waits for the final head.
pub(super) async fn exchange(
    session: &Rc<Session>,
    outgoing: &mut Outgoing,
    plan: &plan::HttpSource,
    target: &Target,
) -> std::result::Result<Response, Box<Failed>> {
    let failed = |error, again| Box::new(Failed { error, again });
    let host = outgoing.host(&plan.host, target);
    let head = outgoing.http2_head(target.plan.scheme, host).map_err(|error| failed(error, None))?;
    let body = std::mem::take(&mut outgoing.body);
    let unsent = |error: Option<h2::Error>, body| {
        session.retire();
        let detail = format!("{}: the HTTP/2 connection was closing", target.name);
        let unsent = Error::new(Kind::BrokeOff, detail).retry(Retry::Always);
        failed(error.into_iter().fold(unsent, Error::caused_by), Some(body))
    };
    let Some((mut sender, stream)) = session.enter() else { return Err(unsent(None, body)) };
    if let Err(error) = poll_fn(|cx| sender.poll_ready(cx)).await {
        return Err(unsent(Some(error), body));
    }
    let (answer, upload) = match sender.send_request(head, body.is_empty()) {
        Ok(sent) => sent,
        Err(error) if error.is_go_away() || error.is_io() => return Err(unsent(Some(error), body)),
        Err(error) => {
            // The client reads it, so it does not name the target.
            let refused = Error::new(Kind::MalformedRequest, "the request cannot be sent over HTTP/2");
            return Err(failed(refused.caused_by(error), None));
        }
    };
    let mut exchange = Exchange {
        session,
        stream,
        answer,
        upload: Http2Upload::new(upload, body, outgoing.expects_continue),
        is_broken: false,
        interims: 0,
        timer: Timer::default(),
        progress: (0, false),
        method: outgoing.method(),
        interim: &outgoing.interim,
        plan,
        target,
    };
    let outcome = poll_fn(|cx| exchange.poll(cx)).await;
    match outcome {
        Ok(answer) => exchange.respond(answer).map_err(|error| failed(error, None)),
        Err(fault) => Err(Box::new(exchange.fail(fault))),
    }
}

struct Exchange<'a> {
    session: &'a Rc<Session>,
    stream: Stream,
    answer: ResponseFuture,
    upload: Http2Upload,
    /// The origin does not take the request any more.
    is_broken: bool,
    interims: u32,
    timer: Timer,
    /// What the timer is running for: bytes sent, and whether that is all.
    progress: (u64, bool),
    method: &'a Method,
    interim: &'a Interim,
    plan: &'a plan::HttpSource,
    target: &'a Target,
}

enum Fault {
    Ours(Error),
    Http2(h2::Error),
}

impl Exchange<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<std::result::Result<http::Response<RecvStream>, Fault>> {
        loop {
            self.send(cx).map_err(Fault::Ours)?;
            match self.answer.poll_informational(cx) {
                Poll::Ready(Some(Ok(head))) => self.take_interim(head).map_err(Fault::Ours)?,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Err(Fault::Http2(error))),
                Poll::Ready(None) => match Pin::new(&mut self.answer).poll(cx) {
                    Poll::Ready(answer) => return Poll::Ready(answer.map_err(Fault::Http2)),
                    Poll::Pending => break,
                },
                Poll::Pending => break,
            }
        }
        self.wait(cx).map(|error| Err(Fault::Ours(error)))
    }

    fn send(&mut self, cx: &mut Context<'_>) -> Result<()> {
        if !self.is_broken && !self.upload.is_complete() {
            match self.upload.poll(cx) {
                Poll::Ready(Err(Http2Stopped::ByClient(error))) => return Err(error),
                Poll::Ready(Err(Http2Stopped::ByOrigin)) => self.is_broken = true,
                Poll::Ready(Ok(())) | Poll::Pending => {}
            }
        }
        Ok(())
    }

    fn take_interim(&mut self, head: http::Response<()>) -> Result<()> {
        self.interims += 1;
        let fault = |what| Err(Error::new(Kind::MalformedResponse, format!("{}: {what}", self.target.name)));
        if self.interims > MAX_INTERIM {
            return fault("too many informational answers");
        }
        match head.status() {
            StatusCode::CONTINUE => self.upload.proceed(),
            StatusCode::SWITCHING_PROTOCOLS => return fault("101 does not exist in HTTP/2"),
            status => {
                let mut fields = head.into_parts().0.headers;
                rules::hop_by_hop::strip(&mut fields);
                self.interim.push(InterimHead { status, fields });
            }
        }
        Ok(())
    }

    /// Nothing goes now: runs the timer of whoever is to blame.
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        let sent_all = self.upload.is_complete() || self.is_broken;
        let progress = (self.upload.total(), sent_all);
        if progress != self.progress {
            self.progress = progress;
            self.timer.stop();
        }
        let (limit, what) = if sent_all {
            (self.plan.timeouts.head, "no answer")
        } else if self.upload.is_blocked_by_origin() {
            (self.plan.timeouts.body, "the request's content was not taken")
        } else {
            return Poll::Pending;
        };
        self.timer.poll(limit, cx).map(|()| {
            Error::new(Kind::SourceTimeout, format!("{}: {what} within {limit:?}", self.target.name))
        })
    }

    /// Again only what the origin says it has not touched (RFC 9113 §8.7), and on behalf of a connection that had been
    /// idle, what does no harm twice.
    fn fail(self, fault: Fault) -> Failed {
        let error = match fault {
            Fault::Ours(error) => return Failed { error, again: None },
            Fault::Http2(error) => error,
        };
        let untouched = is_untouched(&error);
        let is_over = error.is_io() || error.is_go_away();
        if is_over {
            self.session.retire();
        }
        let harmless = self.method.is_idempotent() && self.upload.was_empty();
        let silent = self.interims == 0 && is_over && error.is_remote() | error.is_io();
        let again = untouched || (silent && harmless && self.session.was_used());
        let error = described(&self.target.name, error).retry(match (untouched, silent) {
            (true, _) => Retry::Always,
            (false, true) => Retry::IfIdempotent,
            (false, false) => Retry::Never,
        });
        Failed { error, again: if again { self.upload.into_body() } else { None } }
    }

    fn respond(self, answer: http::Response<RecvStream>) -> Result<Response> {
        self.session.answered();
        let (head, content) = answer.into_parts();
        let (status, mut fields) = (head.status, head.headers);
        if status.is_informational() {
            let detail = format!("{}: {status} is no final answer", self.target.name);
            return Err(Error::new(Kind::MalformedResponse, detail));
        }
        rules::hop_by_hop::strip(&mut fields);
        let length = content_length(&fields, &self.target.name)?;
        let has_no_content = *self.method == Method::HEAD || status == StatusCode::NOT_MODIFIED;
        if status == StatusCode::NO_CONTENT || (length.is_some() && !has_no_content) {
            fields.remove(CONTENT_LENGTH);
        }
        let body = if content.is_end_stream() {
            Body::Empty
        } else {
            let upload = (!self.is_broken && !self.upload.is_complete()).then_some(self.upload);
            let length = if has_no_content { None } else { length };
            let limit = self.plan.timeouts.body;
            Body::stream(Http2Answer::new(
                content,
                self.stream,
                upload,
                length,
                limit,
                Rc::from(&*self.target.name),
            ))
        };
        Ok(Response { status, fields, body })
    }
}

/// One decimal number, or several times the same.
fn content_length(fields: &HeaderMap, target: &str) -> Result<Option<u64>> {
    let mut length = None;
    for value in fields.get_all(CONTENT_LENGTH) {
        let digits = value.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let number = digits.and_then(|digits| digits.parse::<u64>().ok());
        if number.is_none() || length.is_some_and(|length| Some(length) != number) {
            let detail = format!("{target}: Content-Length is not one decimal number");
            return Err(Error::new(Kind::MalformedResponse, detail));
        }
        length = number;
    }
    Ok(length)
}

/// Whether the origin says that it has done nothing with the request (RFC 9113 §6.8, §8.7).
fn is_untouched(error: &h2::Error) -> bool {
    // The library gives a remote GOAWAY as the error of those streams only that lie beyond the last one processed.
    error.is_remote() && (error.is_go_away() || error.reason() == Some(Reason::REFUSED_STREAM))
}

/// What went wrong on a stream, in our words.
pub(super) fn described(target: &str, error: h2::Error) -> Error {
    let (kind, what) = if error.is_library() {
        (Kind::MalformedResponse, "the answer breaks the rules of HTTP/2")
    } else if error.is_reset() {
        (Kind::BrokeOff, "the origin reset the stream")
    } else {
        (Kind::BrokeOff, "the origin closed the HTTP/2 connection")
    };
    Error::new(kind, format!("{target}: {what}")).caused_by(error)
}
