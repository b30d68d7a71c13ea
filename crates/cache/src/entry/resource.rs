//! Resource: everything stored under one key: usually one entry, with `Vary` several (RFC 9111 §4.1).

use std::sync::Arc;

use http::header::{HeaderMap, HeaderName};
use message::{Fields, Timestamp};

use crate::entry::Entry;
use crate::entry::part::Part;

/// The entries of one key. A clone costs one reference count.
#[derive(Clone, Debug)]
pub enum Resource {
    /// One answer.
    One(Arc<Entry>),
    /// Variants, newest first; last, where there is one, the answer that names no `Vary`.
    Many(Arc<[Arc<Entry>]>),
    /// Nothing whole, but a stretch of it.
    Part(Arc<Part>),
    /// Nothing, but the knowledge that answers were not for sharing lately: until then nobody waits for anybody's.
    Unshared(Timestamp),
}

impl Resource {
    pub(crate) fn entries(&self) -> &[Arc<Entry>] {
        match self {
            Resource::One(entry) => std::slice::from_ref(entry),
            Resource::Many(entries) => entries,
            Resource::Part(_) | Resource::Unshared(_) => &[],
        }
    }

    /// The stored stretch, where that is all there is.
    pub fn part(&self) -> Option<&Arc<Part>> {
        match self {
            Resource::Part(part) => Some(part),
            Resource::One(_) | Resource::Many(_) | Resource::Unshared(_) => None,
        }
    }

    /// Whether waiting for another one's answer is known to be in vain.
    pub fn is_unshared(&self, now: Timestamp) -> bool {
        matches!(self, Resource::Unshared(until) if now < *until)
    }

    /// Whether there is a whole answer.
    pub fn has_whole(&self) -> bool {
        !self.entries().is_empty()
    }

    /// How many whole answers there are.
    pub fn variants(&self) -> usize {
        self.entries().len()
    }

    /// Whether this very answer is there, perhaps with more of its forms.
    pub fn has(&self, entry: &Arc<Entry>) -> bool {
        self.entries().iter().any(|other| other.is_same_answer(entry))
    }

    /// The newest entry that answers a request with these fields.
    ///
    /// Beside variants, one without `Vary` is the default: for those who say nothing of what the variants are chosen by.
    pub fn select(&self, request: Fields<'_>) -> Option<&Arc<Entry>> {
        let chosen = self.entries().iter().find(|entry| entry.matches(request))?;
        let mut variants = self.entries().iter().filter_map(|entry| entry.variant());
        let is_for_it = chosen.variant().is_some()
            || variants.all(|variant| variant.names.iter().all(|name| !request.has(name)));
        is_for_it.then_some(chosen)
    }

    /// The same, given up for it: the one reference a hit takes is passed on.
    pub fn into_selected(self, request: Fields<'_>) -> Option<Arc<Entry>> {
        match self {
            Resource::One(entry) => entry.matches(request).then_some(entry),
            Resource::Many(_) => self.select(request).cloned(),
            Resource::Part(_) | Resource::Unshared(_) => None,
        }
    }

    /// The names in the newest answer's `Vary`; empty without.
    pub fn vary(&self) -> &[HeaderName] {
        self.entries().first().and_then(|entry| entry.variant()).map_or(&[], |variant| &variant.names)
    }

    /// This resource with `entry` in front; it replaces its own variant, and the oldest gives way above `most`.
    ///
    /// An answer without `Vary` replaces all: the origin has stopped negotiating. One with `Vary` leaves the default to
    /// those who express no preference, unless it is for them itself: many origins name `Origin` only to who sends it,
    /// and one such request must not take the answer from all others (RFC 9111 §4.1).
    #[must_use]
    pub fn with(&self, entry: Arc<Entry>, most: usize) -> Resource {
        let Some(variant) = entry.variant() else { return Resource::One(entry) };
        let is_for_who_prefers_nothing = variant.matches(Fields::Map(&HeaderMap::new()));
        let default = self
            .entries()
            .iter()
            .find(|other| other.variant().is_none())
            .filter(|_| most > 1 && !is_for_who_prefers_nothing);
        let others = self.entries().iter().filter(|other| other.variant().is_some_and(|v| v != variant));
        let variants =
            std::iter::once(&entry).chain(others).take(most.max(1) - usize::from(default.is_some()));
        let entries: Vec<_> = variants.chain(default).cloned().collect();
        if entries.len() == 1 { Resource::One(entry) } else { Resource::Many(entries.into()) }
    }

    /// This resource without `entry`; `None` when nothing is left.
    pub fn without(&self, entry: &Arc<Entry>) -> Option<Resource> {
        let mut entries: Vec<_> =
            self.entries().iter().filter(|other| !other.is_same_answer(entry)).cloned().collect();
        match entries.len() {
            0 => None,
            1 => entries.pop().map(Resource::One),
            _ => Some(Resource::Many(entries.into())),
        }
    }

    /// Bytes of content.
    pub(crate) fn content(&self) -> u64 {
        match self {
            Resource::Part(part) => part.content(),
            Resource::Unshared(_) => 0,
            Resource::One(_) | Resource::Many(_) => self.entries().iter().map(|entry| entry.content()).sum(),
        }
    }

    /// Bytes of all its entries.
    pub fn cost(&self) -> usize {
        const MARKER: usize = 256;
        match self {
            Resource::Part(part) => part.cost(),
            Resource::Unshared(_) => MARKER,
            Resource::One(_) | Resource::Many(_) => self.entries().iter().map(|entry| entry.cost()).sum(),
        }
    }
}
