//! Tunnel: after a `101 Switching Protocols` the bytes of both sides are copied as they come (RFC 9110 §7.8).

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};

use http::HeaderMap;
use message::{Duplex, Tunnel};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional};
use tokio::time::timeout;

use super::Connection;
use super::ending::Ending;
use super::exchange::Gone;
use super::head::write_switching_head;
use super::transport::Transport;
use crate::Handler;

impl<H: Handler, IO: Duplex + 'static> Connection<H, IO> {
    /// Switches protocols and copies until both sides have closed, or neither has sent anything for one to two times
    /// the idle timeout. Never `Ok`: the connection left HTTP.
    pub(super) async fn tunnel(&mut self, fields: HeaderMap, tunnel: Tunnel) -> Result<(), Ending> {
        {
            let mut transport = self.transport.borrow_mut();
            write_switching_head(transport.output.staged(), fields);
            transport.output.add(tunnel.early, b"");
        }
        let written = poll_fn(|cx| match self.look_after(None, true, cx) {
            Ok(true) => Poll::Ready(Ok(())),
            Ok(false) => Poll::Pending,
            Err(gone) => Poll::Ready(Err(gone)),
        });
        if let Err(Gone) = written.await {
            return Err(Ending::Drop);
        }
        drop(self.transport.borrow_mut().output.release());
        let is_active = Rc::new(Cell::new(false));
        let mut client = Switched { transport: Rc::clone(&self.transport), is_active: Rc::clone(&is_active) };
        let mut origin = tunnel.io;
        let mut copying = pin!(copy_bidirectional(&mut client, &mut origin));
        while timeout(self.context.limits.idle_timeout, copying.as_mut()).await.is_err() && is_active.take() {
        }
        Err(Ending::Drop)
    }
}

/// The client's side of a tunnel; all of the tunnel's bytes pass here, so it knows whether there are any.
struct Switched<IO> {
    transport: Rc<RefCell<Transport<IO>>>,
    is_active: Rc<Cell<bool>>,
}

/// What the client sent too early comes first.
impl<IO: Duplex> AsyncRead for Switched<IO> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut transport = self.transport.borrow_mut();
        let early = transport.input.len().min(room.remaining());
        let read = if early > 0 {
            room.put_slice(&transport.input[..early]);
            transport.consume(early);
            Poll::Ready(Ok(()))
        } else {
            Pin::new(&mut transport.io).poll_read(cx, room)
        };
        self.note(read)
    }
}

impl<IO: Duplex> AsyncWrite for Switched<IO> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.note(Pin::new(&mut self.transport.borrow_mut().io).poll_write(cx, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.transport.borrow_mut().io).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.transport.borrow_mut().io).poll_shutdown(cx)
    }
}

impl<IO> Switched<IO> {
    /// Notes that something moved.
    fn note<T>(&self, moved: Poll<T>) -> Poll<T> {
        if moved.is_ready() {
            self.is_active.set(true);
        }
        moved
    }
}
