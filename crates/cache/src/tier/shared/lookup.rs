//! Lookup: what the other instances left in Redis for a request, in one round trip. Called by `recall` before the origin
//! is asked, and by `turn` while another instance asks it.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use foldhash::fast::FixedState;
use http::header::HeaderName;
use message::{Clock, Fields};
use plan::CachePolicy;
use redis_link::{Cmd, Link, Value, cmd};

use super::message::text;
use super::names::Names;
use super::record;
use super::tier::SharedTier;
use crate::entry::Entry;
use crate::entry::draft::client_lifetime;
use crate::key::KeyView;
use crate::store::Store;

/// A core's way to the tier.
#[derive(Clone, Copy)]
pub(crate) struct Sharing<'a> {
    pub(super) store: &'a Arc<Store>,
    pub(super) tier: &'a Arc<SharedTier>,
    pub(super) link: &'a Link,
    pub(super) policy: &'a CachePolicy,
}

/// What is asked for: the answer for everybody, the names that variants are chosen by, and the variant that this request
/// would get, should they be those that were met on its path before.
pub(crate) struct Wanted {
    pub(crate) names: Names,
    vary: Arc<[HeaderName]>,
    path: u64,
}

impl Wanted {
    pub(crate) fn of(tier: &SharedTier, key: &KeyView<'_>) -> Self {
        use std::hash::BuildHasher;
        let path = FixedState::default().hash_one((key.authority, key.path()));
        let vary = tier.vary.get(&path).unwrap_or_default();
        Wanted { names: Names::of(&tier.plan().prefix, key), vary, path }
    }

    /// The keys, in the order in which [`Sharing::chosen`] takes the values.
    pub(crate) fn keys(&self, request: Fields<'_>) -> Vec<String> {
        let mut keys = vec![self.names.answer(None), self.names.vary()];
        if !self.vary.is_empty() {
            keys.push(self.names.asked(&self.vary, request));
        }
        keys
    }
}

/// What was found among the values.
enum Chosen {
    Entry(Arc<Entry>),
    /// There are variants, chosen by fields that were not known here.
    ByOthers(Arc<[HeaderName]>),
    Nothing,
}

impl<'a> Sharing<'a> {
    /// Where there is a tier, and the policy uses it.
    pub(crate) fn of(store: &'a Arc<Store>, link: Option<&'a Link>, policy: &'a CachePolicy) -> Option<Self> {
        let (tier, link) = (store.shared.as_ref()?, link?);
        policy.shared.then_some(Sharing { store, tier, link, policy })
    }

    /// The answer for this request, compared with every purge. Whether it is fresh is for the caller to say.
    pub(crate) async fn find(&self, key: &KeyView<'_>, request: Fields<'_>) -> Option<Arc<Entry>> {
        let counters = &self.tier.counters;
        if !self.tier.hears() {
            counters.skipped.fetch_add(1, Relaxed);
            return None;
        }
        let mut wanted = Wanted::of(self.tier, key);
        // Once more where the fields turn out to be others: only the first time that a path is met.
        for _ in 0..2 {
            let keys = wanted.keys(request);
            let Some(Value::Array(values)) = self.ask(cmd("MGET").arg(&keys)).await else {
                counters.skipped.fetch_add(1, Relaxed);
                return None;
            };
            match self.chosen(key, &wanted, values, request) {
                Chosen::Entry(entry) => {
                    counters.hits.fetch_add(1, Relaxed);
                    return Some(entry);
                }
                Chosen::ByOthers(vary) => wanted.vary = vary,
                Chosen::Nothing => break,
            }
        }
        counters.misses.fetch_add(1, Relaxed);
        None
    }

    /// A reply, unless it takes longer than the plan allows: a connection that has to be made first is made behind this
    /// request's back.
    pub(super) async fn ask(&self, command: &Cmd) -> Option<Value> {
        let most = self.tier.redis.plan().timeout;
        tokio::time::timeout(most, self.link.ask(command)).await.ok()?.ok()
    }

    /// The entry among values that were looked up together with something else.
    pub(crate) fn found(
        &self,
        key: &KeyView<'_>,
        wanted: &Wanted,
        values: Vec<Value>,
        request: Fields<'_>,
    ) -> Option<Arc<Entry>> {
        match self.chosen(key, wanted, values, request) {
            Chosen::Entry(entry) => Some(entry),
            Chosen::ByOthers(_) | Chosen::Nothing => None,
        }
    }

    fn chosen(&self, key: &KeyView<'_>, wanted: &Wanted, values: Vec<Value>, request: Fields<'_>) -> Chosen {
        let mut values = values.into_iter();
        let for_all = values.next().and_then(|value| self.entry(key, value));
        let for_all = for_all.filter(|entry| entry.variant().is_none());
        let vary = values.next().as_ref().and_then(text).and_then(|names| read_names(&names));
        let variant = values.next().and_then(|value| self.entry(key, value));
        let variant = variant.filter(|entry| entry.matches(request));
        let newest = match (for_all, variant) {
            (Some(one), Some(other)) if one.terms().received_at() > other.terms().received_at() => Some(one),
            (one, other) => other.or(one),
        };
        if let Some(vary) = vary.filter(|vary| **vary != *wanted.vary) {
            self.tier.vary.insert(wanted.path, Arc::clone(&vary));
            if newest.is_none() {
                return Chosen::ByOthers(vary);
            }
        }
        newest.map_or(Chosen::Nothing, Chosen::Entry)
    }

    /// A value as an entry that no purge concerns.
    fn entry(&self, key: &KeyView<'_>, value: Value) -> Option<Arc<Entry>> {
        let Value::BulkString(bytes) = value else { return None };
        let mut record =
            record::read(key, &Bytes::from(bytes), self.policy.max_body, self.tier.skew(), Clock::now())?;
        let hold = self.store.memory.held().room(record.content.len() as u64)?;
        let marks = &self.store.marks;
        // Read under the lock: a purge told at this moment is either seen here or has a later epoch.
        let since = {
            let positions = self.tier.positions();
            positions.epoch_of(record.vouched, marks.epoch())?
        };
        record.draft.since = since;
        record.draft.client_lifetime =
            client_lifetime(&mut record.draft.fields, record.draft.variant.as_ref(), self.policy);
        let entry = Entry::new(record.draft, hold.copied(&record.content));
        let entry = self.store.standing(key, Arc::new(entry))?;
        let suspected = self.tier.suspects(entry.terms().received_at());
        Some(suspected.map_or_else(|| Arc::clone(&entry), |since| Arc::new(entry.softened(since))))
    }
}

/// Names as they are stored: joined by line ends.
pub(crate) fn write_names(names: &[HeaderName]) -> String {
    names.iter().map(HeaderName::as_str).collect::<Vec<_>>().join("\n")
}

/// None that are longer than any head, whoever wrote them: they are remembered.
fn read_names(names: &str) -> Option<Arc<[HeaderName]>> {
    const LONGEST: usize = 4096;
    if names.len() > LONGEST {
        return None;
    }
    names.split('\n').map(|name| HeaderName::try_from(name).ok()).collect()
}
