//! Writer: stores answers in Redis, gives locks back, forgets what was replaced. Fed by `thread`.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use message::Clock;
use redis_link::{Link, Value, cmd};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::spawn_local;

use super::lock::{Lock, kept_after};
use super::lookup::write_names;
use super::names::Names;
use super::record;
use super::scripts::{HOLD, RELEASE, REMOVE, STORE};
use super::tier::{SharedTier, Stored, TierOrder};
use crate::entry::Entry;

/// See the module.
pub(crate) struct Writer {
    tier: Arc<SharedTier>,
    link: Link,
    /// So many orders are under way at once, which fills a round trip and no more.
    under_way: Arc<Semaphore>,
}

const MOST: usize = 128;
/// What is of use for less than that is not worth a write.
const WORTH: Duration = Duration::from_secs(1);
/// How long instances do not wait for one another after an answer that was not for sharing.
const UNSHARED_FOR: Duration = Duration::from_secs(10);

impl Writer {
    pub(crate) fn new(tier: Arc<SharedTier>, link: Link) -> Self {
        Writer { tier, link, under_way: Arc::new(Semaphore::new(MOST)) }
    }

    /// Begins what is ordered, as soon as not too much is under way.
    pub(crate) async fn take_up(&self, order: TierOrder) {
        if let TierOrder::Hold(_) = order {
            spawn_local(later(Arc::clone(&self.tier), self.link.clone(), order));
            return;
        }
        let Ok(permit) = Arc::clone(&self.under_way).acquire_owned().await else { return };
        let (tier, link) = (Arc::clone(&self.tier), self.link.clone());
        spawn_local(carry_out(tier, link, order, permit));
    }
}

/// Most locks are given back before.
async fn later(tier: Arc<SharedTier>, link: Link, order: TierOrder) {
    tokio::time::sleep(kept_after(&tier)).await;
    if let TierOrder::Hold(lock) = &order
        && let Some(lock) = lock.upgrade()
    {
        hold(&tier, &link, &lock).await;
    }
    tier.carried_out(order.bytes());
}

async fn carry_out(tier: Arc<SharedTier>, link: Link, order: TierOrder, _permit: OwnedSemaphorePermit) {
    let bytes = order.bytes();
    match order {
        TierOrder::Store(stored) => store(&tier, &link, *stored).await,
        TierOrder::Hold(_) => {}
        TierOrder::Release { lock, unshared } => release(&link, &lock, unshared).await,
        TierOrder::Remove { names, entry, fence } => remove(&link, &names, entry.as_deref(), fence).await,
    }
    tier.carried_out(bytes);
}

async fn store(tier: &SharedTier, link: &Link, stored: Stored) {
    let written = write(tier, link, &stored).await;
    let counter = if written { &tier.counters.written } else { &tier.counters.dropped };
    counter.fetch_add(1, Relaxed);
}

async fn write(tier: &SharedTier, link: &Link, stored: &Stored) -> bool {
    let Stored { key, names, entry, vouched, fence, lock } = stored;
    let left = entry.terms().worth_keeping_until().since(Clock::now());
    if left < WORTH || !tier.redis.is_up() {
        if let Some(lock) = lock {
            release(link, lock, false).await;
        }
        return false;
    }
    let record = record::write(&key.view(), entry, *vouched, *fence, tier.skew());
    let vary = entry.variant().map_or_else(String::new, |variant| write_names(&variant.names));
    let mut eval = cmd("EVAL");
    eval.arg(STORE).arg(3).arg(names.answer(entry.variant())).arg(names.lock()).arg(names.vary());
    eval.arg(record::digits(*fence)).arg(left.as_millis() as u64).arg(record).arg(vary);
    eval.arg(lock.as_ref().map_or("", |lock| &lock.token));
    matches!(link.ask(&eval).await, Ok(Value::Int(1)))
}

/// Where it fails, the lock runs out by itself.
async fn release(link: &Link, lock: &Lock, unshared: bool) {
    let millis = if unshared { UNSHARED_FOR.as_millis() as u64 } else { 0 };
    let mut eval = cmd("EVAL");
    eval.arg(RELEASE).arg(1).arg(&lock.name).arg(&lock.token).arg(millis);
    drop(link.ask(&eval).await);
}

async fn hold(tier: &SharedTier, link: &Link, lock: &Lock) {
    let mut eval = cmd("EVAL");
    eval.arg(HOLD).arg(1).arg(&lock.name).arg(&lock.token).arg(tier.plan().lock.as_millis() as u64);
    drop(link.ask(&eval).await);
}

async fn remove(link: &Link, names: &Names, entry: Option<&Entry>, fence: u64) {
    let mut keys = vec![names.answer(None)];
    if let Some(variant) = entry.and_then(Entry::variant) {
        keys.push(names.answer(Some(variant)));
    }
    let mut eval = cmd("EVAL");
    eval.arg(REMOVE).arg(keys.len()).arg(keys).arg(record::digits(fence));
    drop(link.ask(&eval).await);
}
