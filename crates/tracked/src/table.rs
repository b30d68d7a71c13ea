//! The table: answers by the name of their read. Bounded in bytes, shared by all cores, sharded.
//!
//! As in the memory tier, quick_cache evicts by a clock with ghosts of what was lately pushed out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::fast::SeedableRandomState;
use message::Timestamp;
use quick_cache::sync::Cache;
use quick_cache::{Lifecycle, OptionsBuilder, Weighter};

use crate::tracked::Ticket;

/// See the module.
pub(crate) struct Table<V> {
    answers: Cache<Box<[u8]>, Arc<HeldAnswer<V>>, Cost, SeedableRandomState, Evicted>,
    evicted: Arc<AtomicU64>,
}

/// An answer and what keeps it fresh.
pub(crate) struct HeldAnswer<V> {
    pub(crate) value: V,
    pub(crate) ticket: Ticket,
    /// When its key expires; far away if it does not.
    pub(crate) deadline: Timestamp,
    /// As of when it is known to have been right, in milliseconds.
    pub(crate) seen: AtomicU64,
    /// All it takes, as worked out by [`Table::cost`].
    pub(crate) cost: u32,
}

#[derive(Clone)]
struct Cost;

impl<V> Weighter<Box<[u8]>, Arc<HeldAnswer<V>>> for Cost {
    fn weight(&self, _: &Box<[u8]>, held: &Arc<HeldAnswer<V>>) -> u64 {
        u64::from(held.cost)
    }
}

#[derive(Clone)]
struct Evicted(Arc<AtomicU64>);

impl<V> Lifecycle<Box<[u8]>, Arc<HeldAnswer<V>>> for Evicted {
    type RequestState = ();

    /// Not `on_evict`, which is told of replaced values too.
    fn before_evict(&self, (): &mut (), _: &Box<[u8]>, _: &mut Arc<HeldAnswer<V>>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl<V> Table<V> {
    /// Bytes an entry takes beside its name's and value's: its place, links, the index, and what allocators round up.
    const ENTRY: usize = size_of::<Box<[u8]>>() + size_of::<HeldAnswer<V>>() + 72;

    pub(crate) fn new(bytes: u64) -> Self {
        Self::hashed(bytes, SeedableRandomState::random())
    }

    /// The same order of eviction each time.
    #[cfg(test)]
    pub(crate) fn seeded(bytes: u64, seed: u64) -> Self {
        Self::hashed(bytes, SeedableRandomState::with_seed(seed, foldhash::SharedSeed::global_fixed()))
    }

    fn hashed(bytes: u64, hasher: SeedableRandomState) -> Self {
        /// A shard must hold some large answers, so small tables have few shards.
        const LEAST_SHARD: u64 = 4 * 1024 * 1024;
        const TYPICAL_ENTRY: u64 = 512;
        /// For each typical entry. A ghost takes the place of an entry, so half of them would be too dear.
        const GHOSTS: f64 = 0.25;
        let shards = 1_usize << (bytes / LEAST_SHARD).clamp(1, 64).ilog2();
        let typical = (bytes / TYPICAL_ENTRY).clamp(64, 1 << 24);
        let ghosts = (typical as f64 * GHOSTS) as u64 * Self::ENTRY as u64;
        let evicted = Arc::new(AtomicU64::new(0));
        let options = OptionsBuilder::new()
            .shards(shards)
            .weight_capacity(bytes.saturating_sub(ghosts))
            .estimated_items_capacity(typical as usize)
            .ghost_allocation(GHOSTS)
            .build()
            .expect("both mandatory options are set above");
        let answers = Cache::with_options(options, Cost, hasher, Evicted(Arc::clone(&evicted)));
        Table { answers, evicted }
    }

    /// What an answer takes: `weight` is what its value holds outside of itself. `None`: more than a shard has room for.
    pub(crate) fn cost(&self, name: &[u8], ticket: &Ticket, weight: u64) -> Option<u32> {
        let cost = weight.saturating_add((Self::ENTRY + name.len() + ticket.heap_bytes()) as u64);
        // The table lets nothing in that is larger than the part of a shard for what is asked for often.
        let most = self.answers.shard_capacity() / 100 * 96;
        u32::try_from(cost).ok().filter(|_| cost <= most)
    }

    #[inline]
    pub(crate) fn get(&self, name: &[u8]) -> Option<Arc<HeldAnswer<V>>> {
        self.answers.get(name)
    }

    pub(crate) fn insert(&self, name: &[u8], held: HeldAnswer<V>) {
        self.answers.insert(name.into(), Arc::new(held));
    }

    /// Shard by shard: what is inserted meanwhile may stay.
    pub(crate) fn clear(&self) {
        self.answers.clear();
    }

    pub(crate) fn entries(&self) -> usize {
        self.answers.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.answers.weight()
    }

    pub(crate) fn evicted(&self) -> u64 {
        self.evicted.load(Ordering::Relaxed)
    }
}
