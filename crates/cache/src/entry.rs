//! Entry: one stored answer, complete.
//!
//! Made by a fill from an origin's answer; read by every hit. Its head is kept as the bytes that go out, since that is
//! what almost every reader wants; the few others (revalidation, ranges, HTTP/2) parse it again.

use bytes::Bytes;
use http::header::{AGE, CONTENT_LENGTH, HeaderName};
use http::{HeaderMap, HeaderValue, StatusCode};
use message::Fields;
use rules::{Exchange, Terms};

/// A complete stored answer and the terms of its reuse. Never changed: an update makes a new one.
#[derive(Debug)]
pub struct Entry {
    status: StatusCode,
    /// Status line and fields, each ended by CRLF, without the closing empty line, `Age` and our `Cache-Status`.
    head: Box<[u8]>,
    body: Bytes,
    terms: Terms,
    variant: Option<Box<Variant>>,
}

/// Which requests an answer with `Vary` is for (RFC 9111 §4.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// The names in `Vary`.
    pub names: Box<[HeaderName]>,
    /// The values of those fields in the request that brought the answer, as `rules::selecting` encodes them.
    pub selecting: Box<[u8]>,
}

impl Variant {
    /// The variant that a request with these fields asks for.
    pub fn of(names: &[HeaderName], request: Fields<'_>) -> Self {
        Variant { names: names.into(), selecting: rules::vary::selecting(names, request).into() }
    }

    /// The variant an answer is, from its `Vary` (and what it reflects) and the request that brought it.
    pub fn of_exchange(exchange: &Exchange<'_>) -> Option<Self> {
        let vary = rules::vary::implied_vary(exchange.request, exchange.response);
        (!vary.names().is_empty()).then(|| Variant::of(vary.names(), exchange.request))
    }

    /// Whether this request asks for the same variant.
    pub fn matches(&self, request: Fields<'_>) -> bool {
        rules::vary::matches(&self.names, &self.selecting, request)
    }
}

impl Entry {
    /// Puts an entry together. `fields` are those fit for storing (`rules::storable_fields`).
    pub fn new(
        status: StatusCode,
        fields: &HeaderMap,
        body: Bytes,
        terms: Terms,
        variant: Option<Variant>,
    ) -> Self {
        let mut head = Vec::with_capacity(
            64 + fields.iter().map(|(n, v)| n.as_str().len() + v.len() + 4).sum::<usize>(),
        );
        http1::write_status_line(&mut head, status);
        for (name, value) in fields {
            if name != AGE && name != CONTENT_LENGTH {
                http1::write_field(&mut head, name, value);
            }
        }
        if has_length(status) {
            let length = HeaderValue::from(body.len());
            http1::write_field(&mut head, &CONTENT_LENGTH, &length);
        }
        Entry { status, head: head.into_boxed_slice(), body, terms, variant: variant.map(Box::new) }
    }

    /// The same answer with other fields, terms and variant: after a 304 (RFC 9111 §4.3.4).
    #[must_use]
    pub fn updated(&self, fields: &HeaderMap, terms: Terms, variant: Option<Variant>) -> Self {
        Entry::new(self.status, fields, self.body.clone(), terms, variant)
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
        &self.body
    }

    /// The terms of reuse.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Which requests it is for; `None`: all.
    pub fn variant(&self) -> Option<&Variant> {
        self.variant.as_deref()
    }

    /// Whether it answers a request with these fields.
    pub fn matches(&self, request: Fields<'_>) -> bool {
        self.variant.as_ref().is_none_or(|variant| variant.matches(request))
    }

    /// The fields as a map, parsed from the head that [`Entry::new`] wrote.
    pub fn fields(&self) -> HeaderMap {
        self.head
            .split(|byte| *byte == b'\n')
            .skip(1)
            .filter_map(|line| {
                let line = line.strip_suffix(b"\r")?;
                let colon = line.iter().position(|byte| *byte == b':')?;
                let name = HeaderName::from_bytes(&line[..colon]).ok()?;
                let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii_start()).ok()?;
                Some((name, value))
            })
            .collect()
    }

    /// Bytes it occupies, counting what the allocator and the table add.
    pub fn cost(&self) -> usize {
        const OVERHEAD: usize = 256;
        let variant = self.variant.as_ref().map_or(0, |v| v.selecting.len() + 64 * v.names.len());
        self.head.len() + self.body.len() + variant + OVERHEAD
    }
}

/// 204 has no content and so no length (RFC 9110 §8.6).
fn has_length(status: StatusCode) -> bool {
    status != StatusCode::NO_CONTENT
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sample::terms;

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
            let entry = Entry::new(StatusCode::OK, &fields, Bytes::from_static(b"four"), terms(), None);
            let mut back = entry.fields();
            prop_assert_eq!(back.remove(CONTENT_LENGTH), Some(HeaderValue::from(4)));
            prop_assert_eq!(back, fields);
        }
    }

    #[test]
    fn an_entry_is_small_beside_its_bytes() {
        assert!(size_of::<Entry>() <= 128, "{}", size_of::<Entry>());
    }
}
