//! Pool: a few threads that wait for the disk, so that no core does.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;

use crate::index::lock;

type Job = Box<dyn FnOnce() + Send>;

/// Where jobs are put.
pub(crate) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    end: bool,
}

impl Pool {
    /// Starts so many threads; they end with [`Pool::end`].
    pub(crate) fn start(threads: usize) -> std::io::Result<(Arc<Pool>, Vec<JoinHandle<()>>)> {
        let pool = Arc::new(Pool { state: Mutex::default(), changed: Condvar::new() });
        let mut handles = Vec::new();
        for _ in 0..threads.max(1) {
            let mine = Arc::clone(&pool);
            let started = std::thread::Builder::new().name("disk-reader".into()).spawn(move || mine.run());
            match started {
                Ok(handle) => handles.push(handle),
                Err(error) => {
                    pool.end();
                    return Err(error);
                }
            }
        }
        Ok((pool, handles))
    }

    /// Has the job done soon. Refused when more than `most` wait, or after the end; what the job holds is dropped.
    pub(crate) fn submit(&self, most: usize, job: Job) -> bool {
        let mut state = lock(&self.state);
        if state.end || state.jobs.len() >= most {
            return false;
        }
        state.jobs.push_back(job);
        drop(state);
        self.changed.notify_one();
        true
    }

    /// Drops what waits and sends the threads home.
    pub(crate) fn end(&self) {
        let mut state = lock(&self.state);
        state.end = true;
        let jobs = std::mem::take(&mut state.jobs);
        drop(state);
        drop(jobs);
        self.changed.notify_all();
    }

    fn run(&self) {
        loop {
            let state = lock(&self.state);
            let idle = |state: &mut State| state.jobs.is_empty() && !state.end;
            let mut state = self.changed.wait_while(state, idle).unwrap_or_else(PoisonError::into_inner);
            let Some(job) = state.jobs.pop_front() else { return };
            drop(state);
            job();
        }
    }
}
