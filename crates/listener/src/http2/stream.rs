//! Stream: one request and its answer. A task of its own, ended with its connection; dropping the handler's future
//! tells the rooms below that the client left.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use h2::RecvStream;
use h2::server::SendResponse;
use http::{Method, StatusCode};
use message::{Body, Error, Interim, InterimHead, Kind, Request, Response};

use super::request;
use super::response::{Outgoing, remove_connection_fields};
use super::sending::Sending;
use crate::connection::ConnectionContext;
use crate::handler::Handler;

/// How far an answer is; shared with the request's content.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress(Rc<Cell<bool>>);

impl Progress {
    /// Whether the head of the answer has been sent.
    pub(super) fn is_answered(&self) -> bool {
        self.0.get()
    }
}

/// Answers one request.
pub(super) async fn serve<H: Handler>(
    request: http::Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    connection: Rc<ConnectionContext<H>>,
) {
    let (head, content) = request.into_parts();
    let method = head.method.clone();
    let progress = Progress::default();
    let response = match request::read(head, content, &connection, &progress) {
        Ok(request) => answer(request, &mut respond, &*connection.handler).await,
        Err(error) => Some(connection.handler.refuse(&connection.client, &error)),
    };
    let Some(mut response) = response else { return };
    if is_switch(&response) {
        let error = Error::new(Kind::Internal, "an HTTP/2 stream cannot switch protocols");
        response = connection.handler.refuse(&connection.client, &error);
    }
    send(response, &method, &mut respond, &connection, &progress).await;
}

/// The handler's answer; informational ones are passed on as they come. `None`: the client left before.
async fn answer<H: Handler>(
    request: Request,
    respond: &mut SendResponse<Bytes>,
    handler: &H,
) -> Option<Response> {
    let interim = request.interim.clone();
    let mut answer = pin!(handler.answer(request));
    poll_fn(|cx| {
        if respond.poll_reset(cx).is_ready() {
            return Poll::Ready(None);
        }
        let answered = answer.as_mut().poll(cx);
        pass_on(&interim, respond, cx);
        answered.map(Some)
    })
    .await
}

fn pass_on(interim: &Interim, respond: &mut SendResponse<Bytes>, cx: &mut Context<'_>) {
    while let Some(InterimHead { status, mut fields }) = interim.take(cx.waker()) {
        if !status.is_informational() || status == StatusCode::SWITCHING_PROTOCOLS {
            continue;
        }
        remove_connection_fields(&mut fields);
        let mut head = http::Response::new(());
        *head.status_mut() = status;
        *head.headers_mut() = fields;
        // fails when the client is gone, as the next poll will tell
        let _ = respond.send_informational(head);
    }
}

/// Answers that belong to a connection of their own.
fn is_switch(response: &Response) -> bool {
    response.status.is_informational() || matches!(response.body, Body::Tunnel(_))
}

/// Sends the answer. Content of the request that nobody wants any more is given up with `RST_STREAM(NO_ERROR)` behind
/// it (RFC 9113 §8.1), by dropping the stream.
async fn send<H: Handler>(
    response: Response,
    method: &Method,
    respond: &mut SendResponse<Bytes>,
    connection: &ConnectionContext<H>,
    progress: &Progress,
) {
    let Outgoing { head, body, length } = Outgoing::new(response, method);
    let ends = body.is_empty() && length.is_none_or(|length| length == 0);
    let Ok(stream) = respond.send_response(head, ends) else { return };
    progress.0.set(true);
    if ends {
        return;
    }
    let mut sending = Sending { stream, connection };
    let reason = sending.send(body, length).await.err().and_then(super::sending::Broken::reason);
    if let Some(reason) = reason {
        sending.stream.send_reset(reason);
    }
}
