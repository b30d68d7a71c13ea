//! Fills: the table of fetches in progress, by key and variant. Shared by all cores; never touched by a hit.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::entry::Variant;
use crate::fill::Fill;
use crate::key::{Key, KeyView};

/// Whether a request fetches or follows.
#[derive(Debug)]
pub(crate) enum Place {
    /// First: the caller must run the filler, which removes the fill again.
    Lead(Arc<Fill>),
    /// Somebody fetches already.
    Follow(Arc<Fill>),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Fills {
    shards: [Mutex<HashMap<Key, Vec<Arc<Fill>>>>; SHARDS],
    /// How often keys were invalidated, by their hash: for those who fetch alone and so are not in the table. Two keys
    /// may share a count; then an answer is once not stored that could have been.
    writes: Box<[AtomicU64]>,
    hasher: foldhash::fast::RandomState,
}

const SHARDS: usize = 16;
const WRITE_COUNTS: usize = 1024;

impl Fills {
    pub(crate) fn new() -> Self {
        Fills {
            shards: std::array::from_fn(|_| Mutex::default()),
            writes: std::iter::repeat_with(AtomicU64::default).take(WRITE_COUNTS).collect(),
            hasher: foldhash::fast::RandomState::default(),
        }
    }

    fn shard(&self, key: &KeyView<'_>) -> MutexGuard<'_, HashMap<Key, Vec<Arc<Fill>>>> {
        let index = self.hasher.hash_one(key) as usize % SHARDS;
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place at the fill of this key and variant. `wanted` is `None` while nobody knows the answer's `Vary`: then any
    /// fill of the key will do until its head tells.
    pub(crate) fn join(&self, key: &KeyView<'_>, wanted: Option<Variant>) -> Place {
        let mut shard = self.shard(key);
        let fills = shard.entry(key.to_key()).or_default();
        let suitable = match &wanted {
            None => fills.first(),
            Some(wanted) => fills.iter().find(|fill| fill.is_variant(wanted)),
        };
        if let Some(fill) = suitable {
            return Place::Follow(Arc::clone(fill));
        }
        let fill = Fill::new(wanted);
        fills.push(Arc::clone(&fill));
        Place::Lead(fill)
    }

    /// Takes a fill out: whoever comes from now on finds the stored entry, or fetches anew.
    pub(crate) fn remove(&self, key: &KeyView<'_>, fill: &Arc<Fill>) {
        let mut shard = self.shard(key);
        let key = key.to_key();
        if let Some(fills) = shard.get_mut(&key) {
            fills.retain(|other| !Arc::ptr_eq(other, fill));
            if fills.is_empty() {
                shard.remove(&key);
            }
        }
    }

    /// How often the key was invalidated so far: a fetch remembers it from before it asks.
    pub(crate) fn writes(&self, key: &KeyView<'_>) -> u64 {
        self.count_of(key).load(Ordering::SeqCst)
    }

    fn count_of(&self, key: &KeyView<'_>) -> &AtomicU64 {
        // Other bits than those that choose the shard.
        &self.writes[(self.hasher.hash_one(key) >> 32) as usize % WRITE_COUNTS]
    }

    /// The key was invalidated: what is on its way may not be stored, and nobody new may follow it.
    pub(crate) fn outdate(&self, key: &KeyView<'_>) {
        self.count_of(key).fetch_add(1, Ordering::SeqCst);
        for fill in self.shard(key).remove(&key.to_key()).unwrap_or_default() {
            fill.outdate();
        }
    }

    /// Fetches in progress.
    pub(crate) fn len(&self) -> usize {
        self.shards
            .iter()
            .map(|s| s.lock().unwrap_or_else(PoisonError::into_inner).values().map(Vec::len).sum::<usize>())
            .sum()
    }
}
