//! Thread: what has to be done with Redis behind the requests' backs: answers stored, purges told and heard. It has a
//! thread and a runtime of its own, so that compressing an answer makes no request wait.

use std::io;
use std::rc::Rc;
use std::sync::{Arc, Weak};

use redis_link::Link;
use tokio::runtime::{Builder, LocalOptions};
use tokio::task::spawn_local;

use super::news;
use super::telling::Telling;
use super::tier::{Received, SharedTier, TierNews};
use super::writer::Writer;
use crate::store::Store;

/// Starts it; it ends with the store.
pub(crate) fn start(store: &Arc<Store>, tier: Arc<SharedTier>, received: Received) -> io::Result<()> {
    let store = Arc::downgrade(store);
    // Made here, so that a failure is the caller's to report.
    let builder = std::thread::Builder::new().name("shared-tier".to_owned());
    builder.spawn(move || {
        match Builder::new_current_thread().enable_all().build_local(LocalOptions::default()) {
            Ok(runtime) => runtime.block_on(run(store, tier, received)),
            Err(error) => tracing::error!(%error, "no runtime for the shared tier: it is not used"),
        }
    })?;
    Ok(())
}

async fn run(store: Weak<Store>, tier: Arc<SharedTier>, received: Received) {
    let Received { mut orders, mut news } = received;
    let link = Link::new(Arc::clone(&tier.redis));
    let telling = Rc::new(Telling::default());
    let writer = Writer::new(Arc::clone(&tier), link.clone());
    spawn_local(news::listen(store, Arc::clone(&tier), link.clone(), Rc::clone(&telling)));
    spawn_local(Rc::clone(&telling).tell_on(Arc::clone(&tier), link));
    // However much there is to write, purges do not wait behind it.
    spawn_local(async move {
        while let Some(news) = news.recv().await {
            match news {
                TierNews::Purge(message) => telling.add(message, &tier),
                TierNews::Leaving => telling.leave(),
            }
        }
    });
    // Ends when the store, which holds the other end, is gone.
    while let Some(order) = orders.recv().await {
        writer.take_up(order).await;
    }
}
