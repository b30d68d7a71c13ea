//! Attempt: work that several wait for and that goes on when one of them leaves. Used for connections and for what a
//! cluster says of itself: one attempt at a time, whoever comes meanwhile waits for it.

use std::future::Future;
use std::time::{Duration, Instant};

use message::Result;
use tokio::sync::watch;

type Outcome<T> = Option<(Result<T>, Instant)>;

/// See the module.
pub(crate) struct Attempt<T>(watch::Receiver<Outcome<T>>);

impl<T> Clone for Attempt<T> {
    fn clone(&self) -> Self {
        Attempt(self.0.clone())
    }
}

impl<T: Clone + Send + Sync + 'static> Attempt<T> {
    /// Begins the work, on a task of its own, which has to end by itself.
    pub(crate) fn begin(work: impl Future<Output = Result<T>> + Send + 'static) -> Self {
        let (sender, receiver) = watch::channel(None);
        tokio::spawn(async move {
            let result = work.await;
            sender.send_replace(Some((result, Instant::now())));
        });
        Attempt(receiver)
    }

    /// What came of it and when, if it is over.
    pub(crate) fn outcome(&self) -> Outcome<T> {
        self.0.borrow().clone()
    }

    /// Waits for the end, but not longer than this.
    pub(crate) async fn wait(&self, most: Duration) -> Outcome<T> {
        let mut receiver = self.0.clone();
        let over = tokio::time::timeout(most, receiver.wait_for(Option::is_some)).await;
        over.ok()?.ok()?.clone()
    }

    /// Whether both are the same.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.0.same_channel(&other.0)
    }

    /// The task is gone without an outcome, as when the runtime ends.
    pub(crate) fn is_lost(&self) -> bool {
        self.0.has_changed().is_err() && self.0.borrow().is_none()
    }
}
