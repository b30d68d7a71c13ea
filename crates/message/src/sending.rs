//! Sending: when the content of a request has been handed on, so that whoever limits the time of a call does not count the time
//! that its client takes. Made by `Ask::content_sent`.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

use crate::{Body, Result};

/// Ready once nothing of the content is to come any more, or nobody wants it.
#[derive(Debug)]
pub struct Sent(Rc<RefCell<State>>);

#[derive(Debug, Default)]
struct State {
    is_over: bool,
    waiting: Option<Waker>,
}

/// Content on its way, watched.
struct Watched {
    inner: Body,
    state: Rc<RefCell<State>>,
}

impl Body {
    /// The same, and when it has been handed on; `None`: there is nothing to wait for.
    pub(crate) fn watched(self) -> (Body, Option<Sent>) {
        if !self.is_arriving() {
            return (self, None);
        }
        let state = Rc::new(RefCell::new(State::default()));
        let sent = Sent(Rc::clone(&state));
        (Body::stream(Watched { inner: self, state }), Some(sent))
    }
}

impl Watched {
    fn end(&self) {
        let mut state = self.state.borrow_mut();
        state.is_over = true;
        if let Some(waiting) = state.waiting.take() {
            waiting.wake();
        }
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = crate::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>>>> {
        let frame = std::task::ready!(Pin::new(&mut self.inner).poll_frame(cx));
        // Whoever knows the length may stop reading at the last byte, without asking for the end.
        if !matches!(frame, Some(Ok(_))) || self.inner.is_empty() {
            self.end();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.end();
    }
}

impl Future for Sent {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.borrow_mut();
        if state.is_over {
            return Poll::Ready(());
        }
        state.waiting = Some(cx.waker().clone());
        Poll::Pending
    }
}
