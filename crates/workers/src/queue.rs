//! Queue: jobs that wait for a thread, in the order in which they came. In: jobs of all cores. Out: one for each thread
//! that is free; those above the bound are refused, and those whose caller has gone away are taken out.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::job::Job;

type Waiting<S> = Box<dyn Job<S>>;

/// See the module.
pub(crate) struct Queue<S> {
    state: Mutex<State<S>>,
    changed: Condvar,
    /// Jobs that may be waiting or running, together.
    most: usize,
}

struct State<S> {
    /// By their numbers, which only go up.
    waiting: VecDeque<(u64, Waiting<S>)>,
    next: u64,
    running: usize,
    closed: bool,
}

impl<S> Queue<S> {
    /// For so many threads, with so many jobs waiting for them.
    pub(crate) fn new(threads: usize, most_waiting: usize) -> Self {
        let state = State { waiting: VecDeque::new(), next: 0, running: 0, closed: false };
        Queue {
            state: Mutex::new(state),
            changed: Condvar::new(),
            most: threads.saturating_add(most_waiting),
        }
    }

    /// Takes a job in and gives its number; `None` if there are too many.
    pub(crate) fn push(&self, job: Waiting<S>) -> Option<u64> {
        let mut state = self.lock();
        if state.waiting.len() + state.running >= self.most {
            return None;
        }
        let number = state.next;
        state.next += 1;
        state.waiting.push_back((number, job));
        drop(state);
        self.changed.notify_one();
        Some(number)
    }

    /// Takes a job out that nobody wants any more. `None` if it has begun or is over.
    pub(crate) fn take_out(&self, number: u64) -> Option<Waiting<S>> {
        let mut state = self.lock();
        let place = state.waiting.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        state.waiting.remove(place).map(|(_, job)| job)
    }

    /// Waits for a job. `None` once the queue is closed.
    pub(crate) fn next(&self) -> Option<Waiting<S>> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some((_, job)) = state.waiting.pop_front() {
                state.running += 1;
                return Some(job);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A job that a thread had is over.
    pub(crate) fn ended(&self) {
        self.lock().running -= 1;
    }

    /// No thread gets another job.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// How many wait, and how many run.
    pub(crate) fn lengths(&self) -> (usize, usize) {
        let state = self.lock();
        (state.waiting.len(), state.running)
    }

    /// Nothing panics while it is held, so a poisoned lock still guards a whole state.
    fn lock(&self) -> MutexGuard<'_, State<S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
