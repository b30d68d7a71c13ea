//! Queue: how many wait for something, up to a bound. Who leaves, however it does, makes room.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// See the module. Counts only: the order is that of what is waited for.
#[derive(Debug)]
pub struct Queue {
    waiting: AtomicUsize,
    most: usize,
}

/// Counted as waiting until it is dropped.
#[derive(Debug)]
pub struct Waiter<'a>(&'a Queue);

impl Queue {
    /// For so many at once.
    pub const fn new(most: usize) -> Self {
        Queue { waiting: AtomicUsize::new(0), most }
    }

    /// A place in it; `None` where it is full.
    pub fn enter(&self) -> Option<Waiter<'_>> {
        let waiter = Waiter(self);
        // One too many is counted until it is dropped, here.
        (self.waiting.fetch_add(1, Relaxed) < self.most).then_some(waiter)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.waiting.load(Relaxed).min(self.most)
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many may wait.
    pub fn most(&self) -> usize {
        self.most
    }
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_refuses_and_who_leaves_makes_room() {
        let queue = Queue::new(2);
        let first = queue.enter();
        let second = queue.enter();
        assert!(first.is_some() && second.is_some());
        assert!(queue.enter().is_none());
        assert_eq!(queue.len(), 2);
        drop(first);
        assert!(queue.enter().is_some());
        assert_eq!(queue.len(), 1);
    }

    #[test]
    fn a_queue_for_nobody_is_always_full() {
        let queue = Queue::new(0);
        assert!(queue.enter().is_none() && queue.is_empty());
    }
}
