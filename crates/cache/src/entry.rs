//! Entry: one stored answer, complete.
//!
//! Made by a fill from an origin's answer; read by every hit. Its head is kept as the bytes that go out, since that is
//! what almost every reader wants; the few others (revalidation, ranges, HTTP/2) parse it again.

pub(crate) mod draft;
pub(crate) mod encode;
pub(crate) mod encoded;
pub(crate) mod form;
pub(crate) mod part;
pub(crate) mod renewal;
pub(crate) mod resource;
pub(crate) mod stored_head;
pub(crate) mod tags;

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use bytes::Bytes;
use expression::Json;
use http::header::HeaderName;
use http::{HeaderMap, StatusCode};
use message::{Fields, Timestamp};
use response::ClientLifetime;
use rules::client_lifetime::Audience;
use rules::{Encoding, Exchange, Terms, Vary};

use crate::entry::encoded::Encoded;
use crate::entry::tags::Tags;
use crate::key::keyed_fields::KeyedFields;
use crate::tier::memory_account::Content;

/// A complete stored answer and the terms of its reuse. What it answers with never changes: an update makes a new one.
#[derive(Debug)]
pub struct Entry {
    status: StatusCode,
    /// Status line and fields, each ended by CRLF, without the closing empty line, `Age` and our `Cache-Status`.
    head: Box<[u8]>,
    body: Content,
    terms: Terms,
    /// The purges up to this epoch do not concern it.
    compared: AtomicU64,
    /// How often it was used, roughly: two cores at once may count as one.
    hits: AtomicU32,
    /// What has become of it, a bit each: see below.
    state: AtomicU8,
    /// What most entries do not have.
    more: Option<Box<More>>,
}

/// It is being refreshed before its time.
const REFRESHING: u8 = 1;
/// It is being compressed.
const ENCODING: u8 = 2;
/// Its content was found to be JSON, without white space around it.
const JSON: u8 = 4;

/// What an entry may have besides an answer.
#[derive(Clone, Debug, Default)]
struct More {
    variant: Option<Variant>,
    tags: Tags,
    /// What clients are told of its lifetime, where that is not what the origin said.
    client_lifetime: Option<ClientLifetime>,
    /// Whether it is worth compressing; then it says `Vary: Accept-Encoding`.
    encodable: bool,
    /// The same content compressed, for those who asked so far.
    encoded: Vec<Encoded>,
}

/// Which requests an answer with `Vary` is for (RFC 9111 §4.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The names in `Vary`.
    pub names: Box<[HeaderName]>,
    /// The values of those fields in the request that brought the answer, as `rules::selecting` encodes them.
    pub selecting: Box<[u8]>,
}

/// An answer about to be stored.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The status.
    pub status: StatusCode,
    /// Those fit for storing (`rules::storable_fields`), as clients get them.
    pub fields: HeaderMap,
    /// The terms of reuse.
    pub terms: Terms,
    /// Which requests it is for.
    pub variant: Option<Variant>,
    /// What it is filed under.
    pub tags: Tags,
    /// What clients are told of its lifetime.
    pub client_lifetime: Option<ClientLifetime>,
    /// Whether it is worth compressing.
    pub encodable: bool,
    /// The epoch of purges before which it was asked for.
    pub since: u64,
}

impl Variant {
    /// The variant that a request with these fields asks for.
    pub fn of(names: &[HeaderName], request: Fields<'_>) -> Self {
        Variant { names: names.into(), selecting: rules::vary::selecting(names, request).into() }
    }

    /// The variant an answer is, from its `Vary` (and what it reflects) and the request that brought it. Fields that
    /// the key holds already select nothing further.
    pub(crate) fn of_exchange(exchange: &Exchange<'_>, keyed: &KeyedFields<'_>) -> Option<Self> {
        let vary = rules::vary::implied_vary(exchange.request, exchange.response);
        let names: Vec<_> = vary.names().iter().filter(|name| !keyed.has(name)).cloned().collect();
        (!names.is_empty()).then(|| Variant::of(&names, exchange.request))
    }

