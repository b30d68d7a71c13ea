//! Store: what all cores share: the memory tier, the fills in progress, and how often what happened.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use message::Timestamp;
use rules::Reuse;

use crate::entry::Entry;
use crate::entry::encode::UnderWay;
use crate::entry::encoded::Encoded;
use crate::entry::part::Part;
use crate::entry::resource::Resource;
use crate::fill::fills::Fills;
use crate::key::KeyView;
use crate::key::keying::{Look, Scratch};
use crate::key::learned::Learned;
use crate::purge::marks::{Marks, Standing};
use crate::request::graphql::Persisted;
use crate::request::interest::Interest;
use crate::tier::disk::DiskTier;
use crate::tier::memory::Memory;
use crate::tier::shared::{self, SharedTier};

/// See the module.
pub struct Store {
    /// The memory tier.
    pub memory: Memory,
    pub(crate) fills: Fills,
    pub(crate) encoding: UnderWay,
    pub(crate) marks: Marks,
    pub(crate) learned: Learned,
    pub(crate) persisted: Persisted,
    /// What lies behind the memory.
    pub(crate) disk: Option<DiskTier>,
    /// What lies behind that, for all instances.
    pub(crate) shared: Option<Arc<SharedTier>>,
    /// What happened off the path of a hit.
    pub counters: StoreCounters,
}

/// A fresh answer, and how its content goes to this client.
#[derive(Clone, Debug)]
pub struct FreshEntry {
    /// The stored answer.
    pub entry: Arc<Entry>,
    /// Which of its compressed forms; `None`: the content as it is.
    pub encoding: Option<rules::Encoding>,
}

impl FreshEntry {
    /// The compressed form; `None`: the content as it is.
    pub fn encoded(&self) -> Option<&Encoded> {
        self.entry.encoded(self.encoding?)
    }
}

/// What a fetch brought.
pub(crate) enum EntryOrPart {
    /// A whole answer. `before`: the same content on other terms, where it was stored.
    Entry {
        entry: Arc<Entry>,
        before: Option<Arc<Entry>>,
    },
    Part(Arc<Part>),
}

/// Counts since the start.
#[derive(Debug, Default)]
pub struct StoreCounters {
    fills: AtomicU64,
    filling: AtomicU64,
    coalesced: AtomicU64,
    stored: AtomicU64,
    stored_bytes: AtomicU64,
    invalidated: AtomicU64,
    encoded: AtomicU64,
}

/// What may lie behind the memory.
#[derive(Clone, Default)]
pub struct Tiers {
    /// A folder of this machine.
    pub disk: Option<Arc<disk::Disk>>,
    /// What instances share.
    pub redis: Option<Arc<redis_link::SharedLink>>,
}

impl Store {
    /// An empty store whose memory tier holds at most `bytes`.
    pub fn new(bytes: u64) -> Arc<Store> {
        Arc::new(Store::of_memory(bytes))
    }

    /// The same with tiers behind the memory. What a disk kept is there again, and so are the purges; what lies in a
    /// Redis can be used once this instance has learned what was purged there.
    ///
    /// # Errors
    /// When the thread that looks after the shared tier cannot be started.
    pub fn with_tiers(bytes: u64, tiers: Tiers) -> std::io::Result<Arc<Store>> {
        let mut store = Store::of_memory(bytes);
        store.disk = tiers.disk.map(|disk| DiskTier::new(disk, &store.marks));
        let Some(redis) = tiers.redis else { return Ok(Arc::new(store)) };
        let (tier, received) = SharedTier::new(redis);
        store.shared = Some(Arc::clone(&tier));
        let store = Arc::new(store);
        shared::start(&store, tier, received)?;
        Ok(store)
    }

    fn of_memory(bytes: u64) -> Store {
        let memory = Memory::new(bytes);
        Store {
            fills: Fills::new(memory.held()),
            memory,
            encoding: UnderWay::default(),
            marks: Marks::default(),
            learned: Learned::new(),
            persisted: Persisted::default(),
            disk: None,
            shared: None,
            counters: StoreCounters::default(),
        }
    }

    /// Whether no further fetch may outlive the client it is for.
    pub(crate) fn has_too_many_fetches(&self) -> bool {
        const MOST: u64 = 16 * 1024;
        self.counters.filling() >= MOST
    }

    /// The answer to this request right now, without asking anybody. Allocates nothing, as long as `scratch` has room.
    ///
    /// Conditional and range requests are left to the longer way, since their answers are not the entry's head; and so
    /// is whoever should set off an early refresh, or asks for a compressed form that is not there yet.
    pub fn fresh(&self, look: &Look<'_>, now: Timestamp, scratch: &mut Scratch) -> Option<FreshEntry> {
        let (request, policy) = (look.request, look.policy);
        let interest = Interest::of(look);
        if interest.shapes_the_answer() || interest.bypass().is_some() {
            return None;
        }
        let key = look.key(&self.learned, None, scratch).key;
        let entry = self.memory.get(&key)?.into_selected(request.fields)?;
        let entry = self.standing(&key, entry)?;
        let directives = interest.directives(request.fields, policy);
        if entry.terms().reuse(&directives, interest.authorization(), now) != Reuse::Fresh {
            return None;
        }
        if policy.early.is_some_and(|share| entry.is_due_early(share, now)) {
            return None;
        }
        let mut encoding = None;
        if let Some(compress) = policy.compress.as_ref().filter(|_| entry.is_encodable()) {
            encoding = rules::encoding::choose(request.fields, &compress.encodings);
            if encoding.is_some_and(|encoding| entry.encoded(encoding).is_none()) {
                // Being compressed, or found not to get shorter: meanwhile, or for good, as it is.
                if !entry.is_encoding() {
                    return None;
                }
                encoding = None;
            }
        }
        entry.hit();
        Some(FreshEntry { entry, encoding })
    }

