//! Connection: one HTTP/1.1 connection to a target. Lies in the `pool` between requests; an exchange and then the
//! answer's body own it meanwhile. Dropping it closes it.

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::task::{Context, Poll};

use bytes::BytesMut;
use tokio::io::AsyncReadExt;
use tokio::time::Instant;

use super::pool::Slot;
use super::tether::Tether;
use super::transport::Transport;
use guard::Timer;

/// Bytes asked for at first in one read: most heads with a small body.
const SMALL_READ: usize = 8 * 1024;
/// Bytes asked for in one read at most, when the origin fills smaller ones.
const LARGE_READ: usize = 128 * 1024;
/// Connections of one core that may ask for more than that at first. Large reads save time only where content moves, and
/// what was read for a client that takes nothing stays: a thousand of those must not cost a thousand large buffers.
const MOST_WIDE: usize = 8;

/// The leave to ask for more; given back when dropped.
struct Wide;

thread_local! {
    static WIDE: Cell<usize> = const { Cell::new(0) };
}

impl Wide {
    fn get() -> Option<Wide> {
        let wide = WIDE.get();
        (wide < MOST_WIDE).then(|| {
            WIDE.set(wide + 1);
            Wide
        })
    }
}

impl Drop for Wide {
    fn drop(&mut self) {
        WIDE.set(WIDE.get() - 1);
    }
}

/// See the module.
pub(super) struct Connection {
    pub(super) transport: Transport,
    /// Read, not yet taken out.
    pub(super) input: BytesMut,
    pub(super) timer: Timer,
    /// True when it has served a request before, so that the origin may be closing it right now.
    pub(super) was_used: bool,
    pub(super) tether: Tether,
    pub(super) idle_since: Instant,
    /// Its place among the connections in use; none while it is idle.
    pub(super) slot: Option<Slot>,
    read_size: usize,
    wide: Option<Wide>,
}

impl Connection {
    pub(super) fn new(transport: Transport, slot: Slot, tether: Tether) -> Box<Self> {
        Box::new(Connection {
            transport,
            input: BytesMut::new(),
            timer: Timer::default(),
            was_used: false,
            tether,
            idle_since: Instant::now(),
            slot: Some(slot),
            read_size: SMALL_READ,
            wide: None,
        })
    }

    /// Reads once into `input`; zero bytes mean that the origin has closed its side.
    pub(super) fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        // Not for every few bytes: what the body's readers still hold of the buffer forces a new one.
        if self.input.capacity() - self.input.len() < self.read_size / 2 {
            self.input.reserve(self.read_size);
        }
        let room = self.input.capacity() - self.input.len();
        let read = pin!(self.transport.read_buf(&mut self.input));
        let result = read.poll(cx);
        if let Poll::Ready(Ok(length)) = result
            && length == room
        {
            self.wide = self.wide.take().or_else(Wide::get);
            if self.wide.is_some() {
                self.read_size = (self.read_size * 2).min(LARGE_READ);
            }
        }
        result
    }

    /// All that was read has been taken out: without room for the next read the buffer is of no more use here.
    pub(super) fn let_go(&mut self) {
        if self.input.is_empty() && self.input.capacity() < self.read_size / 2 {
            self.input = BytesMut::new();
        }
    }

    /// Gives the connection back for the next request, provided that nothing is left over of the last answer.
    pub(super) fn give_back(mut self: Box<Self>) {
        if !self.input.is_empty() {
            return;
        }
        if let Some(slot) = self.slot.take() {
            self.timer.stop();
            self.was_used = true;
            if self.read_size > SMALL_READ {
                self.read_size = SMALL_READ;
                self.input = BytesMut::new();
                self.wide = None;
            }
            slot.pool().keep(self);
        }
    }
}
