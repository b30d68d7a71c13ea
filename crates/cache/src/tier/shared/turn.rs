//! Turn: whose turn it is to ask the origin, of all instances that miss the same. Asked for by `filler`.
//!
//! Who comes first gets a lock for a short time, and with it a fence: a number that grows, so that who comes too late
//! does not replace what a later one has fetched. The others look for the answer until it is there, the lock is given
//! back, or its time has passed. Whatever goes wrong with Redis, it is everybody's turn; a lock that may have been taken all
//! the same is given back.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use message::{Clock, Fields};
use redis_link::{Value, cmd};

use super::lock::{Lock, lease};
use super::lookup::{Sharing, Wanted};
use super::message::text;
use super::names::Names;
use super::scripts::CLAIM;
use super::tier::{SharedTier, Stored, TierOrder};
use crate::entry::Entry;
use crate::key::Key;

/// See the module.
pub(crate) enum Turn {
    /// Ask the origin; what comes of it is told by this.
    Ours(Ours),
    /// Another instance has asked it.
    Found(Arc<Entry>),
}

/// A lock, or the leave to go without one. Given back when dropped.
pub(crate) struct Ours {
    tier: Arc<SharedTier>,
    key: Key,
    names: Names,
    fence: u64,
    /// What is left to give back.
    lock: Option<Arc<Lock>>,
}

/// What a claim came to.
enum Claim {
    Fence(u64, Lock),
    Found(Arc<Entry>),
    /// Somebody else has the lock.
    Taken,
    /// Answers are not for sharing, or nobody can be asked.
    Nobody,
    /// No reply came: it may be ours.
    Lost(Lock),
}

/// Between two looks, at first; then twice as long each time, up to [`LONGEST_PAUSE`].
const PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(25);

