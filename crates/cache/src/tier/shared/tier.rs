//! SharedTier: what instances keep in a Redis together, as the cores and the thread behind them see it. The cores look up
//! and claim (`lookup`, `turn`); whatever else there is to tell Redis goes to the thread (`thread`), so that no request
//! waits for it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use http::header::HeaderName;
use message::{Clock, Skew, Timestamp};
use plan::RedisTier;
use quick_cache::sync::Cache;
use redis_link::SharedLink;
use tokio::sync::mpsc;

use super::lock::Lock;
use super::message::Message;
use super::names::Names;
use super::positions::{Positions, Vouched};
use super::taken::Taken;
use crate::entry::Entry;
use crate::key::Key;
use crate::purge::Purge;

/// See the module. One for each process.
pub(crate) struct SharedTier {
    pub(crate) redis: Arc<SharedLink>,
    /// What tells this instance from the others.
    pub(crate) instance: u64,
    positions: Mutex<Positions>,
    /// How far the clock of Redis is ahead of our moments.
    clock: Mutex<Skew>,
    /// Purges are heard as they come, and all before were.
    hears: AtomicBool,
    /// What was kept from before the start is judged: the purges since then were heard, or it was made stale.
    judged: AtomicBool,
    /// By which fields the answers of a path are chosen, as far as it was met.
    pub(crate) vary: Cache<u64, Arc<[HeaderName]>>,
    /// What was fetched up to this moment may have been purged by an instance that could not tell; in milliseconds.
    suspected: AtomicU64,
    /// How far Redis has taken what this instance tells.
    pub(crate) taken: Taken,
    orders: mpsc::UnboundedSender<TierOrder>,
    news: mpsc::UnboundedSender<TierNews>,
    /// Bytes of the orders that are not carried out yet.
    waiting: AtomicU64,
    pub(crate) counters: SharedTierCounters,
}

/// What the thread is to do.
#[derive(Debug)]
pub(crate) enum TierOrder {
    /// Store an answer and give the lock back.
    Store(Box<Stored>),
    /// Keep the lock, if it is still wanted in a moment.
    Hold(Weak<Lock>),
    /// Give the lock back: there is nothing to store. `unshared`: the others need not wait for one another for a while.
    Release { lock: Arc<Lock>, unshared: bool },
    /// Forget what is stored.
    Remove { names: Names, entry: Option<Arc<Entry>>, fence: u64 },
}

/// What the others are to be told.
#[derive(Debug)]
pub(crate) enum TierNews {
    Purge(Message),
    /// Nothing more will come from here.
    Leaving,
}

/// The thread's ends of the queues.
pub(crate) struct Received {
    pub(crate) orders: mpsc::UnboundedReceiver<TierOrder>,
    pub(crate) news: mpsc::UnboundedReceiver<TierNews>,
}

/// An answer to be stored.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) key: Key,
    pub(crate) names: Names,
    pub(crate) entry: Arc<Entry>,
    pub(crate) vouched: Vouched,
    pub(crate) fence: u64,
    /// To be given back.
    pub(crate) lock: Option<Arc<Lock>>,
}

/// What happened, since the start.
#[derive(Debug, Default)]
pub(crate) struct SharedTierCounters {
    pub(crate) hits: AtomicU64,
    pub(crate) misses: AtomicU64,
    /// Lookups that failed or were not tried, since Redis is slow or gone.
    pub(crate) skipped: AtomicU64,
    pub(crate) written: AtomicU64,
    /// Not written: too large, too many waiting, or refused.
    pub(crate) dropped: AtomicU64,
    /// Answers that another instance fetched while this one waited.
    pub(crate) waited: AtomicU64,
    /// Locks that ran out, or whose holder came to nothing.
    pub(crate) waited_in_vain: AtomicU64,
    pub(crate) purges_told: AtomicU64,
    pub(crate) purges_heard: AtomicU64,
    /// Purges that were told as one of everything, for want of room.
    pub(crate) purges_folded: AtomicU64,
    /// Other instances that have fallen silent, now.
    pub(crate) missing: AtomicU64,
    /// Times that all in memory was made stale, since nobody could say what was purged.
    pub(crate) doubts: AtomicU64,
}

/// Bytes of orders that may wait for being carried out.
const MOST_WAITING: u64 = 64 * 1024 * 1024;
/// Paths whose fields are remembered.
const VARYING_PATHS: usize = 4096;

impl SharedTier {
    /// With the ends of the queues that the thread reads.
    pub(crate) fn new(redis: Arc<SharedLink>) -> (Arc<Self>, Received) {
        use std::hash::BuildHasher;
        // Unbounded, yet bounded: orders are counted before they are sent, and purges are taken up at once.
        let (orders, received_orders) = mpsc::unbounded_channel();
        let (news, received_news) = mpsc::unbounded_channel();
        // A hasher's seed is as random as a number drawn needs to be.
        let drawn = foldhash::quality::RandomState::default().hash_one(std::process::id());
        let tier = SharedTier {
            redis,
            instance: drawn | 1,
            positions: Mutex::default(),
            clock: Mutex::new(Clock::skew()),
            hears: AtomicBool::new(false),
            judged: AtomicBool::new(false),
            vary: Cache::new(VARYING_PATHS),
            suspected: AtomicU64::new(0),
            taken: Taken::new(),
            orders,
            news,
            waiting: AtomicU64::new(0),
            counters: SharedTierCounters::default(),
        };
        (Arc::new(tier), Received { orders: received_orders, news: received_news })
    }

