//! Interim: the way of informational answers (1xx) from a source back to the client's connection.
//!
//! A source pushes heads while its caller awaits the final answer; the listener, which polls that future, takes
//! them out after each poll and writes them. Both ends live on one core.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Waker;

use http::{HeaderMap, StatusCode};

/// One informational answer: a status of 1xx, not 101, and its fields.
#[derive(Debug)]
pub struct InterimHead {
    /// 100, 102, 103 or one nobody knows yet.
    pub status: StatusCode,
    /// Its fields, without hop-by-hop ones.
    pub fields: HeaderMap,
}

/// A short queue of informational answers; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Interim(Rc<RefCell<Queue>>);

#[derive(Debug, Default)]
struct Queue {
    heads: VecDeque<InterimHead>,
    reader: Option<Waker>,
}

/// More than these are dropped: they are hints, and a flood of them must not fill memory.
const LIMIT: usize = 16;

impl Interim {
    /// Called by the source that received the head.
    pub fn push(&self, head: InterimHead) {
        let mut queue = self.0.borrow_mut();
        if queue.heads.len() < LIMIT {
            queue.heads.push_back(head);
            if let Some(reader) = queue.reader.take() {
                reader.wake();
            }
        }
    }

    /// Called by the listener; `waker` is woken at the next push.
    pub fn take(&self, waker: &Waker) -> Option<InterimHead> {
        let mut queue = self.0.borrow_mut();
        let head = queue.heads.pop_front();
        if head.is_none() {
            queue.reader = Some(waker.clone());
        }
        head
    }
}