impl Sharing<'_> {
    /// Waits until it is our turn or the answer is there. `is_wanted` says whether an answer of another instance will do.
    pub(crate) async fn turn(
        &self,
        key: &Key,
        request: Fields<'_>,
        is_wanted: impl Fn(&Entry) -> bool,
    ) -> Turn {
        let wanted = Wanted::of(self.tier, &key.view());
        let claim = self.claim(key, &wanted, request, &is_wanted).await;
        match claim {
            Claim::Found(entry) => return Turn::Found(entry),
            Claim::Fence(fence, lock) => {
                let lock = Arc::new(lock);
                self.tier.order(TierOrder::Hold(Arc::downgrade(&lock)));
                return Turn::Ours(self.ours(key, wanted.names, Some(fence), Some(lock)));
            }
            Claim::Nobody => return Turn::Ours(self.ours(key, wanted.names, None, None)),
            Claim::Lost(lock) => return Turn::Ours(self.ours(key, wanted.names, None, Some(Arc::new(lock)))),
            Claim::Taken => {}
        }
        // Also where Redis has become slow meanwhile.
        let most = self.tier.plan().lock;
        let waiting = tokio::time::timeout(most, self.wait(key, &wanted, request, &is_wanted)).await;
        if let Some(entry) = waiting.ok().flatten() {
            self.tier.counters.waited.fetch_add(1, Relaxed);
            return Turn::Found(entry);
        }
        self.tier.counters.waited_in_vain.fetch_add(1, Relaxed);
        Turn::Ours(self.ours(key, wanted.names, None, None))
    }

    async fn claim(
        &self,
        key: &Key,
        wanted: &Wanted,
        request: Fields<'_>,
        is_wanted: &impl Fn(&Entry) -> bool,
    ) -> Claim {
        if !self.tier.hears() {
            return Claim::Nobody;
        }
        let keys = wanted.keys(request);
        let lock = Lock::draw(self.tier, &wanted.names);
        let mut eval = cmd("EVAL");
        eval.arg(CLAIM).arg(1 + keys.len()).arg(&lock.name).arg(&keys);
        eval.arg(lease(self.tier).as_millis() as u64).arg(&lock.token);
        let Some(Value::Array(reply)) = self.ask(&eval).await else { return Claim::Lost(lock) };
        let Ok([state, fence, Value::Array(values)]) = <[Value; 3]>::try_from(reply) else {
            return Claim::Lost(lock);
        };
        let state = text(&state).unwrap_or_default();
        let is_ours = state == "ours";
        let found = self.found(&key.view(), wanted, values, request).filter(|entry| is_wanted(entry));
        if let Some(entry) = found {
            self.tier.counters.hits.fetch_add(1, Relaxed);
            // A lock that was taken for nothing is given back.
            if is_ours {
                self.tier.order(TierOrder::Release { lock: Arc::new(lock), unshared: false });
            }
            return Claim::Found(entry);
        }
        match text(&fence).and_then(|fence| fence.parse().ok()) {
            Some(fence) if is_ours => Claim::Fence(fence, lock),
            _ if state == "taken" => Claim::Taken,
            _ => Claim::Nobody,
        }
    }

    /// The answer, once the other instance has it; `None` when it comes to nothing.
    async fn wait(
        &self,
        key: &Key,
        wanted: &Wanted,
        request: Fields<'_>,
        is_wanted: &impl Fn(&Entry) -> bool,
    ) -> Option<Arc<Entry>> {
        let mut pause = PAUSE;
        loop {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            let mut keys = wanted.keys(request);
            keys.push(wanted.names.lock());
            let Some(Value::Array(mut values)) = self.ask(cmd("MGET").arg(&keys)).await else {
                return None;
            };
            let lock = values.pop();
            if let Some(entry) =
                self.found(&key.view(), wanted, values, request).filter(|entry| is_wanted(entry))
            {
                return Some(entry);
            }
            let is_held = lock.as_ref().and_then(text).is_some_and(|held| held != "unshared");
            if !is_held {
                // It may be of a variant whose fields were not known here.
                return self.find(&key.view(), request).await.filter(|entry| is_wanted(entry));
            }
        }
    }

    /// Our turn without asking, for a fetch that nobody may wait for.
    pub(crate) fn alone(&self, key: &Key) -> Ours {
        self.ours(key, Names::of(&self.tier.plan().prefix, &key.view()), None, None)
    }

    /// Without one of Redis, the moment by its clock, as far as we know it, is the fence.
    fn ours(&self, key: &Key, names: Names, fence: Option<u64>, lock: Option<Arc<Lock>>) -> Ours {
        Ours {
            tier: Arc::clone(self.tier),
            key: key.clone(),
            names,
            fence: fence.unwrap_or_else(|| self.tier.skew().date_of(Clock::now()).as_millis() * 1000),
            lock,
        }
    }
}

impl Ours {
    /// The answer is stored here: the others may have it. Its key may be another one than was asked for, where the answer
    /// said which parameters do not matter.
    pub(crate) fn keep(&mut self, key: &Key, entry: &Arc<Entry>) {
        let vouched = self.tier.positions().vouched_by(entry.compared());
        let Some(vouched) = vouched else { return };
        let is_another = *key != self.key;
        let names =
            if is_another { Names::of(&self.tier.plan().prefix, &key.view()) } else { self.names.clone() };
        // The lock is given back with what is stored under its own key.
        let lock = if is_another { None } else { self.lock.take() };
        self.tier.store(Stored {
            key: key.clone(),
            names,
            entry: Arc::clone(entry),
            vouched,
            fence: self.fence,
            lock,
        });
    }

    /// What is stored is replaced by something that is not.
    pub(crate) fn remove(&self, entry: Option<&Arc<Entry>>) {
        if self.tier.hears() {
            let (names, entry) = (self.names.clone(), entry.cloned());
            self.tier.order(TierOrder::Remove { names, entry, fence: self.fence });
        }
    }

    /// The answer is not for sharing: the others need not wait for one another.
    pub(crate) fn unshared(&mut self) {
        self.settle(true);
    }

    fn settle(&mut self, unshared: bool) {
        if let Some(lock) = self.lock.take() {
            self.tier.order(TierOrder::Release { lock, unshared });
        }
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        self.settle(false);
    }
}
