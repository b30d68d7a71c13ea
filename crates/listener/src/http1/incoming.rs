//! Incoming: a request's content as a body. Handed to the handler; reads from the client's connection when polled,
//! and only then, so that a slow origin slows the client down instead of filling memory.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Weak;
use std::task::{Context, Poll};

use ::http1::Decoded;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use message::{Duplex, Error, Kind};
use tokio::time::Instant;

use super::content::SharedContent;
use super::transport::Transport;

/// See the module.
pub(super) struct Incoming<IO> {
    /// Weak, so that a reader that hangs on to it does not keep the client's connection open.
    pub(super) transport: Weak<RefCell<Transport<IO>>>,
    pub(super) content: SharedContent,
}

impl<IO: Duplex> Body for Incoming<IO> {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let Some(transport) = self.transport.upgrade() else {
            return Poll::Ready(Some(Err(Error::new(Kind::ClientGone, "the client's connection is closed"))));
        };
        let mut content = self.content.borrow_mut();
        let mut transport = transport.borrow_mut();
        loop {
            match content.decode(&mut transport.input) {
                Ok(Decoded::Data(data)) => return Poll::Ready(Some(Ok(Frame::data(data)))),
                Ok(Decoded::Trailers(trailers)) => return Poll::Ready(Some(Ok(Frame::trailers(trailers)))),
                Ok(Decoded::Complete) => return Poll::Ready(None),
                Ok(Decoded::NeedMore) => {}
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
            if std::mem::take(&mut content.expects_continue) {
                transport.output.staged().extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
                if transport.poll_write(cx).is_pending() {
                    transport.wake_connection(cx.waker()); // it goes on writing
                }
            }
            match transport.poll_read_on(cx) {
                Poll::Ready(Ok(length)) if length > 0 => {}
                Poll::Ready(_) => {
                    transport.wake_connection(cx.waker());
                    content.fail(Error::new(Kind::ClientGone, "the client went away amid its content"));
                }
                Poll::Pending => {
                    content.waiting_since.get_or_insert_with(Instant::now);
                    content.reader = Some(cx.waker().clone());
                    transport.wake_connection(cx.waker()); // it sees to the timeout
                    return Poll::Pending;
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.content.borrow().is_complete()
    }

    fn size_hint(&self) -> SizeHint {
        self.content.borrow().decoder.remaining().map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// Nobody reads on: the connection, which may have left reading to this one, looks for itself from now on.
impl<IO> Drop for Incoming<IO> {
    fn drop(&mut self) {
        if let Ok(mut content) = self.content.try_borrow_mut() {
            content.waiting_since = None;
            content.reader = None;
        }
        if let Some(transport) = self.transport.upgrade()
            && let Ok(transport) = transport.try_borrow()
            && let Some(connection) = &transport.connection
        {
            connection.wake_by_ref();
        }
    }
}