    /// This variant, selected by these fields of the request as well.
    fn also_by(variant: Option<&Variant>, names: Vec<HeaderName>, request: Fields<'_>) -> Self {
        let mut names = names;
        names.extend(variant.iter().flat_map(|variant| variant.names.iter().cloned()));
        names.sort_unstable_by(|one, other| one.as_str().cmp(other.as_str()));
        names.dedup();
        Variant::of(&names, request)
    }

    /// Names and values, for people.
    pub(crate) fn readable(&self) -> Vec<(String, String)> {
        let text = |value: Option<&[u8]>| String::from_utf8_lossy(value.unwrap_or(b"-")).into_owned();
        let names = self.names.iter().map(HeaderName::to_string);
        names.zip(rules::vary::values(&self.selecting).map(text)).collect()
    }

    /// Whether this request asks for the same variant.
    pub fn matches(&self, request: Fields<'_>) -> bool {
        rules::vary::matches(&self.names, &self.selecting, request)
    }
}

impl Draft {
    /// It is for requests alone that are like this one in these fields too, which it does not name itself.
    pub(crate) fn select_also_by(&mut self, names: Vec<HeaderName>, request: Fields<'_>) {
        self.variant = Some(Variant::also_by(self.variant.as_ref(), names, request));
        if let Some(lifetime) = &mut self.client_lifetime {
            lifetime.give_to(Audience::Some);
        }
    }
}

impl Entry {
    /// Puts an entry together.
    pub fn new(draft: Draft, body: Content) -> Self {
        let Draft { status, fields, terms, variant, tags, client_lifetime, encodable, since } = draft;
        let is_plain = variant.is_none() && tags.is_empty() && client_lifetime.is_none() && !encodable;
        let more = More { variant, tags, client_lifetime, encodable, encoded: Vec::new() };
        Entry {
            status,
            head: stored_head::write(status, &fields, body.len()),
            body,
            terms,
            compared: AtomicU64::new(since),
            hits: AtomicU32::new(0),
            state: AtomicU8::new(0),
            more: (!is_plain).then(|| Box::new(more)),
        }
    }

    /// The same for a value, which its maker has checked.
    pub(crate) fn of_value(draft: Draft, json: Content) -> Self {
        Entry { state: AtomicU8::new(JSON), ..Entry::new(draft, json) }
    }

    /// This answer as a draft, to be changed into the next: after a 304 (RFC 9111 §4.3.4), for one.
    pub(crate) fn draft(&self) -> Draft {
        let more = self.more.as_deref().cloned().unwrap_or_default();
        Draft {
            status: self.status,
            fields: stored_head::fields(&self.head),
            terms: self.terms,
            variant: more.variant,
            tags: more.tags,
            client_lifetime: more.client_lifetime,
            encodable: more.encodable,
            since: self.compared(),
        }
    }

    /// The next entry of the same content, from a draft: what was counted and compressed stays.
    #[must_use]
    pub(crate) fn followed_by(&self, draft: Draft) -> Self {
        let fields = draft.fields.clone();
        let mut next = Entry::new(draft, self.body.clone());
        next.hits = AtomicU32::new(self.hits());
        next.state = AtomicU8::new(self.state.load(Relaxed) & JSON);
        if let (Some(more), Some(before)) = (&mut next.more, &self.more)
            && more.encodable
        {
            let anew =
                |form: &Encoded| Encoded::new(form.encoding, self.status, &fields, form.content.clone());
            more.encoded = before.encoded.iter().map(anew).collect();
        }
        next
    }

    /// The same answer, stale from `at` on.
    #[must_use]
    pub(crate) fn softened(&self, at: Timestamp) -> Self {
        self.followed_by(Draft { terms: self.terms.softened(at), ..self.draft() })
    }

