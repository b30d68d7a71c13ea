//! Keeper: what every fetch does besides fetching: it waits for its turn among the instances, keeps what came, and lets all
//! who wait know. Held by `filler` for answers over HTTP and by `value::filler` for values.

use std::cell::RefCell;
use std::sync::Arc;

use message::{Clock, Error, Fields};
use plan::CachePolicy;
use redis_link::Link;
use rules::RequestDirectives;

use crate::entry::Entry;
use crate::fill::duty::Duty;
use crate::fill::unshared::Lesson;
use crate::fill::{Fill, Settled};
use crate::key::Key;
use crate::store::{EntryOrPart, Store};
use crate::tier::shared::{Ours, Sharing, Turn};

/// See the module.
pub(crate) struct Keeper {
    pub(crate) store: Arc<Store>,
    pub(crate) policy: Arc<CachePolicy>,
    pub(crate) key: Key,
    /// This core's way to the tier that instances share.
    pub(crate) link: Option<Link>,
    /// Our turn among the instances, as long as it lasts.
    pub(crate) ours: RefCell<Option<Ours>>,
    pub(crate) fill: Arc<Fill>,
    /// What is stored already, to be confirmed or replaced.
    pub(crate) stale: Option<Arc<Entry>>,
}

impl Keeper {
    /// The fetch has begun. It has to hold this until it ends.
    pub(crate) fn begin(&self) -> Duty {
        self.store.counters.fill_started();
        Duty { store: Arc::clone(&self.store), key: self.key.clone(), fill: Arc::clone(&self.fill) }
    }

    /// Waits until it is our turn to ask, among all instances; not where somebody insists on asking. Given back: what
    /// another one has fetched, where that is newer than what is stored and `will_do`.
    pub(crate) async fn take_turn(
        &self,
        request: Fields<'_>,
        insists: bool,
        will_do: impl Fn(&Entry) -> bool,
    ) -> Option<Arc<Entry>> {
        let sharing = Sharing::of(&self.store, self.link.as_ref(), &self.policy)?;
        let ours = if self.fill.is_alone() || insists || !self.policy.coalesce {
            sharing.alone(&self.key)
        } else {
            let is_newer = |entry: &Entry| {
                let stale = self.stale.as_ref();
                stale.is_none_or(|stale| stale.terms().received_at() < entry.terms().received_at())
            };
            match sharing.turn(&self.key, request, |entry| will_do(entry) && is_newer(entry)).await {
                Turn::Found(entry) => return Some(entry),
                Turn::Ours(ours) => ours,
            }
        };
        self.ours.replace(Some(ours));
        None
    }

    /// Another instance has fetched it: for all who wait.
    pub(crate) fn found(&self, entry: Arc<Entry>) {
        self.store.memory.put_newer(&self.key.view(), Arc::clone(&entry), self.policy.max_variants);
        self.settle(Settled::Shared(entry));
    }

    /// Nothing usable came: those whose directives allow it may get the stale entry.
    pub(crate) fn failed(&self, error: Option<Error>) {
        self.settle(Settled::Failed { error, stale: self.stale.clone() });
    }

    /// Whether the stale entry may take the place of an answer with an error status.
    pub(crate) fn may_serve_on_error(&self) -> bool {
        self.stale
            .as_ref()
            .is_some_and(|e| e.terms().may_serve_on_error(&RequestDirectives::default(), Clock::now()))
    }

    /// What came is not stored: what that means for what is, and for those who come next.
    pub(crate) fn learn(&self, lesson: Lesson) {
        let key = self.key.view();
        let lasting = match lesson {
            Lesson::Nothing => return,
            Lesson::NotShared(lasting) | Lesson::Supersedes(lasting) => lasting,
        };
        if let Lesson::Supersedes(_) = lesson {
            if let Some(stale) = &self.stale {
                self.store.remove_entry(&key, stale);
            }
            self.replaced();
        }
        self.store.memory.put_unshared(&key, Clock::now() + lasting);
    }

    /// Keeps what came, here and for the other instances. False: a purge since the fetch began concerns it.
    pub(crate) fn keep(&self, key: &Key, entry: &Arc<Entry>, before: Option<&Arc<Entry>>) -> bool {
        let kept = EntryOrPart::Entry { entry: Arc::clone(entry), before: before.cloned() };
        let Some(entry) = self.store.keep(&key.view(), kept, self.policy.max_variants) else { return false };
        if let Some(ours) = &mut *self.ours.borrow_mut() {
            ours.keep(key, &entry);
        }
        true
    }

    /// What the other instances have of this is out of date, and nothing is stored in its place.
    pub(crate) fn replaced(&self) {
        if let Some(ours) = &*self.ours.borrow() {
            ours.remove(self.stale.as_ref());
        }
    }

    /// There is nothing to wait for: the other instances ask all at once too.
    pub(crate) fn give_turn_back(&self) {
        if let Some(ours) = &mut *self.ours.borrow_mut() {
            ours.unshared();
        }
    }

    /// What it came to, for all who wait.
    pub(crate) fn settle(&self, settled: Settled) {
        self.leave_table();
        self.fill.settle(settled);
    }

    /// Nobody new may follow.
    pub(crate) fn leave_table(&self) {
        self.store.fills.remove(&self.key.view(), &self.fill);
    }
}
