//! Board: where statements wait for a thread. As many may wait as the plan says, beside those that idle threads are just
//! about to take.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use expression::Scalar;
use tokio::sync::oneshot;

use crate::sheet::Sheet;
use crate::trouble::Trouble;

/// One statement to be carried out.
pub(super) struct Job {
    pub(super) sql: String,
    pub(super) values: Vec<(Scalar, usize)>,
    pub(super) reads: bool,
    pub(super) sheet: Sheet,
    /// Nobody wants it any more.
    pub(super) stop: Arc<AtomicBool>,
    /// Told when a thread takes it.
    pub(super) begun: oneshot::Sender<()>,
    /// Told what came of it.
    pub(super) done: oneshot::Sender<(Sheet, Result<(), Trouble>)>,
}

/// See the module.
pub(super) struct Board {
    state: Mutex<State>,
    changed: Condvar,
    most: usize,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    idle: usize,
    closed: bool,
}

impl Board {
    pub(super) fn new(most: usize) -> Self {
        Board { state: Mutex::default(), changed: Condvar::new(), most }
    }

    /// Whether there was room.
    pub(super) fn put(&self, job: Job) -> bool {
        let mut state = self.lock();
        if state.jobs.len() >= self.most + state.idle {
            state.jobs.retain(|job| !job.stop.load(Ordering::Relaxed));
        }
        let fits = state.jobs.len() < self.most + state.idle;
        if fits {
            state.jobs.push_back(job);
            self.changed.notify_one();
        }
        fits
    }

    /// The next one that is still wanted; waits for it. None once the board is closed.
    pub(super) fn take(&self) -> Option<Job> {
        let mut state = self.lock();
        state.idle += 1;
        loop {
            while let Some(job) = state.jobs.pop_front() {
                if !job.stop.load(Ordering::Relaxed) {
                    state.idle -= 1;
                    return Some(job);
                }
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// No code that can panic runs under the lock, so a poisoned one is as good as another.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
