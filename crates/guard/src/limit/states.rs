//! States: what is known of each key, found by its bytes. Used by `Limits`; what is known is a [`State`].

use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::LimitDecision;
use super::quota::Quota;
use super::shard::Shard;
use crate::fingerprint::{Fingerprint, Fingerprints};

/// What is known of one key. The default is the full quota. Moments are in nanoseconds.
pub(super) trait State: Debug + Default + Send {
    /// One whose whole quota was taken at this moment.
    fn spent(quota: &Quota, at: u64) -> Self;

    /// What is said to one who comes now.
    fn verdict(&self, quota: &Quota, now: u64) -> LimitDecision;

    /// Counts one that is let through.
    fn count(&mut self, quota: &Quota, now: u64);

    /// When the quota is full again, so that this may be forgotten.
    fn full_at(&self, quota: &Quota) -> u64;

    /// Counts it where it is let through.
    fn take(&mut self, quota: &Quota, now: u64) -> LimitDecision {
        let verdict = self.verdict(quota, now);
        if verdict.is_allowed {
            self.count(quota, now);
        }
        verdict
    }
}

/// What [`super::Limits`] asks, whichever the algorithm.
pub(super) trait States: Debug + Send + Sync {
    fn peek(&self, key: &[u8], quota: &Quota, now: u64) -> LimitDecision;
    fn take(&self, key: &[u8], quota: &Quota, now: u64) -> LimitDecision;
    fn len(&self) -> usize;
    fn evicted(&self) -> u64;
}

/// A shard has room for no fewer, so that all are full at nearly the same time.
const LEAST_KEYS: usize = 1024;
/// More than there are cores, in most machines.
const MOST_SHARDS: usize = 64;

/// See the module. Cores that ask for different keys seldom wait for each other.
#[derive(Debug)]
pub(super) struct Sharded<S> {
    /// The empty key, of limits that have no keys: one lock, and nothing to hash or to look up.
    only: Mutex<S>,
    /// A power of two.
    shards: Box<[Mutex<Shard<S>>]>,
    /// What is drawn at random here decides only where a state lies, not what it says.
    fingerprints: Fingerprints,
}

impl<S: State> Sharded<S> {
    /// `spent_at`: when the whole quota of every key was taken; `None`: it is there.
    pub(super) fn new(most_keys: usize, quota: &Quota, spent_at: Option<u64>) -> Self {
        let count = (most_keys / LEAST_KEYS).clamp(1, MOST_SHARDS);
        let count = 1 << count.ilog2();
        Sharded {
            only: Mutex::new(spent_at.map_or_else(S::default, |at| S::spent(quota, at))),
            shards: (0..count).map(|_| Mutex::new(Shard::new(most_keys / count, spent_at))).collect(),
            fingerprints: Fingerprints::default(),
        }
    }

    fn shard(&self, fingerprint: Fingerprint) -> MutexGuard<'_, Shard<S>> {
        lock(&self.shards[fingerprint.0 as usize & (self.shards.len() - 1)])
    }

    fn sum<N: std::iter::Sum>(&self, of: impl Fn(&Shard<S>) -> N) -> N {
        self.shards.iter().map(|shard| of(&lock(shard))).sum()
    }
}

impl<S: State> States for Sharded<S> {
    fn peek(&self, key: &[u8], quota: &Quota, now: u64) -> LimitDecision {
        if key.is_empty() {
            return lock(&self.only).verdict(quota, now);
        }
        let fingerprint = self.fingerprints.of(key);
        self.shard(fingerprint).peek(fingerprint, quota, now)
    }

    fn take(&self, key: &[u8], quota: &Quota, now: u64) -> LimitDecision {
        if key.is_empty() {
            return lock(&self.only).take(quota, now);
        }
        let fingerprint = self.fingerprints.of(key);
        self.shard(fingerprint).take(fingerprint, quota, now)
    }

    fn len(&self) -> usize {
        self.sum(Shard::len)
    }

    fn evicted(&self) -> u64 {
        self.sum(Shard::evicted)
    }
}

/// No code that can panic runs under the lock, so a poisoned one is as good as another.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::fixed::Fixed;

    const QUOTA: Quota = Quota { amount: 2, per: 100, burst: 1 };

    #[test]
    fn each_key_has_its_own_quota() {
        let states = Sharded::<Fixed>::new(10, &QUOTA, None);
        for key in [&b""[..], b"a", b"b", b"a longer one"] {
            assert_eq!([(); 3].map(|()| states.take(key, &QUOTA, 5).is_allowed), [true, true, false]);
        }
        assert_eq!((states.len(), states.evicted()), (3, 0));
    }

    #[test]
    fn however_many_come_no_more_are_kept_than_there_is_room_for() {
        let (most, come) = (10_000, 30_000_u32);
        let states = Sharded::<Fixed>::new(most, &QUOTA, None);
        assert_eq!(states.shards.len(), 8);
        for number in 0..come {
            assert!(states.take(&number.to_be_bytes(), &QUOTA, 5).is_allowed);
        }
        assert!(states.len() <= most && states.len() > most * 9 / 10);
        assert_eq!(states.evicted() + states.len() as u64, u64::from(come));
    }
}
