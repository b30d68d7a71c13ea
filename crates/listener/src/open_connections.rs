//! Open connections: how many connections are open, over all cores and on this one, and when the last of this core
//! is gone.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// Counts the open connections of all cores. Made once, shared by every core.
#[derive(Debug, Default)]
pub struct OpenConnections {
    open: AtomicUsize,
    /// When it was last said that the system gives no more.
    told: Mutex<Option<Instant>>,
}

/// What goes on is said again after so long.
const AGAIN: Duration = Duration::from_mins(1);

impl OpenConnections {
    /// None is open yet.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Connections open now, over all cores.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// The system gives no further connection: said once for all cores while it lasts.
    pub(crate) fn refused_by_system(&self, error: &io::Error) {
        let now = Instant::now();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_none_or(|told| now.duration_since(told) >= AGAIN) {
            tracing::error!(
                "no further connection can be taken with {} open: {error}; raise the limit of open files \
                 (`ulimit -Hn`, `LimitNOFILE=` of systemd) or write less as `limits.connections`",
                self.open()
            );
        }
        *told = Some(now);
    }

    /// Counts one more unless `limit` are open already.
    fn try_enter(&self, limit: usize) -> bool {
        let entered = self.open.fetch_add(1, Ordering::Relaxed) < limit;
        if !entered {
            self.leave();
        }
        entered
    }

    fn leave(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The open connections of one core.
#[derive(Clone, Debug)]
pub(crate) struct CoreConnections(Rc<Core>);

#[derive(Debug)]
struct Core {
    connections: Arc<OpenConnections>,
    open: Cell<usize>,
    waiting: RefCell<Vec<Waker>>,
}

/// One connection's place; leaves when dropped.
#[derive(Debug)]
pub(crate) struct Permit(Rc<Core>);

impl CoreConnections {
    pub(crate) fn new(connections: Arc<OpenConnections>) -> Self {
        CoreConnections(Rc::new(Core { connections, open: Cell::new(0), waiting: RefCell::default() }))
    }

    /// A place for one more connection, unless `limit` are open over all cores.
    pub(crate) fn try_enter(&self, limit: usize) -> Option<Permit> {
        self.0.connections.try_enter(limit).then(|| {
            self.0.open.set(self.0.open.get() + 1);
            Permit(Rc::clone(&self.0))
        })
    }

    /// See [`OpenConnections::refused_by_system`].
    pub(crate) fn refused_by_system(&self, error: &io::Error) {
        self.0.connections.refused_by_system(error);
    }

    /// Connections open now on this core.
    pub(crate) fn open(&self) -> usize {
        self.0.open.get()
    }

    /// Waits until no connection is open on this core.
    pub(crate) async fn empty(&self) {
        std::future::poll_fn(|cx| {
            if self.open() == 0 {
                return Poll::Ready(());
            }
            self.0.waiting.borrow_mut().push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.connections.leave();
        self.0.open.set(self.0.open.get() - 1);
        if self.0.open.get() == 0 {
            self.0.waiting.take().into_iter().for_each(Waker::wake);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_holds_over_all_cores() {
        let connections = OpenConnections::new();
        let (one, other) =
            (CoreConnections::new(Arc::clone(&connections)), CoreConnections::new(Arc::clone(&connections)));
        let first = one.try_enter(2).unwrap();
        let _second = other.try_enter(2).unwrap();
        assert!(one.try_enter(2).is_none());
        assert_eq!((connections.open(), one.open(), other.open()), (2, 1, 1));
        drop(first);
        assert!(other.try_enter(2).is_some());
        assert_eq!((connections.open(), one.open(), other.open()), (1, 0, 1));
    }

    #[tokio::test]
    async fn emptiness_is_awaited() {
        let core = CoreConnections::new(OpenConnections::new());
        core.empty().await;
        let permit = core.try_enter(1).unwrap();
        let waited = async {
            core.empty().await;
            core.open()
        };
        let left = async {
            tokio::task::yield_now().await;
            drop(permit);
        };
        assert_eq!(tokio::join!(waited, left).0, 0);
    }
}
