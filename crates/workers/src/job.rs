//! Job: a closure on its way to a thread, and its result on the way back.

use tokio::sync::oneshot;

use crate::stop::Stop;

/// A job whose result's type only the caller knows.
pub(crate) trait Job<S>: Send {
    /// Does the work, and keeps the result.
    fn run(&mut self, state: &mut S);
    /// Hands the result over. Without one, the caller learns that there is none.
    ///
    /// A step of its own, so that the thread counts as free before its caller hears of it.
    fn answer(self: Box<Self>);
}

/// See the module.
pub(crate) struct Task<F, R> {
    work: Option<F>,
    stop: Stop,
    result: Option<R>,
    caller: oneshot::Sender<R>,
}

impl<F, R> Task<F, R> {
    /// The job, and where its result arrives.
    pub(crate) fn new(work: F, stop: Stop) -> (Self, oneshot::Receiver<R>) {
        let (caller, receiver) = oneshot::channel();
        (Task { work: Some(work), stop, result: None, caller }, receiver)
    }
}

impl<S, F, R> Job<S> for Task<F, R>
where
    F: FnOnce(&mut S, &Stop) -> R + Send,
    R: Send,
{
    fn run(&mut self, state: &mut S) {
        if let Some(work) = self.work.take() {
            self.result = Some(work(state, &self.stop));
        }
    }

    fn answer(self: Box<Self>) {
        if let Some(result) = self.result {
            // A caller who has gone away does not want it.
            drop(self.caller.send(result));
        }
    }
}
