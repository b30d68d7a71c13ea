//! Part: one stretch of an answer that is not stored whole (RFC 9111 §3.3, §3.4).
//!
//! Made from a 206, joined with later ones of the same strong validator, and turned into an entry once nothing is
//! missing. One stretch per key: parts with a gap between them replace each other.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_RANGE};
use http::{HeaderMap, HeaderValue, StatusCode};
use response::ClientLifetime;
use rules::{Combined, ContentRange, Terms};

use crate::entry::tags::Tags;
use crate::entry::{Draft, Entry, Variant};
use crate::tier::memory_account::{Content, MemoryAccount};

/// A stored stretch.
#[derive(Debug)]
pub struct Part {
    /// As of the latest 206; its `Content-Range` is that of `bytes`.
    fields: HeaderMap,
    bytes: Content,
    range: Range<u64>,
    complete: u64,
    terms: Terms,
    variant: Option<Variant>,
    tags: Tags,
    client_lifetime: Option<ClientLifetime>,
    /// The epoch of purges before which the oldest of it was asked for.
    since: u64,
}

/// What a new part makes of what is stored.
#[derive(Debug)]
pub(crate) enum Joined {
    /// Still a stretch.
    Part(Box<Part>),
    /// Everything.
    Whole(Box<Entry>),
}

impl Part {
    /// From the draft of a 206 and its whole content; `None` when they contradict each other.
    pub(crate) fn new(draft: Draft, bytes: Content) -> Option<Part> {
        let Draft { fields, terms, variant, tags, client_lifetime, since, .. } = draft;
        let ContentRange { bytes: Some(range), complete: Some(complete) } = ContentRange::of(&fields)? else {
            return None;
        };
        let consistent = range.end - range.start == bytes.len() as u64 && range.end <= complete;
        let part = Part { fields, bytes, range, complete, terms, variant, tags, client_lifetime, since };
        consistent.then_some(part)
    }

    /// What is there of the whole.
    pub(crate) fn bytes(&self) -> &Bytes {
        self.bytes.bytes()
    }

    /// This part joined with the one stored before, where both are surely of the same bytes.
    pub(crate) fn join(mut self, before: Option<&Part>, held: &Arc<MemoryAccount>) -> Joined {
        if let Some(before) = before.filter(|before| before.variant == self.variant) {
            match rules::range::combine(&before.fields, &self.fields) {
                Combined::Never => {}
                Combined::Part(range) => self.grow(before, range, held),
                Combined::Whole(complete) => self.grow(before, 0..complete, held),
            }
        }
        if self.range == (0..self.complete) {
            Joined::Whole(Box::new(self.into_entry()))
        } else {
            Joined::Part(Box::new(self))
        }
    }

    /// The newer bytes win where both have some; they are the same anyway, or the validator lies. Where there is no room
    /// for both, this part stays as it is.
    fn grow(&mut self, before: &Part, range: Range<u64>, held: &Arc<MemoryAccount>) {
        let length = range.end - range.start;
        let Some(hold) = held.room(length) else { return };
        let mut bytes = hold.block(length as usize).zeroed(length as usize);
        for part in [before, &*self] {
            let start = (part.range.start - range.start) as usize;
            bytes[start..start + part.bytes.len()].copy_from_slice(part.bytes.bytes());
        }
        self.bytes = hold.filled(bytes);
        self.since = self.since.min(before.since);
        let content_range = format!("bytes {}-{}/{}", range.start, range.end - 1, self.complete);
        let content_range =
            HeaderValue::try_from(content_range).expect("digits and ASCII words are a valid field value");
        self.fields.insert(CONTENT_RANGE, content_range);
        self.range = range;
    }

    fn into_entry(mut self) -> Entry {
        self.fields.remove(CONTENT_RANGE);
        self.fields.remove(CONTENT_LENGTH);
        let draft = Draft {
            status: StatusCode::OK,
            fields: self.fields,
            terms: self.terms,
            variant: self.variant,
            tags: self.tags,
            client_lifetime: self.client_lifetime,
            encodable: false,
            since: self.since,
        };
        Entry::new(draft, self.bytes)
    }

    /// The content of a range of the whole, where this part has all of it.
    pub(crate) fn slice(&self, wanted: &Range<u64>) -> Option<Bytes> {
        let inside = self.range.start <= wanted.start && wanted.end <= self.range.end;
        inside.then(|| {
            let start = (wanted.start - self.range.start) as usize;
            self.bytes.bytes().slice(start..start + (wanted.end - wanted.start) as usize)
        })
    }

    /// The fields of its 206, without what they say of its lifetime where the policy has a word in that.
    pub(crate) fn fields(&self) -> &HeaderMap {
        &self.fields
    }

    /// The fields that go to a client, at this age and with so many seconds of freshness left.
    pub(crate) fn for_client(&self, age: u32, fresh_for: i64) -> HeaderMap {
        let mut fields = self.fields.clone();
        if let Some(lifetime) = &self.client_lifetime {
            lifetime.apply(&mut fields, age, fresh_for);
        }
        fields
    }

    /// The length of the whole, in bytes.
    pub(crate) fn complete(&self) -> u64 {
        self.complete
    }

    /// The terms of reuse.
    pub(crate) fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Its tags, joined by `\n`.
    pub(crate) fn tags(&self) -> &str {
        self.tags.joined()
    }

    /// The purges up to this epoch do not concern it.
    pub(crate) fn since(&self) -> u64 {
        self.since
    }

    /// Whether it is for a request with these fields.
    pub(crate) fn matches(&self, request: message::Fields<'_>) -> bool {
        self.variant.as_ref().is_none_or(|variant| variant.matches(request))
    }

    /// Bytes of content.
    pub(crate) fn content(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Bytes it occupies, roughly.
    pub(crate) fn cost(&self) -> usize {
        const OVERHEAD: usize = 2048;
        self.bytes.len() + OVERHEAD
    }
}
