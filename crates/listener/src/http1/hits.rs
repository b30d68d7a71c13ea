//! Hits: bytes read → answers of fresh entries, one behind another, up to the first request that none answers.
//! Called by the connection with whatever it has read; no I/O in here, and nothing allocated on the way of a hit.

use std::borrow::Cow;

use ::http1::{Framing, HeadLimits, RequestHead, TargetForm, new_lines, normalize_authority, parse_request};
use bytes::Bytes;
use http::Method;
use message::{Error, Fields, RequestView, Scheme};

use super::Refusal;
use super::ending::Ending;
use super::exchange::Exchange;
use super::head::end_head;
use super::output::{COPIED, FLUSH};
use super::request;
use crate::Handler;
use crate::connection::ConnectionContext;

/// What became of the bytes.
pub(super) struct AnsweredHits {
    /// How many of them are done with.
    pub(super) consumed: usize,
    /// Content that follows the answers and was too long to be copied behind them.
    pub(super) content: Bytes,
    /// What the others are.
    pub(super) rest: Rest,
}

/// What the bytes that were not consumed are, and what to do next.
pub(super) enum Rest {
    /// Perhaps more requests; to be looked at once the answers have been written.
    More,
    /// Nothing, or the beginning of a head.
    Partial,
    /// Of no interest: the connection ends with the last answer.
    Close(Ending),
    /// What follows a request that has to go the whole way.
    Exchange(Box<Exchange>),
    /// A request that is refused, and nothing behind it counts.
    Refuse(Box<Refusal>),
}

/// Appends the answers to `out`, which is written before anything else is.
pub(super) fn answer_hits<H: Handler>(
    context: &ConnectionContext<H>,
    limits: &HeadLimits,
    input: &[u8],
    out: &mut Vec<u8>,
) -> AnsweredHits {
    let mut consumed = 0;
    let mut content = Bytes::new();
    let rest = loop {
        consumed += leading_empty_lines(&input[consumed..]);
        let rest = &input[consumed..];
        if rest.is_empty() {
            break Rest::Partial;
        }
        let mut lines = new_lines();
        let head = match parse_request(rest, &mut lines, limits) {
            Ok(Some(head)) => head,
            Ok(None) => break Rest::Partial,
            Err(error) => break refuse(error, false),
        };
        consumed += head.length;
        let scheme = context.scheme_of(Fields::Wire(head.fields));
        let authority = normalize_authority(head.authority(), scheme);
        let target = target_of(&head);
        let Some(found) = answer_fresh(context, &head, scheme, &authority, &target, out) else {
            let is_head = head.method == Method::HEAD;
            break match request::accept(context, head, scheme, authority, target) {
                Ok(exchange) => Rest::Exchange(exchange),
                Err(error) => refuse(error, is_head),
            };
        };
        let is_draining = context.drain.is_draining();
        let closes = !head.keep_alive || is_draining;
        end_head(out, head.version, closes);
        if found.len() <= COPIED {
            out.extend_from_slice(&found);
        } else {
            content = found;
        }
        if closes {
            break Rest::Close(if head.keep_alive { Ending::Linger } else { Ending::Close });
        }
        if !content.is_empty() || out.len() >= FLUSH {
            break Rest::More;
        }
    };
    AnsweredHits { consumed, content, rest }
}

fn refuse(error: Error, is_head: bool) -> Rest {
    Rest::Refuse(Box::new(Refusal { error, is_head }))
}

/// Empty lines before a request are skipped: old clients send one behind their content (RFC 9112 §2.2).
fn leading_empty_lines(input: &[u8]) -> usize {
    let mut length = 0;
    while input[length..].starts_with(b"\r\n") {
        length += 2;
    }
    length
}

/// Asks for a fresh entry, if the request may be answered by one at all.
fn answer_fresh<H: Handler>(
    context: &ConnectionContext<H>,
    head: &RequestHead<'_>,
    scheme: Scheme,
    authority: &str,
    target: &str,
    out: &mut Vec<u8>,
) -> Option<Bytes> {
    let is_read = head.method == Method::GET || head.method == Method::HEAD;
    let has_content = !matches!(head.framing, Framing::Empty | Framing::Length(0));
    if !is_read || has_content || head.upgrade {
        return None;
    }
    let view = RequestView {
        method: &head.method,
        scheme,
        authority,
        target,
        fields: Fields::Wire(head.fields),
        client: None,
    };
    context.handler.answer_fresh(&view, &context.client, out)
}

/// Path and query as they would stand in an origin-form target (RFC 9112 §3.2.1, §3.2.4).
fn target_of<'a>(head: &RequestHead<'a>) -> Cow<'a, str> {
    match head.form {
        TargetForm::Absolute { path: "", .. } if head.method == Method::OPTIONS => Cow::Borrowed("*"),
        TargetForm::Absolute { path: "", .. } => Cow::Borrowed("/"),
        TargetForm::Absolute { path, .. } if path.starts_with('?') => Cow::Owned(format!("/{path}")),
        TargetForm::Absolute { path, .. } => Cow::Borrowed(path),
        TargetForm::Origin | TargetForm::Authority | TargetForm::Asterisk => Cow::Borrowed(head.target),
    }
}
