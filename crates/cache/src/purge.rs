//! Purge: forgetting on somebody's word, and looking at what there is to forget.
//!
//! Called by the admin port and, for writes, by `server`. A purge itself is a mark (see `marks`); whoever wants to know
//! how much it covers has to walk through the entries.

pub(crate) mod forgetting;
pub(crate) mod marks;

use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use message::Timestamp;
use serde::Serialize;

use crate::entry::{Entry, Variant};
use crate::key::KeyView;
use crate::purge::marks::{Marks, Standing};
use crate::store::Store;
use crate::tier::disk::DiskTier;
use crate::tier::shared::SharedTier;

/// What is forgotten, or listed. Schemes do not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything there is.
    Everything,
    /// One host: an authority as in keys, lower case, without the scheme's default port.
    Host(Box<str>),
    /// Paths that begin so, of one host or of any.
    Prefix {
        /// The host; `None`: any.
        authority: Option<Box<str>>,
        /// The beginning of the path, with its slash.
        path: Box<str>,
    },
    /// A path with all its queries, in all variants.
    Path {
        /// The host.
        authority: Box<str>,
        /// The whole path.
        path: Box<str>,
    },
    /// A path with one query, or none, as [`Store::keyed_target`] gives it, in all variants.
    Target {
        /// The host.
        authority: Box<str>,
        /// Path and query.
        target: Box<str>,
    },
    /// Answers that have this tag.
    Tag(Box<str>),
}

/// A purge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purge {
    /// What.
    pub scope: Scope,
    /// Whether it is only made stale: it may then still serve under the stale rules, and be confirmed.
    pub soft: bool,
}

/// How much a scope covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Answers: each variant is one.
    pub answers: u64,
    /// Their bytes, as the bound counts them.
    pub bytes: u64,
}

/// A stored answer, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Scheme, host and target as keyed.
    pub url: String,
    /// What else is in the key, for people: `x-tenant: a`, `user: 7`; empty for most.
    pub also: Vec<String>,
    /// The request fields this variant was chosen by (`Vary`): names and values.
    pub vary: Vec<(String, String)>,
    /// The status.
    pub status: u16,
    /// Bytes of content.
    pub length: u64,
    /// Seconds since the origin made it.
    pub age: u32,
    /// Seconds it is still fresh; negative when stale.
    pub fresh_for: i64,
    /// Roughly how often it was used.
    pub hits: u32,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its fields as stored.
    pub fields: Vec<(String, String)>,
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Answers compared with the purges.
    pub compared: u64,
    /// Of those, how many are gone now.
    pub removed: u64,
}

impl Purge {
    pub(crate) const EVERYTHING: Purge = Purge { scope: Scope::Everything, soft: false };
}

impl Store {
    /// Forgets. In force for every core when this returns, whatever the number of answers; whether it
    /// stays in force if the process ends now, [`Store::after_restart`] tells. Given back: its number, by which to ask
    /// whether other instances were told.
    pub fn purge(&self, purge: &Purge, now: Timestamp) -> u64 {
        self.forget(purge, true, now)
    }

    /// Whether Redis has taken the purge of this number, so that the other instances are told; waits for it, a second at
    /// most. An error says why not. `None`: there is no tier that others share.
    pub async fn others_told(&self, number: u64) -> Option<Result<(), String>> {
        Some(self.shared.as_ref()?.taken.has(number).await)
    }

    /// Tells the other instances, where there may be some, that nothing more will be purged here. Whether that came off
    /// within this time; where not, they doubt what they hold.
    pub async fn leave(&self, most: Duration) -> bool {
        match &self.shared {
            Some(shared) => shared.leave(most).await,
            None => true,
        }
    }

    /// `urgent`: somebody waits for the memory. What writes make out of date is swept when there is enough of it.
    pub(crate) fn forget(&self, purge: &Purge, urgent: bool, now: Timestamp) -> u64 {
        let Some(shared) = &self.shared else { return self.mark(purge, urgent, now) };
        // Held meanwhile, so that nobody reads an answer of another instance between the mark and what is known of it.
        let mut positions = shared.positions();
        let epoch = self.mark(purge, urgent, now);
        positions.marked(epoch);
        shared.tell(purge, epoch);
        epoch
    }

    /// Forgets what another instance has purged, or what it may have. Gives back the epoch from which on it is in force.
    pub(crate) fn forget_here(&self, purge: &Purge, now: Timestamp) -> u64 {
        self.mark(purge, false, now)
    }

    fn mark(&self, purge: &Purge, urgent: bool, now: Timestamp) -> u64 {
        let notes = self.marks.mark(purge, urgent, now);
        if let Some(disk) = &self.disk {
            disk.note(&notes);
        }
        notes.iter().map(marks::Note::latest).max().unwrap_or(0)
    }

