//! Places: how many steps of a route run at once, over all its requests and cores: `run: pool(10, 20)`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use message::{Error, Kind, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// See the module. Shared by all cores.
#[derive(Debug)]
pub struct Places {
    free: Arc<Semaphore>,
    waiting: AtomicUsize,
    queue: usize,
}

/// Counted as waiting until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Places {
    /// So many at once, and so many that wait.
    pub fn new(places: usize, queue: usize) -> Arc<Self> {
        Arc::new(Places { free: Arc::new(Semaphore::new(places)), waiting: AtomicUsize::new(0), queue })
    }

    /// A place, held until it is dropped. Where none is free and the queue is full it says so at once.
    ///
    /// # Errors
    /// [`Kind::Overloaded`].
    pub async fn take(&self) -> Result<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.free).try_acquire_owned() {
            return Ok(place);
        }
        let waiting = Waiting(&self.waiting);
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= self.queue {
            drop(waiting);
            return Err(Error::new(
                Kind::Overloaded,
                "every place of the pool is taken, and its queue is full",
            ));
        }
        let place = Arc::clone(&self.free).acquire_owned().await;
        drop(waiting);
        place.map_err(|closed| Error::new(Kind::Internal, "the pool is closed").caused_by(closed))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_full_queue_refuses_at_once_and_who_leaves_makes_room() {
        let places = Places::new(1, 1);
        let first = places.take().await.unwrap();
        let mut second = Box::pin(places.take());
        assert!((&mut second).now_or_never().is_none());
        assert_eq!(places.take().await.unwrap_err().kind(), Kind::Overloaded);
        drop(second);
        let mut third = Box::pin(places.take());
        assert!((&mut third).now_or_never().is_none());
        drop(first);
        assert!(third.await.is_ok());
        assert!(places.take().await.is_ok());
    }
}
