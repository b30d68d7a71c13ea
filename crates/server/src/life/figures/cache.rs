//! Of the memory tier, and of fetches for the cache.

use std::sync::atomic::{AtomicU64, Ordering};

use cache::{Store, Tags};
use telemetry::Family;

pub(super) fn families(store: &Store, swept: &AtomicU64) -> Vec<Family> {
    let (memory, counted) = (&store.memory, &store.counters);
    let (stored, stored_bytes) = counted.stored_answers();
    vec![
        Family::gauge("cache", "Memory taken by the cache: keys, heads, bodies").bytes().of(memory.bytes()),
        Family::gauge("cache_capacity", "Memory the cache may take").bytes().of(memory.capacity()),
        Family::gauge("cache_keys", "Keys in the cache").of(memory.keys() as u64),
        Family::counter("cache_evictions", "Entries pushed out to make room").of(memory.evicted()),
        Family::counter("cache_invalidations", "Keys forgotten because of an unsafe request")
            .of(counted.invalidated()),
        Family::counter("fills", "Fetches for the cache").of(counted.fills()),
        Family::gauge("fills_in_progress", "Fetches for the cache under way").of(counted.filling()),
        Family::counter("coalesced_requests", "Requests that waited for somebody else's fetch")
            .of(counted.coalesced_requests()),
        Family::counter("stored", "Answers stored in the cache").of(stored),
        Family::counter("stored_content", "Content of the answers stored").bytes().of(stored_bytes),
        Family::gauge("cache_tags", "Memory taken by tags; part of the cache's")
            .bytes()
            .of(Tags::bytes_in_memory()),
        Family::counter("cache_swept", "Entries forgotten or made stale because of a purge")
            .of(swept.load(Ordering::Relaxed)),
        Family::counter(
            "cache_folded_purges",
            "Purges that forget more than they named, since there were too many",
        )
        .of(store.folded_purges()),
        Family::counter("compressed", "Stored answers compressed for those who accept it")
            .of(counted.encoded_answers()),
    ]
}
