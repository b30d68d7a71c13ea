//! EntityTag: an `ETag`, how two of them compare (RFC 9110 §8.8.3), and what it becomes when we encode its answer.

use http::header::{ETAG, IF_MATCH, IF_NONE_MATCH, LAST_MODIFIED};
use http::{HeaderMap, HeaderValue};
use message::Fields;

use crate::date::FieldDate;
use crate::{Encoding, list};

/// An entity tag, borrowed from its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityTag<'a> {
    /// `W/`: equivalent content, not the same bytes.
    pub weak: bool,
    /// The opaque tag, with its quotes. Tags that some origins send without quotes are kept as they are, so
    /// that they match themselves and nothing else.
    pub opaque: &'a [u8],
}

impl<'a> EntityTag<'a> {
    /// Reads one tag.
    pub fn parse(text: &'a [u8]) -> Option<Self> {
        let text = list::trim(text);
        let (weak, opaque) = text.strip_prefix(b"W/").map_or((false, text), |opaque| (true, opaque));
        is_opaque(opaque).then_some(EntityTag { weak, opaque })
    }

    /// The tag of an answer. Several lines that differ say nothing.
    pub fn of(response: &'a HeaderMap) -> Option<Self> {
        let mut lines = response.get_all(ETAG).iter();
        let first = lines.next()?;
        lines.all(|line| line == first).then(|| EntityTag::parse(first.as_bytes()))?
    }

    /// Strong comparison: both strong, and the same (RFC 9110 §8.8.3.2).
    pub fn strongly_matches(self, other: EntityTag<'_>) -> bool {
        !self.weak && !other.weak && self.opaque == other.opaque
    }

    /// Weak comparison: the same, be they weak or strong.
    pub fn weakly_matches(self, other: EntityTag<'_>) -> bool {
        self.opaque == other.opaque
    }
}

/// One quoted tag, or a bare word without anything that would make it two.
fn is_opaque(tag: &[u8]) -> bool {
    match tag {
        [b'"', inside @ .., b'"'] => !inside.contains(&b'"'),
        [] => false,
        bare => !bare.iter().any(|byte| matches!(byte, b'"' | b',' | b' ' | b'\t')),
    }
}

/// Whether the origin can be asked if the answer still holds: it has an `ETag` or a valid `Last-Modified`.
pub fn has_validator(response: &HeaderMap) -> bool {
    EntityTag::of(response).is_some() || FieldDate::of(response, &LAST_MODIFIED).at().is_some()
}

/// The tag of the answer once we have encoded it: `"abc"` becomes `"abc-br"`, as other bytes need another strong tag
/// (RFC 9110 §8.8.1). A weak one stays: it never spoke of bytes. So does what is no tag.
pub fn for_encoding(etag: &HeaderValue, encoding: Encoding) -> HeaderValue {
    let text = list::trim(etag.as_bytes());
    if EntityTag::parse(text).is_none_or(|tag| tag.weak) {
        return etag.clone();
    }
    let (inside, quote) = split_quote(text);
    let tag = [inside, b"-", encoding.word().as_bytes(), quote].concat();
    HeaderValue::from_bytes(&tag).unwrap_or_else(|_| etag.clone())
}

/// A line of `If-Match` or `If-None-Match` as the origin knows its tags: those that [`for_encoding`] made become what they
/// were. The line itself where there are none.
///
/// An origin whose own tags end in this way does not know them again then and answers in full, or with 412 to a write:
/// so this is for routes that compress alone, where the origin is never asked for an encoded form.
pub fn without_encoding(line: &HeaderValue) -> HeaderValue {
    if !list::entity_tags(line.as_bytes()).any(|tag| plain(tag).is_some()) {
        return line.clone();
    }
    let tags: Vec<_> = list::entity_tags(line.as_bytes())
        .map(|tag| plain(tag).map_or_else(|| tag.to_vec(), |parts| parts.concat()))
        .collect();
    HeaderValue::from_bytes(&tags.join(&b", "[..])).unwrap_or_else(|_| line.clone())
}

/// Puts a request's tags back to what the origin knows, see [`without_encoding`].
///
/// Not in `If-Range`: whoever sends our tag there has a part of the encoded bytes, and a part of the origin's must not be
/// put behind it. The origin does not know the tag and sends the whole.
pub fn forward_without_encoding(request: &mut HeaderMap) {
    for name in [IF_MATCH, IF_NONE_MATCH] {
        if let http::header::Entry::Occupied(mut lines) = request.entry(name) {
            for line in lines.iter_mut() {
                *line = without_encoding(line);
            }
        }
    }
}

