//! Places: how many do something at once, and how many wait for that. Who comes first is served first.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::queue::Queue;

/// See the module.
#[derive(Debug)]
pub struct Places {
    free: Arc<Semaphore>,
    queue: Queue,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub struct Place {
    _permit: OwnedSemaphorePermit,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPlace {
    /// Too many wait already: said at once.
    Full,
    /// None became free in time.
    Late,
}

impl Places {
    /// So many at once, and so many that wait.
    pub fn new(places: usize, queue: usize) -> Self {
        Places { free: Arc::new(Semaphore::new(places)), queue: Queue::new(queue) }
    }

    /// A place that is free now.
    pub fn try_take(&self) -> Option<Place> {
        let permit = Arc::clone(&self.free).try_acquire_owned().ok()?;
        Some(Place { _permit: permit })
    }

    /// A place, as soon as one is free; `None`, at once, where too many wait already.
    pub async fn take(&self) -> Option<Place> {
        if let Some(place) = self.try_take() {
            return Some(place);
        }
        let _waiter = self.queue.enter()?;
        let permit = Arc::clone(&self.free).acquire_owned().await.expect("it is never closed");
        Some(Place { _permit: permit })
    }

    /// The same, waited for no longer than `wait`.
    ///
    /// # Errors
    /// See [`NoPlace`].
    pub async fn take_within(&self, wait: Duration) -> Result<Place, NoPlace> {
        tokio::time::timeout(wait, self.take()).await.map_err(|_| NoPlace::Late)?.ok_or(NoPlace::Full)
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.queue.len()
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
        assert!(places.take().await.is_none());
        drop(second);
        let mut third = Box::pin(places.take());
        assert!((&mut third).now_or_never().is_none());
        drop(first);
        assert!(third.await.is_some());
        assert!(places.take().await.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_longer_than_asked() {
        let places = Places::new(1, 1);
        let _first = places.try_take().unwrap();
        assert_eq!(places.take_within(Duration::from_secs(1)).await.unwrap_err(), NoPlace::Late);
        assert_eq!(places.waiting(), 0);
    }
}
