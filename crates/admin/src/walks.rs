//! Walks: looking through the whole cache, which for a million entries takes some seconds. On a thread of its own, so
//! that probes and scrapes are answered meanwhile, and one at a time, so that nobody can have the table walked without
//! pause on all cores.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::refusal::AdminRefusal;

/// How long to wait for the walk of somebody else.
const PATIENCE: Duration = Duration::from_secs(2);

/// See the module.
#[derive(Debug)]
pub(crate) struct Walks(Arc<Semaphore>);

impl Walks {
    pub(crate) fn new() -> Self {
        Walks(Arc::new(Semaphore::new(1)))
    }

    /// Runs `walk` once nobody else's is under way.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        walk: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, AdminRefusal> {
        let Ok(Ok(turn)) = timeout(PATIENCE, Arc::clone(&self.0).acquire_owned()).await else {
            return Err(AdminRefusal::busy(
                "somebody else is looking through the cache; ask again in a second",
            ));
        };
        let walked = tokio::task::spawn_blocking(move || {
            let outcome = walk();
            // Held by the thread: whoever asked may have left, and the walk goes on.
            drop(turn);
            outcome
        });
        walked.await.map_err(|_| AdminRefusal::internal("looking through the cache failed"))
    }
}
