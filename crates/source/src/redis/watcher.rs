//! Watcher: the thread on which one Redis is watched: whether a replica is in step, or what changes. A thread of its
//! own, since what is told late is served stale; the control thread reads files. Ends when it is dropped.

use std::future::Future;

use message::{Error, Kind, Result};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::oneshot;

/// See the module.
pub(super) struct Watcher {
    /// Dropped, it is the order to end.
    _ends: Option<oneshot::Sender<()>>,
}

impl Watcher {
    /// Of what need not be watched.
    pub(super) fn none() -> Watcher {
        Watcher { _ends: None }
    }

    /// Starts what `work` makes, on a runtime of its own.
    pub(super) fn start<F>(name: &str, work: impl FnOnce() -> F + Send + 'static) -> Result<Watcher>
    where
        F: Future<Output = ()> + 'static,
    {
        let failed =
            |error| Error::new(Kind::Internal, "a thread to watch Redis cannot be started").caused_by(error);
        let (ends, ended) = oneshot::channel();
        let builder = std::thread::Builder::new().name(format!("redis-{name}"));
        builder
            .spawn(move || {
                let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default());
                match runtime {
                    Ok(runtime) => runtime.block_on(async {
                        tokio::select! {
                            () = work() => {}
                            _ = ended => {}
                        }
                    }),
                    Err(error) => tracing::error!("no runtime to watch Redis on: {error}"),
                }
            })
            .map_err(failed)?;
        Ok(Watcher { _ends: Some(ends) })
    }
}
