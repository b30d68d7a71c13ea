//! Workers: the threads and the way to them. In: closures. Out: what they gave.

use std::io;
use std::sync::Arc;

use message::{Error, Kind, Result};

use crate::figures::{JobCounters, JobFigures};
use crate::job::Task;
use crate::queue::Queue;
use crate::stop::Stop;
use crate::thread;

/// See the module. Shared by all cores. Each thread has a state of its own (`S`), which never leaves it.
///
/// Dropping it ends the threads, each after the job that it has, and waits for none of them.
pub struct Workers<S> {
    shared: Arc<SharedWork<S>>,
    name: String,
}

/// What the threads and those who wait have together.
pub(crate) struct SharedWork<S> {
    pub(crate) queue: Queue<S>,
    pub(crate) counters: JobCounters,
    pub(crate) make_state: Box<dyn Fn() -> S + Send + Sync>,
}

impl<S: 'static> Workers<S> {
    /// Starts so many threads, one at least. `queue` jobs may wait for them. `make_state` is called on each thread
    /// before its first job, and after one that has panicked.
    ///
    /// # Errors
    ///
    /// The system gives us no more threads.
    pub fn start(
        name: &str,
        threads: usize,
        queue: usize,
        make_state: impl Fn() -> S + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let threads = threads.max(1);
        let shared = Arc::new(SharedWork {
            queue: Queue::new(threads, queue),
            counters: JobCounters::default(),
            make_state: Box::new(make_state),
        });
        // Before the threads: if one cannot be started, dropping it ends the others.
        let workers = Workers { shared, name: name.to_owned() };
        for number in 0..threads {
            let shared = Arc::clone(&workers.shared);
            let builder = std::thread::Builder::new().name(format!("{name}-{number}"));
            builder.spawn(move || thread::run(&shared))?;
        }
        Ok(workers)
    }

    /// Has a thread do this, and waits for it. Begins when it is first polled. Dropping the future takes the job out,
    /// or sets its [`Stop`] if it has begun.
    ///
    /// # Errors
    ///
    /// [`Kind::Overloaded`], at once: all threads are busy and the queue is full. [`Kind::Internal`]: it panicked.
    pub async fn run<R: Send + 'static>(
        &self,
        job: impl FnOnce(&mut S, &Stop) -> R + Send + 'static,
    ) -> Result<R> {
        let stop = Stop::default();
        let (task, receiver) = Task::new(job, stop.clone());
        let Some(number) = self.shared.queue.push(Box::new(task)) else {
            self.shared.counters.refused();
            return Err(Error::new(Kind::Overloaded, format!("too many wait for {} already", self.name)));
        };
        let mut caller = Caller { shared: &self.shared, number, stop, waits: true };
        let result = receiver.await;
        caller.waits = false;
        result.map_err(|_| Error::new(Kind::Internal, format!("a thread of {} panicked", self.name)))
    }

    /// What became of jobs so far.
    pub fn figures(&self) -> JobFigures {
        let (waiting, running) = self.shared.queue.lengths();
        self.shared.counters.figures(waiting, running)
    }
}

impl<S> Drop for Workers<S> {
    fn drop(&mut self) {
        // Nobody waits: whoever does borrows us.
        self.shared.queue.close();
    }
}

/// Who waits for a job, as long as they do.
struct Caller<'a, S> {
    shared: &'a SharedWork<S>,
    number: u64,
    stop: Stop,
    waits: bool,
}

impl<S> Drop for Caller<'_, S> {
    fn drop(&mut self) {
        if self.waits {
            self.stop.set();
            self.shared.counters.cancelled();
            drop(self.shared.queue.take_out(self.number));
        }
    }
}
