//! Sweeping: after a purge, entries are compared with it when they are used next; whoever is not used is looked for
//! here, so that what is gone gives its memory back. Run by `control`, on a thread of its own when there is something
//! to do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cache::Store;
use message::Clock;

/// Between two looks. A sweep a second keeps the purges few that a hit is compared with.
const PAUSE: Duration = Duration::from_secs(1);

/// Sweeps for ever; counts what it removed.
pub(crate) async fn sweep(store: Arc<Store>, removed: Arc<AtomicU64>) {
    loop {
        tokio::time::sleep(PAUSE).await;
        if !store.has_to_sweep(Clock::now()) {
            continue;
        }
        let swept = Arc::clone(&store);
        match tokio::task::spawn_blocking(move || swept.sweep(Clock::now())).await {
            Ok(swept) => drop(removed.fetch_add(swept.removed, Ordering::Relaxed)),
            Err(error) => tracing::error!(%error, "sweeping after a purge failed"),
        }
    }
}
