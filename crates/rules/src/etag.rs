//! EntityTag: an `ETag` and how two of them compare (RFC 9110 §8.8.3).

use http::HeaderMap;
use http::header::{ETAG, LAST_MODIFIED};
use message::Fields;

use crate::date::FieldDate;
use crate::list;

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
}