    /// The entry as the purges since its last use leave it; `None`: it is gone. Two numbers are compared in most cases.
    pub(crate) fn standing(&self, key: &KeyView<'_>, entry: Arc<Entry>) -> Option<Arc<Entry>> {
        let epoch = self.marks.epoch();
        if entry.compared() >= epoch { Some(entry) } else { self.compare(key, entry, epoch) }
    }

    #[cold]
    fn compare(&self, key: &KeyView<'_>, entry: Arc<Entry>, epoch: u64) -> Option<Arc<Entry>> {
        match self.marks.standing(key, entry.tags(), entry.compared()) {
            Standing::Kept => {
                entry.set_compared(epoch);
                Some(entry)
            }
            Standing::StaleSince(at) => {
                let softened = Arc::new(entry.softened(at));
                softened.set_compared(epoch);
                self.memory.replace(key, &entry, Arc::clone(&softened), usize::MAX);
                Some(softened)
            }
            Standing::Gone => {
                self.remove_entry(key, &entry);
                None
            }
        }
    }

    /// The target under which a request's answer is stored: what of its query counts. For purging one URL exactly.
    pub fn keyed_target(&self, look: &Look<'_>) -> Box<str> {
        look.key(&self.learned, None, &mut Scratch::default()).key.target.into()
    }

    /// Fetches in progress.
    pub fn fills_in_progress(&self) -> usize {
        self.fills.len()
    }

    /// Stores what a fetch brought, unless it was purged since the origin was asked. Looked at again afterwards, so that
    /// a purge either finds the entry or is found here.
    ///
    /// Gives back the entry as it is kept; `None` for a part, too.
    pub(crate) fn keep(
        &self,
        key: &KeyView<'_>,
        kept: EntryOrPart,
        most_variants: usize,
    ) -> Option<Arc<Entry>> {
        match kept {
            EntryOrPart::Entry { entry, before } => {
                let length = entry.body().len() as u64;
                self.standing(key, Arc::clone(&entry))?;
                self.memory.put(key, Arc::clone(&entry), most_variants);
                let entry = self.standing(key, entry)?;
                self.counters.stored(length);
                self.keep_on_disk(key, &entry, before.as_deref());
                Some(entry)
            }
            EntryOrPart::Part(part) => {
                if self.stands(key, &part) {
                    self.memory.put_part(key, part);
                }
                None
            }
        }
    }

    fn keep_on_disk(&self, key: &KeyView<'_>, entry: &Entry, before: Option<&Entry>) {
        if let Some(disk) = &self.disk {
            disk.keep(key, entry, before, message::Clock::now());
        }
    }

    /// Makes an entry stale, on disk too: the origin is known to have another version.
    pub(crate) fn outdate(&self, key: &KeyView<'_>, entry: &Arc<Entry>, at: Timestamp, most_variants: usize) {
        let stale = Arc::new(entry.softened(at));
        stale.set_compared(entry.compared());
        self.keep_on_disk(key, &stale, Some(entry));
        self.memory.replace(key, entry, stale, most_variants);
    }

    /// Removes an entry from every tier, if it is still there.
    pub(crate) fn remove_entry(&self, key: &KeyView<'_>, entry: &Arc<Entry>) {
        self.memory.remove_entry(key, entry);
        if let Some(disk) = &self.disk {
            disk.remove(key);
        }
    }

    /// Whether there is a fresh answer for all requests.
    pub(crate) fn has_for_all(&self, key: &KeyView<'_>) -> bool {
        let now = message::Clock::now();
        let entries = self.memory.get(key);
        let for_all = entries.iter().flat_map(Resource::entries).find(|entry| entry.variant().is_none());
        for_all
            .and_then(|entry| self.standing(key, Arc::clone(entry)))
            .is_some_and(|entry| entry.terms().is_fresh(now))
    }

    /// Whether no purge since it was asked for concerns a part. Parts are not worth more care than being asked for anew.
    pub(crate) fn stands(&self, key: &KeyView<'_>, part: &Part) -> bool {
        self.marks.standing(key, part.tags(), part.since()) == Standing::Kept
    }

    /// A write has made something out of date (RFC 9111 §4.4, or by a rule of its route).
    pub fn invalidate(&self, purge: &crate::Purge, now: Timestamp) {
        self.forget(purge, false, now);
        self.counters.invalidated.fetch_add(1, Relaxed);
    }
}

impl StoreCounters {
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

    pub(crate) fn encoded(&self) {
        self.encoded.fetch_add(1, Relaxed);
    }

    /// Compressed forms made.
    pub fn encoded_answers(&self) -> u64 {
        self.encoded.load(Relaxed)
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

    /// What writes have made the cache forget: URLs, and what rules of their routes name.
    pub fn invalidated(&self) -> u64 {
        self.invalidated.load(Relaxed)
    }
}