/// What a tag of [`for_encoding`] was made of: all before the suffix, and the quote, if it has one.
fn plain(tag: &[u8]) -> Option<[&[u8]; 2]> {
    if EntityTag::parse(tag)?.weak {
        return None;
    }
    let (inside, quote) = split_quote(tag);
    let before = |encoding: &Encoding| inside.strip_suffix(encoding.word().as_bytes())?.strip_suffix(b"-");
    let before = Encoding::ALL.iter().find_map(before)?;
    (!before.is_empty()).then_some([before, quote])
}

/// A tag and its last quote, if it has one.
fn split_quote(tag: &[u8]) -> (&[u8], &[u8]) {
    tag.split_at(tag.len() - usize::from(tag.ends_with(b"\"")))
}

/// The tags that a field lists; what is none is skipped.
pub(crate) fn listed<'a>(fields: Fields<'a>, name: &http::HeaderName) -> impl Iterator<Item = EntityTag<'a>> {
    fields.all(name).flat_map(list::entity_tags).filter_map(EntityTag::parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(text: &str) -> EntityTag<'_> {
        EntityTag::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn rfc9110_8_8_3_2_comparison() {
        for (one, other, strong, weak) in [
            (r#"W/"1""#, r#"W/"1""#, false, true),
            (r#"W/"1""#, r#"W/"2""#, false, false),
            (r#"W/"1""#, r#""1""#, false, true),
            (r#""1""#, r#""1""#, true, true),
            ("1", r#""1""#, false, false),
            ("1", "1", true, true),
        ] {
            assert_eq!(tag(one).strongly_matches(tag(other)), strong, "{one} {other}");
            assert_eq!(tag(one).weakly_matches(tag(other)), weak, "{one} {other}");
        }
    }

    #[test]
    fn an_answer_has_one_tag_or_none() {
        let mut response = HeaderMap::new();
        assert_eq!(EntityTag::of(&response), None);
        response.append(ETAG, "\"a\"".parse().unwrap());
        assert_eq!(EntityTag::of(&response), Some(tag("\"a\"")));
        response.append(ETAG, "\"a\"".parse().unwrap());
        assert_eq!(EntityTag::of(&response), Some(tag("\"a\"")));
        response.append(ETAG, "\"b\"".parse().unwrap());
        assert_eq!(EntityTag::of(&response), None);
        for not_one in ["W/", "", "w/\"a\"", "\"", "\"a\", \"b\"", "a b", "\"a\"b\""] {
            response.insert(ETAG, not_one.parse().unwrap());
            assert_eq!(EntityTag::of(&response), None, "{not_one}");
        }
    }

    #[test]
    fn rfc9110_8_8_1_an_encoded_answer_has_a_tag_of_its_own() {
        let value = |text: &str| HeaderValue::from_str(text).unwrap();
        for (etag, encoding, expected) in [
            ("\"abc\"", Encoding::Brotli, "\"abc-br\""),
            ("\"abc\"", Encoding::Zstd, "\"abc-zstd\""),
            ("\"\"", Encoding::Gzip, "\"-gzip\""),
            ("W/\"abc\"", Encoding::Gzip, "W/\"abc\""),
            ("abc", Encoding::Gzip, "abc-gzip"),
            ("\"a\" b", Encoding::Gzip, "\"a\" b"),
            ("\"", Encoding::Gzip, "\""),
        ] {
            let made = for_encoding(&value(etag), encoding);
            assert_eq!(made, expected);
            assert_eq!(without_encoding(&made), etag, "{expected}");
        }
    }

    #[test]
    fn conditions_go_to_the_origin_with_its_own_tags() {
        let mut request = HeaderMap::new();
        let line = |text: &'static str| HeaderValue::from_static(text);
        request.append(IF_NONE_MATCH, line(r#""a-br" ,W/"b-gzip","c,d-zstd", "e""#));
        request.append(IF_NONE_MATCH, line(r#""f-gzip-br""#));
        request.append(IF_MATCH, line("*"));
        request.append(http::header::IF_RANGE, line(r#""a-br""#));
        forward_without_encoding(&mut request);
        let lines: Vec<_> = request.get_all(IF_NONE_MATCH).iter().collect();
        assert_eq!(lines, [r#""a", W/"b-gzip", "c,d", "e""#, r#""f-gzip""#]);
        assert_eq!(request[IF_MATCH], "*");
        assert_eq!(request[http::header::IF_RANGE], r#""a-br""#, "a part of the encoded bytes");
        for unchanged in [r#""a" ,  "b""#, "*", r#""br""#, r#""gzip", junk"#, r#"W/"a-br""#] {
            assert_eq!(without_encoding(&line(unchanged)), unchanged);
        }
    }
}
