//! Respond: a response → bytes to the client, frame by frame as its body yields them.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use ::http1::{Decoded, Encoder, Framing};
use http::{HeaderMap, StatusCode};
use http_body::{Body as _, Frame};
use message::{Body, Duplex, Error, Kind, Response, Tunnel};
use tokio::time::Instant;

use super::Connection;
use super::content::{Content, SharedContent};
use super::ending::Ending;
use super::head::{Asked, write_head};
use super::transport::Transport;
use crate::Handler;

/// How long content that nobody read is taken off the connection.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(1);

/// What a response turned out to be.
enum Settled {
    Response(Response),
    Tunnel(HeaderMap, Tunnel),
}

/// A body on its way to the client.
struct Sending {
    /// `None` once it has ended.
    body: Option<Body>,
    encoder: Encoder,
}

/// Why a response was not sent to its end.
enum Broken {
    /// The client went away.
    Client,
    /// The body failed, or was not as long as its head said.
    Body,
}

impl<H: Handler, IO: Duplex + 'static> Connection<H, IO> {
    /// Sends a response. `Ok`: the connection may be used for another request.
    pub(super) async fn respond(
        &mut self,
        response: Response,
        asked: Asked,
        content: Option<&SharedContent>,
    ) -> Result<(), Ending> {
        let mut response = match self.settle(response, asked) {
            Settled::Response(response) => response,
            Settled::Tunnel(fields, tunnel) => return self.tunnel(fields, tunnel).await,
        };
        let framing = asked.framing(&response);
        let ending = self.ending_after(asked, framing, content);
        write_head(
            self.transport.borrow_mut().output.staged(),
            &mut response,
            framing,
            asked,
            ending.is_some(),
        );
        let body = std::mem::take(&mut response.body);
        let mut sending =
            Sending { body: (framing != Framing::Empty).then_some(body), encoder: Encoder::from(framing) };
        match poll_fn(|cx| self.poll_send(&mut sending, content, cx)).await {
            Ok(()) => {}
            Err(Broken::Body) if framing == Framing::UntilClose => return Err(Ending::Reset),
            Err(Broken::Body | Broken::Client) => return Err(Ending::Drop),
        }
        match (ending, content) {
            (Some(ending), _) => Err(ending),
            (None, Some(content)) => self.discard(content).await,
            (None, None) => Ok(()),
        }
    }

    /// Sorts out answers that switch protocols. Where the client did not offer that, it is the origin's fault.
    fn settle(&self, mut response: Response, asked: Asked) -> Settled {
        match std::mem::take(&mut response.body) {
            Body::Tunnel(tunnel) if asked.upgrade && response.status == StatusCode::SWITCHING_PROTOCOLS => {
                Settled::Tunnel(response.fields, tunnel)
            }
            body if !matches!(body, Body::Tunnel(_)) && !response.status.is_informational() => {
                response.body = body;
                Settled::Response(response)
            }
            _ => {
                let error = Error::new(Kind::MalformedResponse, "the origin switched protocols unasked");
                Settled::Response(self.context.handler.refuse(&self.context.client, &error))
            }
        }
    }

    /// Whether, and how, the connection ends with this answer.
    fn ending_after(
        &self,
        asked: Asked,
        framing: Framing,
        content: Option<&SharedContent>,
    ) -> Option<Ending> {
        let keeps = asked.keep_alive && framing != Framing::UntilClose;
        if content.is_some_and(|content| content.borrow_mut().outlives_the_answer()) {
            Some(Ending::Linger)
        } else if !keeps {
            Some(Ending::Close)
        } else if self.context.drain.is_draining() {
            Some(Ending::Linger)
        } else {
            None
        }
    }

    /// Moves frames from the body to the client until there are no more.
    fn poll_send(
        &mut self,
        sending: &mut Sending,
        content: Option<&SharedContent>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Broken>> {
        loop {
            let filled = self.poll_fill(sending, cx);
            let written = self.look_after(content, true, cx);
            if let Poll::Ready(Err(_)) = filled {
                return Poll::Ready(Err(Broken::Body));
            }
            match written {
                Err(_) => return Poll::Ready(Err(Broken::Client)),
                Ok(true) if sending.body.is_none() => return Poll::Ready(Ok(())),
                Ok(true) if filled.is_ready() => {}
                Ok(_) => return Poll::Pending,
            }
        }
    }

    /// Adds frames to the output while they are ready and it has room; pending when the body is.
    fn poll_fill(&mut self, sending: &mut Sending, cx: &mut Context<'_>) -> Poll<message::Result<()>> {
        while let Some(body) = &mut sending.body
            && self.transport.borrow().output.has_room()
        {
            // Not while the transport is borrowed: the body may be made of the request's content.
            let frame = ready!(Pin::new(body).poll_frame(cx)).transpose()?;
            let mut transport = self.transport.borrow_mut();
            match frame.map(Frame::into_data) {
                Some(Ok(data)) if data.is_empty() => {}
                Some(Ok(data)) => {
                    sending.encoder.chunk_prefix(data.len(), transport.output.staged())?;
                    transport.output.add(data, sending.encoder.chunk_suffix());
                }
                Some(Err(frame)) => {
                    if let Ok(trailers) = frame.into_trailers() {
                        sending.encoder.finish(Some(&trailers), transport.output.staged())?;
                        drop(transport);
                        sending.body = None;
                    }
                }
                None => {
                    sending.encoder.finish(None, transport.output.staged())?;
                    drop(transport);
                    sending.body = None;
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Takes content that nobody read off the connection, so that the next request can be found behind it.
    async fn discard(&mut self, content: &SharedContent) -> Result<(), Ending> {
        let deadline = Instant::now() + DISCARD_TIMEOUT;
        poll_fn(|cx| {
            let discarded = poll_discard(&mut content.borrow_mut(), &mut self.transport.borrow_mut(), cx);
            if discarded.is_ready() {
                return discarded;
            }
            self.timer.poll(deadline, cx).map(|()| Err(Ending::Close))
        })
        .await
    }
}

fn poll_discard<IO: Duplex>(
    content: &mut Content,
    transport: &mut Transport<IO>,
    cx: &mut Context<'_>,
) -> Poll<Result<(), Ending>> {
    loop {
        match content.decode(&mut transport.input) {
            Ok(Decoded::Complete) => return Poll::Ready(Ok(())),
            Ok(Decoded::Data(_) | Decoded::Trailers(_)) => {}
            Ok(Decoded::NeedMore) => match ready!(transport.poll_read_on(cx)) {
                Ok(length) if length > 0 => {}
                _ => return Poll::Ready(Err(Ending::Drop)),
            },
            Err(_) => return Poll::Ready(Err(Ending::Drop)),
        }
    }
}
