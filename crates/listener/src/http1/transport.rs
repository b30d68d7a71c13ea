//! Transport: a client's byte stream with what was read from it too early and what is still to be written to it.
//!
//! Owned by the connection, shared with the content of the request under way (`incoming`), which reads from it too.
//! Both may live in different tasks, and a stream wakes only the last that polled it; so whoever learns something
//! wakes the other.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker, ready};

use bytes::{Buf, BytesMut};
use message::Duplex;
use std::future::Future;
use tokio::io::{AsyncReadExt, ReadBuf};
use tokio::time::Instant;

use super::output::Output;

/// Room made for content read straight into `input`.
const ROOM: usize = 32 * 1024;
/// With less room than this left, more is made.
const LEAST_ROOM: usize = 4 * 1024;

/// See the module.
pub(super) struct Transport<IO> {
    pub(super) io: IO,
    /// Read and not yet consumed.
    pub(super) input: BytesMut,
    /// To be written.
    pub(super) output: Output,
    /// Since when the client has taken nothing of `output`.
    pub(super) stalled_since: Option<Instant>,
    /// The client has closed its side: nothing more can be read.
    pub(super) is_half_closed: bool,
    /// Whether something was written since, so that its system says if both sides are closed.
    is_asked: bool,
    /// Wakes the connection's task while a request is under way.
    pub(super) connection: Option<Waker>,
    /// Written, but perhaps still held back by TLS.
    unflushed: bool,
}

impl<IO: Duplex> Transport<IO> {
    pub(super) fn new(io: IO, input: BytesMut) -> Self {
        Transport {
            io,
            input,
            output: Output::default(),
            stalled_since: None,
            is_half_closed: false,
            is_asked: false,
            connection: None,
            unflushed: false,
        }
    }

    /// Reads into `room`. Zero bytes: the client has closed its side.
    pub(super) fn poll_read(&mut self, room: &mut [u8], cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut room = ReadBuf::new(room);
        ready!(Pin::new(&mut self.io).poll_read(cx, &mut room))?;
        Poll::Ready(Ok(room.filled().len()))
    }

    /// Reads behind what `input` holds, so that content need not be copied.
    pub(super) fn poll_read_on(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.input.capacity() - self.input.len() < LEAST_ROOM {
            self.input.reserve(ROOM);
        }
        pin!(self.io.read_buf(&mut self.input)).poll(cx)
    }

    /// Whether the client has closed its side and nobody has asked yet whether it is still there; from now on, somebody has.
    pub(super) fn has_to_be_asked(&mut self) -> bool {
        self.is_half_closed && self.output.is_empty() && !std::mem::replace(&mut self.is_asked, true)
    }

    /// Forgets the first `length` bytes of `input`, and its memory when nothing is left.
    pub(super) fn consume(&mut self, length: usize) {
        self.input.advance(length);
        self.release_input();
    }

    /// Lets go of the memory of an empty `input`.
    pub(super) fn release_input(&mut self) {
        if self.input.is_empty() {
            self.input = BytesMut::new();
        }
    }

    /// Whether [`Transport::poll_write`] has something to do.
    pub(super) fn is_writing(&self) -> bool {
        self.unflushed || !self.output.is_empty()
    }

    /// Writes all of `output`; ready when it has left.
    pub(super) fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut has_moved = false;
        while !self.output.is_empty() {
            match self.output.poll_write(Pin::new(&mut self.io), cx) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(length)) => {
                    self.output.advance(length);
                    self.unflushed = true;
                    has_moved = true;
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return self.stall(has_moved),
            }
        }
        if self.unflushed {
            match Pin::new(&mut self.io).poll_flush(cx) {
                Poll::Ready(flushed) => flushed?,
                Poll::Pending => return self.stall(has_moved),
            }
        }
        self.unflushed = false;
        self.stalled_since = None;
        Poll::Ready(Ok(()))
    }

    fn stall<T>(&mut self, has_moved: bool) -> Poll<T> {
        if has_moved || self.stalled_since.is_none() {
            self.stalled_since = Some(Instant::now());
            self.output.settle();
        }
        Poll::Pending
    }

    /// Remembers the connection's task.
    pub(super) fn remember(&mut self, waker: &Waker) {
        match &mut self.connection {
            Some(known) => known.clone_from(waker),
            unknown => *unknown = Some(waker.clone()),
        }
    }

    /// Wakes the connection's task, unless it is the one that runs right now.
    pub(super) fn wake_connection(&self, running: &Waker) {
        if let Some(connection) = self.connection.as_ref().filter(|connection| !connection.will_wake(running))
        {
            connection.wake_by_ref();
        }
    }
}
