//! Recall: what the memory does not have, from the tiers behind it. From the disk, short content comes back into memory and
//! long content streams to the client from where it is; what another instance has fetched comes into memory. Called by
//! `answer` before the origin is asked.

use std::sync::Arc;

use message::{CacheStatus, Call, Clock, Fwd};
use rules::Reuse;

use crate::answer::{Answer, Caching};
use crate::entry::Entry;
use crate::fill::fetch::Ask;
use crate::tier::behind::Behind;
use crate::tier::disk::OnDisk;

/// What was found.
pub(crate) enum Recalled {
    /// Nothing of use.
    Nothing,
    /// It is in memory now.
    InMemory,
    /// An answer that streams from the disk.
    Answer(Box<Answer>),
}

/// Content up to this length comes back into memory.
const SHORT: u64 = 1024 * 1024;

impl<C: Call> Caching<'_, C> {
    /// See the module.
    pub(crate) async fn recall(&self, ask: &Ask, fwd: Fwd) -> Recalled {
        let behind = Behind {
            store: self.store,
            policy: self.policy,
            sharing: self.sharing(),
            key: ask.key.view(),
            fields: ask.request.view().fields,
        };
        // The disk keeps one answer for each key, and it is in memory where another variant is looked for.
        let on_disk =
            if fwd == Fwd::UriMiss { self.recall_from_disk(&behind, ask).await } else { Recalled::Nothing };
        let Recalled::Nothing = on_disk else { return on_disk };
        match behind.at_others().await {
            Some(entry) => self.held(ask, &entry),
            None => Recalled::Nothing,
        }
    }

    async fn recall_from_disk(&self, behind: &Behind<'_>, ask: &Ask) -> Recalled {
        let Some(found) = behind.on_disk().await else { return Recalled::Nothing };
        if found.content.length() > SHORT && self.streams(ask, &found) {
            return Recalled::Answer(Box::new(streamed(ask, found)));
        }
        match behind.load(found).await {
            Some(entry) => self.held(ask, &entry),
            None => Recalled::Nothing,
        }
    }

    /// What the memory makes of it: in place of what is used more often it may not keep it at all. A fresh answer is
    /// given then without it.
    fn held(&self, ask: &Ask, entry: &Arc<Entry>) -> Recalled {
        let is_held = self.store.memory.get(&ask.key.view()).is_some_and(|resource| resource.has(entry));
        let now = Clock::now();
        if is_held || entry.terms().reuse(&ask.directives, ask.interest.authorization(), now) != Reuse::Fresh
        {
            return Recalled::InMemory;
        }
        let status = CacheStatus::hit(entry.terms().fresh_for(now));
        Recalled::Answer(Box::new(Answer::stored(&ask.request.view(), ask.encoding, entry, status)))
    }

    /// A plain request for something fresh that nobody has purged: its content need not be held.
    fn streams(&self, ask: &Ask, found: &OnDisk) -> bool {
        let draft = &found.draft;
        let reuse = draft.terms.reuse(&ask.directives, ask.interest.authorization(), Clock::now());
        let since = draft.since;
        reuse == Reuse::Fresh
            && !ask.interest.range()
            && self.store.marks.standing(&ask.key.view(), draft.tags.joined(), since)
                == crate::purge::marks::Standing::Kept
    }
}

fn streamed(ask: &Ask, found: OnDisk) -> Answer {
    let now = Clock::now();
    let (terms, status) = (found.draft.terms, found.draft.status);
    let (age, fresh_for) = (terms.age(now), terms.fresh_for(now));
    let mut fields = found.draft.fields.clone();
    fields.insert(http::header::AGE, age.into());
    if let Some(lifetime) = &found.draft.client_lifetime {
        lifetime.apply(&mut fields, age, fresh_for);
    }
    let length = found.content.length();
    let mut body = found.into_body();
    if ask.request.method == http::Method::HEAD {
        fields.insert(http::header::CONTENT_LENGTH, length.into());
        body = message::Body::Empty;
    }
    let response = message::Response { status, fields, body };
    let outcome = Ok(response::conditional(&ask.request.view(), response));
    Answer { outcome, status: CacheStatus::hit(fresh_for), waited: None }
}
