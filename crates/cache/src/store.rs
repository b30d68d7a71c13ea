//! Store: what all cores share: the memory tier, the fills in progress, and how often what happened.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use message::{RequestView, Timestamp};
use plan::CachePolicy;
use rules::Reuse;

use crate::entry::Entry;
use crate::fill::Fill;
use crate::fills::Fills;
use crate::in_flight::InFlight;
use crate::interest::Interest;
use crate::key::KeyView;
use crate::memory::Memory;
use crate::part::Part;

/// See the module.
pub struct Store {
    /// The memory tier.
    pub memory: Memory,
    pub(crate) fills: Fills,
    /// Content on its way into the memory tier.
    pub(crate) in_flight: InFlight,
    /// What happened off the path of a hit.
    pub counters: Counters,
}

/// What a fetch remembers of when it began.
pub(crate) struct Begun<'a> {
    pub(crate) fill: &'a Fill,
    /// As [`Fills::writes`] said.
    pub(crate) writes: u64,
}

/// What it brought.
pub(crate) enum Kept {
    Entry(Arc<Entry>),
    Part(Arc<Part>),
}

/// Counts since the start.
#[derive(Debug, Default)]
pub struct Counters {
    fills: AtomicU64,
    filling: AtomicU64,
    coalesced: AtomicU64,
    stored: AtomicU64,
    stored_bytes: AtomicU64,
    invalidated: AtomicU64,
}

impl Store {
    /// An empty store whose memory tier holds at most `bytes`.
    pub fn new(bytes: u64) -> Arc<Store> {
        Arc::new(Store {
            memory: Memory::new(bytes),
            fills: Fills::new(),
            in_flight: InFlight::default(),
            counters: Counters::default(),
        })
    }

    /// Whether content on its way takes more than a quarter of what the memory tier may hold.
    pub(crate) fn is_overfull(&self) -> bool {
        self.in_flight.bytes() > self.memory.capacity() / 4
    }

    /// Whether no further fetch may outlive the client it is for.
    pub(crate) fn has_too_many_fetches(&self) -> bool {
        const MOST: u64 = 16 * 1024;
        self.counters.filling() >= MOST
    }

    /// The entry that answers this request right now, without asking anybody. Allocates nothing.
    ///
    /// Conditional and range requests are left to the longer way: their answers are not the entry's head.
    pub fn fresh(
        &self,
        request: &RequestView<'_>,
        policy: &CachePolicy,
        now: Timestamp,
    ) -> Option<Arc<Entry>> {
        let interest = Interest::of(request.fields);
        if interest.shapes_the_answer() || interest.bypass().is_some() {
            return None;
        }
        let resource = self.memory.get(&KeyView::of(request))?;
        let entry = resource.into_selected(request.fields)?;
        let directives = interest.directives(request.fields, policy);
        let reuse = entry.terms().reuse(&directives, interest.authorization(), now);
        matches!(reuse, Reuse::Fresh).then_some(entry)
    }

    /// Fetches in progress.
    pub fn fills_in_progress(&self) -> usize {
        self.fills.len()
    }

    /// Stores what a fetch brought, unless the key was invalidated since it began. Looked at afterwards, so that an invalidation either finds the entry or is found here.
    pub(crate) fn keep(&self, key: &KeyView<'_>, begun: &Begun<'_>, kept: Kept, most_variants: usize) {
        if self.is_outdated(key, begun) {
            return;
        }
        match kept {
            Kept::Entry(entry) => {
                self.memory.put(key, Arc::clone(&entry), most_variants);
                if self.is_outdated(key, begun) {
                    return self.memory.remove_entry(key, &entry);
                }
                self.counters.stored(entry.body().len() as u64);
            }
            Kept::Part(part) => {
                self.memory.put_part(key, part);
                if self.is_outdated(key, begun) {
                    self.memory.remove(key);
                }
            }
        }
    }

    fn is_outdated(&self, key: &KeyView<'_>, begun: &Begun<'_>) -> bool {
        begun.fill.is_outdated() || (begun.fill.is_alone() && self.fills.writes(key) != begun.writes)
    }

    /// Forgets a key: stored variants, and what is on its way (RFC 9111 §4.4).
    pub fn invalidate(&self, key: &KeyView<'_>) {
        self.fills.outdate(key);
        if self.memory.remove(key) {
            self.counters.invalidated.fetch_add(1, Relaxed);
        }
    }
}

impl Counters {
    pub(crate) fn fill_started(&self) {
        self.fills.fetch_add(1, Relaxed);
        self.filling.fetch_add(1, Relaxed);
    }

    pub(crate) fn fill_ended(&self) {
        self.filling.fetch_sub(1, Relaxed);
    }

    pub(crate) fn coalesced(&self) {
        self.coalesced.fetch_add(1, Relaxed);
    }

    pub(crate) fn stored(&self, bytes: u64) {
        self.stored.fetch_add(1, Relaxed);
        self.stored_bytes.fetch_add(bytes, Relaxed);
    }

    /// Fetches started.
    pub fn fills(&self) -> u64 {
        self.fills.load(Relaxed)
    }

    /// Fetches in progress, including those nobody may join.
    pub fn filling(&self) -> u64 {
        self.filling.load(Relaxed)
    }

    /// Requests that followed somebody else's fetch.
    pub fn coalesced_requests(&self) -> u64 {
        self.coalesced.load(Relaxed)
    }

    /// Answers stored, and the bytes of their content.
    pub fn stored_answers(&self) -> (u64, u64) {
        (self.stored.load(Relaxed), self.stored_bytes.load(Relaxed))
    }

    /// Keys forgotten because of an unsafe request.
    pub fn invalidated(&self) -> u64 {
        self.invalidated.load(Relaxed)
    }
}