    /// The same answer with its content compressed as well.
    #[must_use]
    pub(crate) fn with_encoded(&self, encoding: Encoding, body: Content) -> Self {
        let mut next = self.followed_by(self.draft());
        if let Some(more) = &mut next.more {
            more.encoded.retain(|form| form.encoding != encoding);
            more.encoded.push(Encoded::new(encoding, self.status, &stored_head::fields(&self.head), body));
        }
        next
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The head as it goes out; see the field.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The content.
    pub fn body(&self) -> &Bytes {
        self.body.bytes()
    }

    /// Its content as a value, where it is one for everybody. Looked through once, wherever it came from.
    pub(crate) fn value(&self) -> Option<Json> {
        let body = self.body();
        if self.is(JSON) {
            return Some(Json::kept(body.clone()));
        }
        if self.status != StatusCode::OK || self.variant().is_some() {
            return None;
        }
        let json = Json::check(body.clone())?;
        if json.bytes().len() == body.len() {
            self.becomes(JSON);
        }
        Some(json)
    }

    /// Bytes of content in all its forms.
    pub(crate) fn content(&self) -> u64 {
        let encoded = self.more.iter().flat_map(|more| &more.encoded).map(|form| form.content.len());
        (self.body.len() + encoded.sum::<usize>()) as u64
    }

    /// The terms of reuse.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Which requests it is for; `None`: all.
    pub fn variant(&self) -> Option<&Variant> {
        self.more.as_ref()?.variant.as_ref()
    }

    /// The fields that select it although it does not name them in `Vary`.
    pub(crate) fn repeated(&self) -> Vec<HeaderName> {
        let Some(variant) = self.variant() else { return Vec::new() };
        let vary = Vary::of(&stored_head::fields(&self.head));
        variant.names.iter().filter(|name| !vary.names().contains(name)).cloned().collect()
    }

    /// Its tags, joined by `\n`.
    pub fn tags(&self) -> &str {
        self.more.as_ref().map_or("", |more| more.tags.joined())
    }

    /// What clients are told of its lifetime, where that is not what the head says.
    pub fn client_lifetime(&self) -> Option<&ClientLifetime> {
        self.more.as_ref()?.client_lifetime.as_ref()
    }

    /// Whether it is worth compressing.
    pub fn is_encodable(&self) -> bool {
        self.more.as_ref().is_some_and(|more| more.encodable)
    }

    /// Its content compressed so, where somebody asked for that before.
    pub fn encoded(&self, encoding: Encoding) -> Option<&Encoded> {
        self.more.as_ref()?.encoded.iter().find(|form| form.encoding == encoding)
    }

    /// Whether both are the same answer from the origin, also where one has been compressed or made stale meanwhile.
    pub(crate) fn is_same_answer(&self, other: &Entry) -> bool {
        std::ptr::eq(self, other)
            || (self.terms.received_at() == other.terms.received_at()
                && self.body().as_ptr() == other.body().as_ptr()
                && self.body.len() == other.body.len()
                && self.variant() == other.variant())
    }

    /// Whether it answers a request with these fields.
    pub fn matches(&self, request: Fields<'_>) -> bool {
        self.variant().is_none_or(|variant| variant.matches(request))
    }

    /// Roughly how often it was used.
    pub fn hits(&self) -> u32 {
        self.hits.load(Relaxed)
    }

    /// It was used once more. Read and written apart: an exact count would cost every hit a bus lock.
    pub(crate) fn hit(&self) {
        self.hits.store(self.hits().saturating_add(1), Relaxed);
    }

    /// The purges up to this epoch do not concern it.
    pub(crate) fn compared(&self) -> u64 {
        self.compared.load(Relaxed)
    }

    pub(crate) fn set_compared(&self, epoch: u64) {
        self.compared.fetch_max(epoch, Relaxed);
    }

    /// Whether it is to be refreshed now although it is fresh: in the last `share` of its lifetime, when it is hot, once.
    pub(crate) fn is_due_early(&self, share: f64, now: Timestamp) -> bool {
        /// Uses since it was stored that make it hot.
        const HOT: u32 = 10;
        self.hits() >= HOT && self.terms.fresh_share_left(now) < share && !self.is(REFRESHING)
    }

    /// Whether the caller is the one to refresh it.
    pub(crate) fn begin_refresh(&self) -> bool {
        self.becomes(REFRESHING)
    }

    /// Whether the caller is the one to compress it.
    pub(crate) fn begin_encoding(&self) -> bool {
        self.becomes(ENCODING)
    }

    /// Whether somebody does, or did in vain.
    pub(crate) fn is_encoding(&self) -> bool {
        self.is(ENCODING)
    }

    /// It came to nothing.
    pub(crate) fn end_encoding(&self) {
        self.state.fetch_and(!ENCODING, Relaxed);
    }

    fn is(&self, state: u8) -> bool {
        self.state.load(Relaxed) & state != 0
    }

    /// Whether it was not before.
    fn becomes(&self, state: u8) -> bool {
        self.state.fetch_or(state, Relaxed) & state == 0
    }

    /// The fields as a map, parsed from the head that [`Entry::new`] wrote, with what the origin said of the lifetime.
    pub fn fields(&self) -> HeaderMap {
        let mut fields = stored_head::fields(&self.head);
        if let Some(lifetime) = self.client_lifetime() {
            lifetime.restore(&mut fields);
        }
        fields
    }

    /// The fields and content that go to a client at `now`, in the form wanted where there is one.
    pub(crate) fn for_client(&self, wanted: Option<Encoding>, now: Timestamp) -> (HeaderMap, &Bytes) {
        let (head, body) = match wanted.and_then(|encoding| self.encoded(encoding)) {
            Some(encoded) => (&encoded.head, encoded.body()),
            None => (&self.head, self.body()),
        };
        let mut fields = stored_head::fields(head);
        if let Some(lifetime) = self.client_lifetime() {
            lifetime.apply(&mut fields, self.terms.age(now), self.terms.fresh_for(now));
        }
        (fields, body)
    }

    /// Bytes it occupies, counting what the allocator and the table add.
    pub fn cost(&self) -> usize {
        const OVERHEAD: usize = 256;
        let more = self.more.as_ref().map_or(0, |more| {
            let variant = more.variant.as_ref().map_or(0, |v| v.selecting.len() + 64 * v.names.len());
            let encoded: usize =
                more.encoded.iter().map(|form| form.head.len() + form.content.len() + 64).sum();
            let lifetime = more.client_lifetime.as_ref().map_or(0, ClientLifetime::cost);
            size_of::<More>() + variant + more.tags.joined().len() + lifetime + encoded
        });
        self.head.len() + self.body.len() + more + OVERHEAD
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::CONTENT_LENGTH;
    use proptest::prelude::*;

    use super::*;
    use crate::sample;

    proptest! {
        /// Whatever an origin may say in a field comes back as it was: values may hold colons and bytes above 127.
        #[test]
        fn fields_come_back_as_they_went_in(
            lines in prop::collection::vec(("x-[a-z]{1,8}", "[ -~\u{80}-\u{ff}]{0,20}"), 0..10)
        ) {
            let fields: HeaderMap = lines
                .iter()
                .filter_map(|(name, value)| {
                    let value = HeaderValue::from_bytes(value.trim().as_bytes()).ok()?;
                    Some((HeaderName::try_from(name.as_str()).ok()?, value))
                })
                .collect();
            let draft = Draft { fields: fields.clone(), ..sample::draft() };
            let entry = Entry::new(draft, Content::from_static(b"four"));
            let mut back = entry.fields();
            prop_assert_eq!(back.remove(CONTENT_LENGTH), Some(HeaderValue::from(4)));
            prop_assert_eq!(back, fields);
        }
    }

    #[test]
    fn a_value_is_looked_through_once() {
        for (content, expected) in
            [(&b"{\"a\":1}"[..], Some("{\"a\":1}")), (b" 1\n", Some("1")), (b"a", None)]
        {
            let entry = Entry::new(sample::draft(), sample::content(content));
            assert_eq!(entry.value().as_ref().map(Json::as_str), expected);
            assert_eq!(entry.is(JSON), expected.is_some_and(|text| text.len() == content.len()));
            assert_eq!(entry.value().as_ref().map(Json::as_str), expected);
            assert_eq!(entry.softened(Timestamp::from_secs(2)).is(JSON), entry.is(JSON));
        }
    }

    #[test]
    fn an_entry_is_small_beside_its_bytes() {
        assert!(size_of::<Entry>() <= 128, "{}", size_of::<Entry>());
    }
}
