//! Upgrade: after a `101` the connection leaves HTTP (RFC 9110 §7.8). In: the connection and the head that says so.
//! Out: a response whose body is the tunnel. Called by `exchange`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::HeaderMap;
use http::header::{CONTENT_LENGTH, UPGRADE};
use http1::ResponseHead;
use message::{Body, Error, Kind, Response, Result, Tunnel};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::connection::Connection;
use super::exchange::Terms;
use super::outgoing::members;
use super::pool::Slot;
use super::transport::Transport;

/// Hands the connection over, if the origin switches to something that the client asked for.
pub(super) fn respond(connection: Connection, head: ResponseHead, terms: &Terms<'_>) -> Result<Response> {
    let Some(protocol) = head.fields.get(UPGRADE).filter(|_| was_asked_for(&head.fields, terms)).cloned()
    else {
        let detail = format!("{}: the origin switched to a protocol that nobody asked for", terms.target);
        return Err(Error::new(Kind::MalformedResponse, detail));
    };
    let mut fields = head.fields;
    rules::hop_by_hop::strip(&mut fields);
    fields.remove(CONTENT_LENGTH);
    fields.insert(UPGRADE, protocol);
    let Connection { transport, mut input, slot, .. } = connection;
    let tunnel = Tunnel { early: input.split().freeze(), io: Box::new(Tunneled { transport, _slot: slot }) };
    Ok(Response { status: head.status, fields, body: Body::Tunnel(tunnel) })
}

/// Every protocol that the origin names must be among those that the client named.
fn was_asked_for(fields: &HeaderMap, terms: &Terms<'_>) -> bool {
    let Some(asked) = terms.upgrade else { return false };
    let was_asked = |protocol: &[u8]| {
        asked
            .as_bytes()
            .split(|&byte| byte == b',')
            .any(|asked| asked.trim_ascii().eq_ignore_ascii_case(protocol))
    };
    let mut named = members(fields, &UPGRADE).peekable();
    named.peek().is_some() && named.all(was_asked)
}

/// The connection, which counts as one in use until it ends.
struct Tunneled {
    transport: Transport,
    _slot: Option<Slot>,
}

impl AsyncRead for Tunneled {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.transport).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Tunneled {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.transport).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.transport).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.transport).poll_shutdown(cx)
    }
}
