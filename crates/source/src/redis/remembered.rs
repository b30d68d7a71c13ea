//! Remembered: the last answers of a Redis, for when it is gone: `max_stale` without tracking. Bounded in bytes, shared
//! by all cores.

use std::time::Duration;

use message::Timestamp;
use quick_cache::Weighter;
use quick_cache::sync::{Cache, DefaultLifecycle};

use super::kept_answer::KeptAnswer;

/// See the module.
pub(super) struct Remembered {
    table: Cache<Box<[u8]>, KeptAnswer, Cost, foldhash::fast::RandomState>,
    max_stale: Duration,
}

#[derive(Clone)]
struct Cost;

impl Weighter<Box<[u8]>, KeptAnswer> for Cost {
    fn weight(&self, key: &Box<[u8]>, kept: &KeptAnswer) -> u64 {
        (key.len() + kept.cost()) as u64
    }
}

impl Remembered {
    pub(super) fn new(bytes: u64, max_stale: Duration) -> Self {
        const TYPICAL: u64 = 1024;
        let items = (bytes / TYPICAL).clamp(64, 1 << 20) as usize;
        let table = Cache::with(
            items,
            bytes,
            Cost,
            foldhash::fast::RandomState::default(),
            DefaultLifecycle::default(),
        );
        Remembered { table, max_stale }
    }

    pub(super) fn put(&self, key: &[u8], kept: KeptAnswer) {
        self.table.insert(key.into(), kept);
    }

    /// What was found last, and how long ago, unless that is too long.
    pub(super) fn get(&self, key: &[u8], now: Timestamp) -> Option<(KeptAnswer, Duration)> {
        let kept = self.table.get(key)?;
        let age = kept.stands_in(now, self.max_stale)?;
        Some((kept, age))
    }

    /// How many, and their bytes.
    pub(super) fn size(&self) -> (u64, u64) {
        (self.table.len() as u64, self.table.weight())
    }
}
