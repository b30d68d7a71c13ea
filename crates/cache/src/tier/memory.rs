//! Memory: the tier every hit comes from. Bounded in bytes, shared by all cores.
//!
//! quick_cache evicts by a clock with ghosts of what was lately pushed out: a scan over many keys asked for once does
//! not push out what is asked for often.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use message::Timestamp;
use quick_cache::sync::Cache;
use quick_cache::{Lifecycle, OptionsBuilder, Weighter};

use crate::entry::Entry;
use crate::entry::part::Part;
use crate::entry::resource::Resource;
use crate::key::{Key, KeyView};
use crate::tier::memory_account::MemoryAccount;

/// The memory tier. Shared between cores behind an `Arc`.
pub struct Memory {
    table: Cache<Key, Resource, Cost, foldhash::fast::RandomState, Evicted>,
    /// Held while a resource is replaced, so that two variants stored at once do not lose each other. Never on a hit.
    writing: Mutex<()>,
    evicted: Arc<AtomicU64>,
    held: Arc<MemoryAccount>,
}

/// How long a walk works, and rests, in turn.
const STRETCH: Duration = Duration::from_micros(250);
const REST: Duration = Duration::from_micros(750);

#[derive(Clone)]
struct Cost;

impl Weighter<Key, Resource> for Cost {
    fn weight(&self, key: &Key, resource: &Resource) -> u64 {
        (key.heap_bytes() + resource.cost()) as u64
    }
}

#[derive(Clone)]
struct Evicted {
    count: Arc<AtomicU64>,
    held: Arc<MemoryAccount>,
}

impl Lifecycle<Key, Resource> for Evicted {
    type RequestState = ();

    /// Not `on_evict`, which is told of replaced values too.
    fn before_evict(&self, (): &mut (), _: &Key, _: &mut Resource) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Whatever leaves the table, replaced or pushed out, may still be being read.
    fn on_evict(&self, (): &mut (), _: Key, resource: Resource) {
        self.held.dropped(resource.content());
    }
}

impl Memory {
    /// A tier that holds at most `bytes`: keys, heads and bodies counted.
    pub fn new(bytes: u64) -> Self {
        /// A shard must hold some large bodies, so small tiers have few shards.
        const LEAST_SHARD: u64 = 32 * 1024 * 1024;
        const TYPICAL_ENTRY: u64 = 2 * 1024;
        let shards = (bytes / LEAST_SHARD).clamp(1, 64) as usize;
        // Rounded down to a power of two, which the table would otherwise round up.
        let shards = 1 << shards.ilog2();
        let evicted = Arc::new(AtomicU64::new(0));
        let held = MemoryAccount::new(bytes);
        let options = OptionsBuilder::new()
            .shards(shards)
            .weight_capacity(bytes)
            .estimated_items_capacity((bytes / TYPICAL_ENTRY).clamp(64, 1 << 24) as usize)
            .build()
            .expect("both mandatory options are set above");
        let table = Cache::with_options(
            options,
            Cost,
            foldhash::fast::RandomState::default(),
            Evicted { count: Arc::clone(&evicted), held: Arc::clone(&held) },
        );
        Memory { table, writing: Mutex::new(()), evicted, held }
    }

    /// What is stored under the key.
    pub fn get(&self, key: &KeyView<'_>) -> Option<Resource> {
        self.table.get(key)
    }

    /// Stores an entry beside the other variants of its key, of which at most `most` stay.
    pub fn put(&self, key: &KeyView<'_>, entry: Arc<Entry>, most: usize) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.insert_beside(key, self.table.peek(key), &entry, most);
    }