    /// How many purges forget more than they named, since there were too many to tell apart, since the start.
    pub fn folded_purges(&self) -> u64 {
        let told = |shared: &Arc<SharedTier>| shared.counters.purges_folded.load(Relaxed);
        self.marks.folds() + self.shared.as_ref().map_or(0, told)
    }

    /// Whether [`Store::sweep`] has something to do.
    pub fn has_to_sweep(&self, now: Timestamp) -> bool {
        let disk_wants = self.disk.as_ref().is_some_and(DiskTier::wants_rewrite);
        self.marks.wants_sweep(now) || self.marks.len() > 0 || disk_wants
    }

    /// What a restart would find of the purges so far; `None`: there is no disk tier, so it finds nothing at all.
    pub fn after_restart(&self) -> Option<disk::Noted> {
        self.disk.as_ref().map(DiskTier::standing)
    }

    /// Compares every answer with the purges, so that what is gone gives its memory back and purges need not be
    /// remembered for ever. Takes some seconds for a million answers, most of them resting, and next to nothing where no
    /// sweep is due; hits go on meanwhile.
    pub fn sweep(&self, now: Timestamp) -> Swept {
        let mut swept = Swept::default();
        if self.marks.wants_sweep(now) {
            let epoch = self.marks.epoch();
            self.memory.walk(|key, entry| {
                swept.compared += 1;
                swept.removed += u64::from(self.standing(key, Arc::clone(entry)).is_none());
            });
            self.marks.swept(epoch, now);
        }
        self.retire(now);
        swept
    }

    /// What lies on disk or in Redis is not swept, so its purges stay as long as there is room for them.
    fn retire(&self, now: Timestamp) {
        match &self.disk {
            Some(disk) => disk.compact(&self.marks),
            None if self.shared.is_some() => {}
            None => self.marks.retire(now),
        }
    }

    /// How much a purge of this scope would forget. Walks through all answers: some seconds for a million.
    pub fn count(&self, scope: &Scope) -> Counted {
        let mut counted = Counted::default();
        self.walk(scope, |_, entry| {
            counted.answers += 1;
            counted.bytes += entry.cost() as u64;
        });
        counted
    }

    /// The stored answers of a scope, the most used first, at most `most`. Walks like [`Store::count`].
    pub fn list(&self, scope: &Scope, most: usize, now: Timestamp) -> Vec<Listed> {
        // The least used of those kept lies on top and gives way.
        let mut kept: BinaryHeap<Used> = BinaryHeap::with_capacity(most.saturating_add(1).min(1024));
        self.walk(scope, |key, entry| {
            let hits = entry.hits();
            if kept.len() >= most && kept.peek().is_none_or(|least| least.hits >= hits) {
                return;
            }
            kept.push(Used { hits, key: key.to_key(), entry: Arc::clone(entry) });
            if kept.len() > most {
                kept.pop();
            }
        });
        kept.into_sorted_vec().iter().map(|used| Listed::of(&used.key.view(), &used.entry, now)).collect()
    }

    /// All answers that a purge of this scope would concern, without those that earlier purges did.
    fn walk(&self, scope: &Scope, mut visit: impl FnMut(&KeyView<'_>, &Arc<Entry>)) {
        let covered = Marks::default();
        covered.mark(&Purge { scope: scope.clone(), soft: false }, true, Timestamp::default());
        self.memory.walk(|key, entry| {
            if covered.standing(key, entry.tags(), 0) == Standing::Gone
                && let Some(entry) = self.standing(key, Arc::clone(entry))
            {
                visit(key, &entry);
            }
        });
    }
}

/// An answer on the list, ordered so that the least used is the greatest.
struct Used {
    hits: u32,
    key: crate::Key,
    entry: Arc<Entry>,
}

impl Ord for Used {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.hits.cmp(&self.hits)
    }
}

impl PartialOrd for Used {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Used {
    fn eq(&self, other: &Self) -> bool {
        self.hits == other.hits
    }
}

impl Eq for Used {}

impl Listed {
    /// An answer as people see it.
    pub(crate) fn of(key: &KeyView<'_>, entry: &Entry, now: Timestamp) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let shown = |(name, value): (&str, Option<&str>)| format!("{name}: {}", value.unwrap_or("-"));
        Listed {
            url: KeyView { also: "", ..*key }.to_string(),
            also: key.pieces().map(shown).collect(),
            vary: entry.variant().map_or_else(Vec::new, Variant::readable),
            status: entry.status().as_u16(),
            length: entry.body().len() as u64,
            age: entry.terms().age(now),
            fresh_for: entry.terms().fresh_for(now),
            hits: entry.hits(),
            tags: entry.tags().split('\n').filter(|tag| !tag.is_empty()).map(str::to_owned).collect(),
            fields: entry
                .fields()
                .iter()
                .map(|(name, value)| (name.to_string(), text(value.as_bytes())))
                .collect(),
        }
    }
}
