//! Fetch: asking for a value, as the one who leads a fill, as one of those who follow it, or alone. The asking itself is
//! `filler`'s.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Instant;

use expression::Json;
use message::{CacheStatus, Clock, Error, Fwd, Kind, Result};
use rules::{RequestDirectives, Reuse};

use super::filler::{Came, ValueFiller};
use super::{CachedValue, CachingValues, Missed, Stored};
use crate::entry::Entry;
use crate::fill::fetch::{ROUNDS, may_bridge, of_another_instance, stale_if_error};
use crate::fill::fills::FillRole;
use crate::fill::follower::Follower;
use crate::fill::keeper::Keeper;
use crate::fill::{Fill, FillNews, Settled};
use crate::key::KeyView;

enum Followed {
    Value(CachedValue),
    /// It is of no use to us.
    Alone,
    /// It came to nothing.
    Again,
}

impl CachingValues<'_> {
    /// Asks behind the back of whoever gets the stale value, unless somebody does already.
    pub(super) fn refresh(
        &self,
        key: &KeyView<'_>,
        stale: &Arc<Entry>,
        ask: impl AsyncFnOnce() -> Result<Json> + 'static,
    ) {
        if self.store.has_too_many_fetches() {
            return;
        }
        if let FillRole::Lead(fill) = self.store.fills.join(key, None, &self.store.marks) {
            let filler = self.filler(key, fill, Some(Arc::clone(stale)));
            tokio::task::spawn_local(filler.run(ask));
        }
    }

    /// One fetch for all who want the same: whoever comes first leads, the others follow.
    pub(super) async fn fetch(
        &self,
        key: &KeyView<'_>,
        missed: Missed,
        ask: impl AsyncFnOnce() -> Result<Json> + 'static,
    ) -> CachedValue {
        let started = Instant::now();
        // What others may follow outlives its client; what is alone ends with it.
        let shares = self.policy.coalesce && !self.store.has_too_many_fetches();
        for _ in 0..if shares { ROUNDS } else { 0 } {
            match self.store.fills.join(key, None, &self.store.marks) {
                FillRole::Lead(fill) => {
                    // Somebody may have finished between our look and our joining.
                    if let Stored::Usable { entry, json, refresh: false } = self.find(key, None) {
                        self.store.fills.remove(key, &fill);
                        fill.settle(Settled::Value(json.clone()));
                        return CachedValue::hit(&entry, json);
                    }
                    return self.lead(key, fill, missed, ask, started).await;
                }
                FillRole::Follow(fill) => match self.follow(&fill, missed.fwd).await {
                    Followed::Value(value) => return value.waited(started),
                    Followed::Alone => break,
                    Followed::Again => {}
                },
            }
        }
        self.lead(key, self.alone(), missed, ask, started).await
    }

    /// A fill that nobody can join.
    pub(super) fn alone(&self) -> Arc<Fill> {
        Fill::alone(self.store.marks.epoch(), self.store.memory.held())
    }

    pub(super) async fn lead(
        &self,
        key: &KeyView<'_>,
        fill: Arc<Fill>,
        missed: Missed,
        ask: impl AsyncFnOnce() -> Result<Json> + 'static,
        started: Instant,
    ) -> CachedValue {
        let Missed { stale, fwd } = missed;
        let is_alone = fill.is_alone();
        let filler = self.filler(key, fill, stale.clone());
        let came = if is_alone {
            filler.run(ask).await
        } else {
            let ended = |_| Came::Nothing(Error::new(Kind::Internal, "the fetch ended without a value"));
            tokio::task::spawn_local(filler.run(ask)).await.unwrap_or_else(ended)
        };
        let status = CacheStatus::forward(fwd);
        let value = match came {
            Came::Value { json, stored: Ok(()) } => {
                CachedValue::of(Ok(json), CacheStatus { stored: true, ..status })
            }
            Came::Value { json, stored: Err(reason) } => CachedValue::of(Ok(json), status.because(reason)),
            Came::Shared { entry, json } => CachedValue::of(Ok(json), of_another_instance(&entry)),
            Came::Nothing(error) => failed(error, stale, status),
        };
        value.waited(started)
    }

    async fn follow(&self, fill: &Arc<Fill>, fwd: Fwd) -> Followed {
        let follower = Follower::new(fill);
        let status = CacheStatus { collapsed: true, ..CacheStatus::forward(fwd) };
        let value = match follower.news().await {
            FillNews::Settled(Settled::Value(json)) => CachedValue::of(Ok(json), status),
            FillNews::Settled(Settled::Shared(entry)) => {
                // It may be as old as any that is stored, which will do for the leader and not for everyone.
                let reuse = entry.terms().reuse(&RequestDirectives::default(), false, Clock::now());
                let Some(json) = entry.value().filter(|_| reuse == Reuse::Fresh) else {
                    return Followed::Again;
                };
                let status = CacheStatus { collapsed: true, ..of_another_instance(&entry) };
                CachedValue::of(Ok(json), status)
            }
            FillNews::Settled(Settled::Failed { error: Some(error), stale }) => failed(error, stale, status),
            // An answer over HTTP: the source's name was an origin's before a reload.
            FillNews::Settled(Settled::Entry(_) | Settled::Alone | Settled::Failed { error: None, .. })
            | FillNews::Arriving(_) => return Followed::Alone,
        };
        self.store.counters.coalesced();
        Followed::Value(value)
    }

    fn filler(&self, key: &KeyView<'_>, fill: Arc<Fill>, stale: Option<Arc<Entry>>) -> ValueFiller {
        ValueFiller(Keeper {
            store: Arc::clone(self.store),
            policy: Arc::clone(self.policy),
            key: key.to_key(),
            link: self.link.cloned(),
            ours: RefCell::new(None),
            fill,
            stale,
        })
    }
}

/// The source failed: a stale value where the policy allows it, or else the error.
fn failed(error: Error, stale: Option<Arc<Entry>>, status: CacheStatus) -> CachedValue {
    let may_stand_in = |stale: &Arc<Entry>| may_bridge(stale, &RequestDirectives::default(), Some(&error));
    let stale = stale.filter(may_stand_in);
    match stale.as_ref().and_then(|stale| Some((stale, stale.value()?))) {
        Some((stale, json)) => CachedValue::of(Ok(json), stale_if_error(stale, status)),
        None => CachedValue::of(Err(error), status),
    }
}