    /// Stores an entry from another tier, unless something whole is there, which is newer.
    pub(crate) fn put_if_missing(&self, key: &KeyView<'_>, entry: Arc<Entry>) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.table.peek(key).is_none_or(|resource| !resource.has_whole()) {
            self.insert(key, Resource::One(entry));
        }
    }

    fn insert(&self, key: &KeyView<'_>, resource: Resource) {
        self.held.stored(resource.content());
        self.table.insert(key.to_key(), resource);
    }

    /// What is too large for the table together is not kept at all, so the oldest variants give way until the rest is.
    fn insert_beside(&self, key: &KeyView<'_>, others: Option<Resource>, entry: &Arc<Entry>, most: usize) {
        let mut most = most;
        loop {
            let resource = others.as_ref().map_or_else(
                || Resource::One(Arc::clone(entry)),
                |others| others.with(Arc::clone(entry), most),
            );
            let variants = resource.variants();
            self.insert(key, resource);
            if variants <= 1 || self.table.peek(key).is_some() {
                return;
            }
            most = variants / 2;
        }
    }

    /// Stores an entry in place of another, if that is still there.
    pub fn replace(&self, key: &KeyView<'_>, old: &Arc<Entry>, new: Arc<Entry>, most: usize) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(resource) = self.table.peek(key).filter(|resource| resource.has(old)) {
            self.insert_beside(key, resource.without(old), &new, most);
        }
    }

    /// Stores an entry from another instance, unless what is there for the same requests is newer.
    pub(crate) fn put_newer(&self, key: &KeyView<'_>, entry: Arc<Entry>, most: usize) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let there = self.table.peek(key);
        let is_older = |other: &Arc<Entry>| {
            // One without a variant would take the place of all, and any of its.
            (entry.variant().is_none() || other.variant().is_none() || other.variant() == entry.variant())
                && other.terms().received_at() >= entry.terms().received_at()
        };
        if !there.as_ref().is_some_and(|resource| resource.entries().iter().any(is_older)) {
            self.insert_beside(key, there, &entry, most);
        }
    }

    /// Stores a stretch, unless something whole is there.
    pub(crate) fn put_part(&self, key: &KeyView<'_>, part: Arc<Part>) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.table.peek(key).is_none_or(|resource| !resource.has_whole()) {
            self.insert(key, Resource::Part(part));
        }
    }

    /// Remembers that answers are not for sharing, unless something is stored.
    pub(crate) fn put_unshared(&self, key: &KeyView<'_>, until: Timestamp) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.table.peek(key).is_none_or(|resource| matches!(resource, Resource::Unshared(_))) {
            self.insert(key, Resource::Unshared(until));
        }
    }

    /// Removes one entry, if it is still there.
    pub fn remove_entry(&self, key: &KeyView<'_>, entry: &Arc<Entry>) {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        match self.table.peek(key).map(|resource| resource.without(entry)) {
            Some(Some(rest)) => self.insert(key, rest),
            Some(None) => {
                if let Some((_, removed)) = self.table.remove(key) {
                    self.held.dropped(removed.content());
                }
            }
            None => {}
        }
    }

    /// Shows every whole answer with its key. What is stored or pushed out meanwhile may be seen or not.
    ///
    /// No lock is held for longer than it takes to copy one; and since there may be no processor to spare, it rests
    /// between short stretches of work, so that a hit on the same processor waits for no more than one of them. For a
    /// thread that may block.
    pub(crate) fn walk(&self, mut visit: impl FnMut(&KeyView<'_>, &Arc<Entry>)) {
        const BETWEEN_LOOKS: usize = 64;
        let mut began = Instant::now();
        for (count, (key, resource)) in self.table.iter().enumerate() {
            let key = key.view();
            resource.entries().iter().for_each(|entry| visit(&key, entry));
            if count % BETWEEN_LOOKS == BETWEEN_LOOKS - 1 && began.elapsed() >= STRETCH {
                #[expect(clippy::disallowed_methods, reason = "walks are for threads that may block")]
                std::thread::sleep(REST);
                began = Instant::now();
            }
        }
    }

    /// Keys stored now.
    pub fn keys(&self) -> usize {
        self.table.len()
    }

    /// Bytes stored now.
    pub fn bytes(&self) -> u64 {
        self.table.weight()
    }

    /// Bytes it may hold.
    pub fn capacity(&self) -> u64 {
        self.table.capacity()
    }

    /// Changes how many bytes it may hold, pushing out what no longer fits.
    pub fn set_capacity(&self, bytes: u64) {
        self.held.set_memory(bytes);
        self.table.set_capacity(bytes);
    }

    /// The content there is, in the table and out of it.
    pub(crate) fn held(&self) -> &Arc<MemoryAccount> {
        &self.held
    }

    /// Bytes of content that are not stored: arriving, or stored no more and still being read.
    pub fn on_loan(&self) -> u64 {
        self.held.on_loan()
    }

    /// Whether there was no room for an answer lately, and there would be if readers who do not move gave back what they
    /// have.
    pub fn is_short(&self) -> bool {
        self.held.is_short()
    }

    /// Keys pushed out since the start.
    pub fn evicted(&self) -> u64 {
        self.evicted.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT_LANGUAGE;
    use http::{HeaderMap, HeaderValue};
    use message::{Fields, Scheme};

    use super::*;
    use crate::entry::{Draft, Variant};
    use crate::sample;

    fn entry(size: usize) -> Arc<Entry> {
        variant("", size)
    }

    /// Without a language: for everybody.
    fn variant(language: &'static str, size: usize) -> Arc<Entry> {
        let mut asked = HeaderMap::new();
        asked.insert(ACCEPT_LANGUAGE, HeaderValue::from_static(language));
        let variant = (!language.is_empty()).then(|| Variant::of(&[ACCEPT_LANGUAGE], Fields::Map(&asked)));
        Arc::new(Entry::new(Draft { variant, ..sample::draft() }, sample::content(&vec![b'x'; size])))
    }

    fn key(target: &str) -> KeyView<'_> {
        KeyView { scheme: Scheme::Http, authority: "a.example", target, also: "" }
    }

    #[test]
    fn the_bound_counts_keys_heads_and_bodies() {
        let memory = Memory::new(1024 * 1024);
        for number in 0..10_000 {
            memory.put(&key(&format!("/{number:0>100}")), entry(1000), 16);
            assert!(memory.bytes() <= memory.capacity());
        }
        assert!(memory.evicted() > 9_000, "a mebibyte holds fewer than a thousand of these");
        let evicted = memory.evicted();
        memory.put(&key("/replaced"), entry(1), 16);
        memory.put(&key("/replaced"), entry(1), 16);
        assert!(memory.evicted() <= evicted + 1, "what is replaced is not pushed out");
        assert!(memory.keys() > 500, "but hundreds");
    }

    #[test]
    fn a_scan_does_not_push_out_what_is_asked_for_often() {
        let memory = Memory::new(1024 * 1024);
        let hot: Vec<_> = (0..100).map(|number| format!("/hot/{number}")).collect();
        for target in &hot {
            memory.put(&key(target), entry(1000), 16);
        }
        for number in 0..20_000 {
            memory.get(&key(&hot[number % hot.len()]));
            memory.put(&key(&format!("/scan/{number}")), entry(1000), 16);
        }
        let left = hot.iter().filter(|target| memory.get(&key(target)).is_some()).count();
        assert!(left >= 95, "{left} of 100 survived");
    }

    #[test]
    fn variants_that_are_too_large_together_give_way_to_the_newest() {
        let memory = Memory::new(64 * 1024);
        for language in ["en", "fr", "de"] {
            memory.put(&key("/"), variant(language, 30 * 1024), 16);
            let stored = memory.get(&key("/")).expect("one of them fits");
            let mut asked = HeaderMap::new();
            asked.insert("accept-language", HeaderValue::from_static(language));
            assert!(stored.select(Fields::Map(&asked)).is_some(), "{language}");
        }
    }

    /// The origin has stopped negotiating, and another instance still had a variant.
    #[test]
    fn an_older_variant_does_not_take_the_place_of_what_is_for_everybody() {
        let memory = Memory::new(64 * 1024);
        memory.put(&key("/"), entry(1), 16);
        memory.put_newer(&key("/"), variant("en", 2), 16);
        let stored = memory.get(&key("/")).expect("it fits");
        assert!(stored.entries().iter().all(|entry| entry.variant().is_none()));
    }

    #[test]
    fn what_is_larger_than_the_tier_is_not_kept_and_harms_nothing() {
        let memory = Memory::new(64 * 1024);
        memory.put(&key("/small"), entry(100), 16);
        memory.put(&key("/large"), entry(1024 * 1024), 16);
        assert!(memory.get(&key("/large")).is_none());
        assert!(memory.get(&key("/small")).is_some());
    }
}