    pub(crate) fn plan(&self) -> &RedisTier {
        &self.redis.plan().tier
    }

    pub(crate) fn positions(&self) -> MutexGuard<'_, Positions> {
        self.positions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Dates there are those of the clock of Redis, which all instances share: their own may be set to anything.
    pub(crate) fn skew(&self) -> Skew {
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The clock of Redis showed this date at that moment of ours.
    pub(crate) fn set_clock(&self, moment: Timestamp, date: Timestamp) {
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner) = Skew::between(moment, date);
    }

    /// Whether what lies there can be used now: no purge can have been missed.
    pub(crate) fn hears(&self) -> bool {
        self.hears.load(Relaxed)
    }

    pub(crate) fn set_hears(&self, hears: bool) {
        if hears {
            self.set_judged();
        }
        self.hears.store(hears, Relaxed);
    }

    /// Whether what was kept from before the start has been compared with what was purged meanwhile.
    pub(crate) fn has_judged(&self) -> bool {
        self.judged.load(Relaxed)
    }

    pub(crate) fn set_judged(&self) {
        self.judged.store(true, Relaxed);
    }

    /// A purge is in force here since this epoch: the others are told. Should the thread be gone, nobody can be.
    pub(crate) fn tell(&self, purge: &Purge, epoch: u64) {
        drop(self.news.send(TierNews::Purge(Message { from: self.instance, epoch, purge: purge.clone() })));
    }

    /// Tells the others what is left to tell, and that this instance leaves. Whether that came off within this time.
    pub(crate) async fn leave(&self, most: Duration) -> bool {
        drop(self.news.send(TierNews::Leaving));
        tokio::time::timeout(most, self.taken.left()).await.is_ok()
    }

    /// Nobody can say what was purged before now.
    pub(crate) fn suspect(&self, now: Timestamp) {
        self.suspected.fetch_max(now.as_millis(), Relaxed);
    }

    /// Since when an answer that was fetched then is not to be trusted, if it is not. What instances take for the clock of
    /// Redis may differ by a second.
    pub(crate) fn suspects(&self, fetched: Timestamp) -> Option<Timestamp> {
        const SKEW: Duration = Duration::from_secs(1);
        let suspected = Timestamp::from_millis(self.suspected.load(Relaxed));
        (suspected > Timestamp::default() && fetched <= suspected + SKEW).then_some(suspected)
    }

    /// Stores an answer, where there is room and it is not too large.
    pub(crate) fn store(&self, stored: Stored) {
        if stored.entry.body().len() as u64 > self.plan().largest {
            return self.give_up(stored.lock);
        }
        // The lock at least, where there is room for that.
        if let Err(TierOrder::Store(stored)) = self.queue(TierOrder::Store(Box::new(stored))) {
            self.give_up(stored.lock);
        }
    }

    /// An answer is not stored, nor will the next be: the others need not wait for one another.
    fn give_up(&self, lock: Option<Arc<Lock>>) {
        self.counters.dropped.fetch_add(1, Relaxed);
        if let Some(lock) = lock {
            self.order(TierOrder::Release { lock, unshared: true });
        }
    }

    /// Where there is no room it is left: locks run out, and what is stored is not of use for ever.
    pub(crate) fn order(&self, order: TierOrder) {
        drop(self.queue(order));
    }

    /// Given back where too much waits, or the thread is gone.
    fn queue(&self, order: TierOrder) -> Result<(), TierOrder> {
        let bytes = order.bytes();
        if self.waiting.load(Relaxed) + bytes > MOST_WAITING {
            return Err(order);
        }
        self.waiting.fetch_add(bytes, Relaxed);
        self.orders.send(order).map_err(|unsent| unsent.0)
    }

    /// So much of the orders is carried out.
    pub(crate) fn carried_out(&self, bytes: u64) {
        self.waiting.fetch_sub(bytes, Relaxed);
    }
}

impl TierOrder {
    /// What it takes while it waits, roughly.
    pub(crate) fn bytes(&self) -> u64 {
        const OVERHEAD: u64 = 512;
        match self {
            TierOrder::Store(stored) => OVERHEAD + (stored.entry.cost() + stored.key.heap_bytes()) as u64,
            TierOrder::Hold(_) | TierOrder::Release { .. } => OVERHEAD,
            TierOrder::Remove { entry, .. } => {
                OVERHEAD + entry.as_ref().map_or(0, |entry| entry.cost() as u64)
            }
        }
    }
}
