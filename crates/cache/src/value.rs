//! Value: a call that is no request over HTTP, behind a cache: a statement, a read of a Redis, a module's function. What it
//! gives is JSON and for everybody; the policy alone says for how long. Store, tiers, purges and single flight are those of
//! answers, and nothing here knows of `Vary`, validators, ranges or directives.
//!
//! ```text
//! find ──► usable ──► given (and refreshed in the background)
//!   └─► what lies behind the memory ──► the same
//!        └─► fetch: lead, follow, or go alone
//! ```
//!
//! Called by `server` for steps of a compose that say so.

pub(crate) mod fetch;
pub(crate) mod filler;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use expression::Json;
use http::Method;
use message::{CacheStatus, Clock, Fields, Fwd, RequestView, Result, Scheme};
use plan::CachePolicy;
use redis_link::Link;
use rules::RequestDirectives;

use crate::entry::Entry;
use crate::key::KeyView;
use crate::key::keying::{Look, Scratch};
use crate::lookup::{Lookup, find, judge};
use crate::request::interest::Interest;
use crate::store::Store;
use crate::tier::behind::Behind;
use crate::tier::shared::Sharing;

/// One place's cache of values on this core.
#[derive(Clone, Copy)]
pub struct CachingValues<'a> {
    /// Shared by all cores.
    pub store: &'a Arc<Store>,
    /// The place's policy.
    pub policy: &'a Arc<CachePolicy>,
    /// The name of the source that is asked.
    pub source: &'a str,
    /// This core's way to the tier that instances share, where the policy uses it.
    pub link: Option<&'a Link>,
}

/// A value and how it came about.
#[derive(Debug)]
pub struct CachedValue {
    /// The value, or why there is none.
    pub outcome: Result<Json>,
    /// What the cache did.
    pub status: CacheStatus,
    /// Time spent waiting for the source, where it was asked.
    pub waited: Option<Duration>,
}

/// What is stored of a value, and what may be done with it.
enum Stored {
    /// Give it. `refresh`: the source should be asked meanwhile.
    Usable { entry: Arc<Entry>, json: Json, refresh: bool },
    /// Ask the source.
    Ask(Missed),
    /// Ask the source, and do not wait for anybody else who does: values have been too long lately.
    AskAlone,
}

/// What is not to be had without asking.
pub(crate) struct Missed {
    /// What may stand in should the source fail: certainly a value.
    pub(crate) stale: Option<Arc<Entry>>,
    pub(crate) fwd: Fwd,
}

/// Of a call that has no fields.
pub(crate) const NO_FIELDS: Fields<'static> = Fields::Wire(&[]);

impl CachingValues<'_> {
    /// The value of a call. `identity`: what makes the call equal to another of its source: the path under which it is
    /// listed and purged, beginning with `/`. `ask` makes the call, at most once: in a task of its own where others may
    /// follow, so that it outlives whoever set it off, and within this future otherwise.
    ///
    /// What `ask` gives is taken for checked.
    pub async fn value(
        &self,
        identity: &str,
        ask: impl AsyncFnOnce() -> Result<Json> + 'static,
    ) -> CachedValue {
        // Whoever purges or lists sees a call as if it had been asked for so.
        let request = RequestView {
            method: &Method::GET,
            scheme: Scheme::Http,
            authority: self.source,
            target: identity,
            fields: NO_FIELDS,
            client: None,
        };
        let look = Look { request: &request, policy: self.policy, names: &[], source: self.source };
        let mut scratch = Scratch::default();
        let key = look.key(&self.store.learned, None, &mut scratch).key;
        let stored = match self.find(&key, self.policy.early) {
            Stored::Ask(Missed { stale: None, fwd }) => {
                self.recall(&key).await.unwrap_or(Stored::Ask(Missed { stale: None, fwd }))
            }
            stored => stored,
        };
        match stored {
            Stored::Usable { entry, json, refresh } => {
                if refresh {
                    self.refresh(&key, &entry, ask);
                }
                entry.hit();
                CachedValue::hit(&entry, json)
            }
            Stored::Ask(missed) => self.fetch(&key, missed, ask).await,
            Stored::AskAlone => {
                let missed = Missed { stale: None, fwd: Fwd::UriMiss };
                self.lead(&key, self.alone(), missed, ask, Instant::now()).await
            }
        }
    }

    fn find(&self, key: &KeyView<'_>, early: Option<f64>) -> Stored {
        let directives = RequestDirectives::default();
        find(self.store, key, NO_FIELDS, Interest::default(), &directives, early, Clock::now()).into()
    }

    /// What lies behind the memory.
    async fn recall(&self, key: &KeyView<'_>) -> Option<Stored> {
        let sharing = Sharing::of(self.store, self.link, self.policy);
        let behind = Behind { store: self.store, policy: self.policy, sharing, key: *key, fields: NO_FIELDS };
        let entry = behind.entry().await?;
        match self.find(key, self.policy.early) {
            // In place of what is used more often the memory may not keep it.
            Stored::Ask(Missed { stale: None, .. }) => {
                let (directives, early) = (RequestDirectives::default(), self.policy.early);
                Some(judge(entry, Vec::new, Interest::default(), &directives, early, Clock::now()).into())
            }
            stored => Some(stored),
        }
    }
}

/// What is no value after all is none.
impl From<Lookup> for Stored {
    fn from(found: Lookup) -> Self {
        match found {
            Lookup::Usable { entry, refresh } => match entry.value() {
                Some(json) => Stored::Usable { entry, json, refresh },
                None => Stored::Ask(Missed { stale: None, fwd: Fwd::UriMiss }),
            },
            Lookup::Ask { stale, fwd, .. } => match stale.filter(|stale| stale.value().is_some()) {
                None if fwd == Fwd::Stale => Stored::Ask(Missed { stale: None, fwd: Fwd::UriMiss }),
                stale => Stored::Ask(Missed { stale, fwd }),
            },
            Lookup::AskAlone => Stored::AskAlone,
        }
    }
}

impl CachedValue {
    fn hit(entry: &Entry, json: Json) -> Self {
        CachedValue::of(Ok(json), CacheStatus::hit(entry.terms().fresh_for(Clock::now())))
    }

    fn of(outcome: Result<Json>, status: CacheStatus) -> Self {
        CachedValue { outcome, status, waited: None }
    }

    fn waited(self, since: Instant) -> Self {
        CachedValue { waited: Some(since.elapsed()), ..self }
    }
}
