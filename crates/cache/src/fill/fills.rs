//! Fills: the table of fetches in progress, by key and variant. Shared by all cores; never touched by a hit.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::entry::Variant;
use crate::fill::Fill;
use crate::key::{Key, KeyView};
use crate::purge::marks::Marks;
use crate::tier::memory_account::MemoryAccount;

/// Whether a request fetches or follows.
#[derive(Debug)]
pub(crate) enum FillRole {
    /// First: the caller must run the filler, which removes the fill again.
    Lead(Arc<Fill>),
    /// Somebody fetches already.
    Follow(Arc<Fill>),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Fills {
    shards: [Mutex<HashMap<Key, Vec<Arc<Fill>>>>; SHARDS],
    hasher: foldhash::fast::RandomState,
    held: Arc<MemoryAccount>,
}

const SHARDS: usize = 16;

impl Fills {
    pub(crate) fn new(held: &Arc<MemoryAccount>) -> Self {
        Fills {
            shards: std::array::from_fn(|_| Mutex::default()),
            hasher: foldhash::fast::RandomState::default(),
            held: Arc::clone(held),
        }
    }

    fn shard(&self, key: &KeyView<'_>) -> MutexGuard<'_, HashMap<Key, Vec<Arc<Fill>>>> {
        let index = self.hasher.hash_one(key) as usize % SHARDS;
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place at the fill of this key and variant. `wanted` is `None` while nobody knows the answer's `Vary`: then any
    /// fill of the key will do until its head tells. None will that began before a purge which may concern it: whoever
    /// asks afterwards must not get what was there before.
    pub(crate) fn join(&self, key: &KeyView<'_>, wanted: Option<Variant>, marks: &Marks) -> FillRole {
        let mut shard = self.shard(key);
        let fills = shard.entry(key.to_key()).or_default();
        let suitable = fills.iter().find(|fill| {
            wanted.as_ref().is_none_or(|wanted| fill.is_variant(wanted))
                && marks.may_follow(key, fill.since())
        });
        if let Some(fill) = suitable {
            return FillRole::Follow(Arc::clone(fill));
        }
        let fill = Fill::new(wanted, marks.epoch(), &self.held);
        fills.push(Arc::clone(&fill));
        FillRole::Lead(fill)
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

    /// Fetches in progress.
    pub(crate) fn len(&self) -> usize {
        self.shards
            .iter()
            .map(|s| s.lock().unwrap_or_else(PoisonError::into_inner).values().map(Vec::len).sum::<usize>())
            .sum()
    }
}
