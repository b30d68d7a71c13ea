//! Validate: conditional requests (RFC 9110 §13), towards clients and towards the origin (RFC 9111 §4.3).

use http::header::{
    DATE, ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, LAST_MODIFIED,
    RANGE,
};
use http::{HeaderMap, HeaderName, Method, StatusCode};
use message::Fields;

use crate::date::{self, FieldDate};
use crate::etag::{self, EntityTag};
use crate::list;

/// What a conditional request comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreconditionOutcome {
    /// Answer as if it were unconditional.
    Proceed,
    /// 304: the client has it already.
    NotModified,
    /// 412: `If-None-Match` matched on a method that does not only read.
    PreconditionFailed,
}

/// Judges the request's conditions against a stored answer (RFC 9110 §13.2.2, RFC 9111 §4.3.2).
///
/// Only for answers of 2xx: conditions on others are void (§13.2.1). `If-Match` and `If-Unmodified-Since` are not
/// judged, see [`needs_origin`].
pub fn evaluate(
    method: &Method,
    request: Fields<'_>,
    status: StatusCode,
    response: &HeaderMap,
) -> PreconditionOutcome {
    if !status.is_success() {
        return PreconditionOutcome::Proceed;
    }
    // QUERY only reads as well, and a cache answers it (RFC 10008).
    let reads = matches!(method.as_str(), "GET" | "HEAD" | "QUERY");
    if request.has(&IF_NONE_MATCH) {
        return match none_match(request, response) {
            true => PreconditionOutcome::Proceed,
            false if reads => PreconditionOutcome::NotModified,
            false => PreconditionOutcome::PreconditionFailed,
        };
    }
    if reads && unmodified_since(request, response) {
        PreconditionOutcome::NotModified
    } else {
        PreconditionOutcome::Proceed
    }
}

/// Whether the request carries a condition that only the origin can judge: `If-Match`, `If-Unmodified-Since`
/// (RFC 9110 §13.1.1, §13.1.4).
pub fn needs_origin(request: Fields<'_>) -> bool {
    request.has(&IF_MATCH) || request.has(&IF_UNMODIFIED_SINCE)
}

/// Makes a request ask whether the stored answer still holds (RFC 9111 §4.3.1). The client's own conditions and range
/// are removed: they are judged here, and the answer must be a whole one. False when there is nothing to ask with, so
/// that the request is now unconditional.
pub fn add_validators(stored: &HeaderMap, request: &mut HeaderMap) -> bool {
    remove_conditions(request);
    if let Some(line) = stored.get(ETAG).filter(|_| EntityTag::of(stored).is_some()) {
        request.insert(IF_NONE_MATCH, line.clone());
    }
    if let Some(line) =
        stored.get(LAST_MODIFIED).filter(|_| FieldDate::of(stored, &LAST_MODIFIED).at().is_some())
    {
        request.insert(IF_MODIFIED_SINCE, line.clone());
    }
    request.contains_key(IF_NONE_MATCH) || request.contains_key(IF_MODIFIED_SINCE)
}

static CONDITIONS: [HeaderName; 6] =
    [IF_MATCH, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE, IF_RANGE, RANGE];

/// Whether a request names a condition or a range.
pub fn has_conditions(request: &HeaderMap) -> bool {
    request.keys().any(|name| CONDITIONS.contains(name))
}

/// Removes every condition and the range: for fetching a whole answer into the cache.
pub fn remove_conditions(request: &mut HeaderMap) {
    for name in &CONDITIONS {
        request.remove(name);
    }
}

/// Whether a 304 is about the stored answer (RFC 9111 §4.3.4). One that carries another validator must not update it:
/// what the origin has now is something else.
///
/// A 304 without any validator counts. The RFC would take it only for an answer that has none either; but we asked with
/// this answer's validators alone, and origins that leave them out of a 304 are common.
pub fn not_modified_matches(stored: &HeaderMap, answer_304: &HeaderMap) -> bool {
    if let Some(new) = EntityTag::of(answer_304) {
        return EntityTag::of(stored)
            .is_some_and(|old| if new.weak { new.weakly_matches(old) } else { new.strongly_matches(old) });
    }
    if answer_304.contains_key(ETAG) {
        return false; // several that differ
    }
    match answer_304.get(LAST_MODIFIED) {
        Some(new) => stored.get(LAST_MODIFIED) == Some(new),
        None => true,
    }
}

/// `If-None-Match` (RFC 9110 §13.1.2): true when no tag listed is the stored one's, by weak comparison. `*` matches any
/// answer, but only where it stands alone.
fn none_match(request: Fields<'_>, response: &HeaderMap) -> bool {
    let mut lines = request.all(&IF_NONE_MATCH);
    if let (Some(line), None) = (lines.next(), lines.next())
        && list::trim(line) == b"*"
    {
        return false;
    }
    EntityTag::of(response)
        .is_none_or(|stored| !etag::listed(request, &IF_NONE_MATCH).any(|tag| stored.weakly_matches(tag)))
}

/// `If-Modified-Since` (RFC 9110 §13.1.3, RFC 9111 §4.3.2): true when it is one valid date and the answer has not been
/// modified after it. An answer without `Last-Modified` is dated by its `Date`.
fn unmodified_since(request: Fields<'_>, response: &HeaderMap) -> bool {
    let mut lines = request.all(&IF_MODIFIED_SINCE);
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return false;
    };
    let modified = match FieldDate::of(response, &LAST_MODIFIED) {
        FieldDate::Missing => FieldDate::of(response, &DATE).at(),
        other => other.at(),
    };
    matches!((date::parse(line), modified), (Some(since), Some(modified)) if modified <= since)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    const MODIFIED: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const LATER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";
    const EARLIER: &str = "Sun, 06 Nov 1994 08:49:36 GMT";

    fn fields(lines: &[(HeaderName, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            map.append(name, HeaderValue::from_str(value).unwrap());
        }
        map
    }

    fn judge(request: &[(HeaderName, &str)], response: &[(HeaderName, &str)]) -> PreconditionOutcome {
        evaluate(&Method::GET, Fields::Map(&fields(request)), StatusCode::OK, &fields(response))
    }

    #[test]
    fn rfc9110_13_1_2_if_none_match_compares_weakly() {
        for (asked, stored, expected) in [
            ("\"a\"", "\"a\"", PreconditionOutcome::NotModified),
            ("W/\"a\"", "\"a\"", PreconditionOutcome::NotModified),
            ("\"a\"", "W/\"a\"", PreconditionOutcome::NotModified),
            ("\"b\"", "\"a\"", PreconditionOutcome::Proceed),
            ("\"b\", W/\"a\" ,\"c\"", "\"a\"", PreconditionOutcome::NotModified),
            ("\"b\",,\t\"a\"", "\"a\"", PreconditionOutcome::NotModified),
            ("\"a,b\"", "\"a,b\"", PreconditionOutcome::NotModified),
            ("\"a", "\"a\"", PreconditionOutcome::Proceed),
            ("a", "\"a\"", PreconditionOutcome::Proceed),
            ("a", "a", PreconditionOutcome::NotModified),
            ("*", "\"a\"", PreconditionOutcome::NotModified),
            (" * ", "\"a\"", PreconditionOutcome::NotModified),
            ("\"b\", *", "\"a\"", PreconditionOutcome::Proceed),
            ("W/*", "\"a\"", PreconditionOutcome::Proceed),
            ("", "\"a\"", PreconditionOutcome::Proceed),
        ] {
            assert_eq!(judge(&[(IF_NONE_MATCH, asked)], &[(ETAG, stored)]), expected, "{asked} {stored}");
        }
        let two_lines = [(IF_NONE_MATCH, "\"b\""), (IF_NONE_MATCH, "\"a\"")];
        assert_eq!(judge(&two_lines, &[(ETAG, "\"a\"")]), PreconditionOutcome::NotModified);
        assert_eq!(judge(&[(IF_NONE_MATCH, "*")], &[]), PreconditionOutcome::NotModified);
        assert_eq!(judge(&[(IF_NONE_MATCH, "\"a\"")], &[]), PreconditionOutcome::Proceed);
    }

    #[test]
    fn rfc9110_13_1_3_if_modified_since_needs_one_valid_date() {
        for (asked, stored, expected) in [
            (
                &[(IF_MODIFIED_SINCE, MODIFIED)][..],
                &[(LAST_MODIFIED, MODIFIED)][..],
                PreconditionOutcome::NotModified,
            ),
            (&[(IF_MODIFIED_SINCE, LATER)], &[(LAST_MODIFIED, MODIFIED)], PreconditionOutcome::NotModified),
            (&[(IF_MODIFIED_SINCE, EARLIER)], &[(LAST_MODIFIED, MODIFIED)], PreconditionOutcome::Proceed),
            (&[(IF_MODIFIED_SINCE, "0")], &[(LAST_MODIFIED, MODIFIED)], PreconditionOutcome::Proceed),
            (&[(IF_MODIFIED_SINCE, LATER)], &[], PreconditionOutcome::Proceed),
            (&[(IF_MODIFIED_SINCE, LATER)], &[(DATE, MODIFIED)], PreconditionOutcome::NotModified),
            (&[(IF_MODIFIED_SINCE, EARLIER)], &[(DATE, MODIFIED)], PreconditionOutcome::Proceed),
            (
                &[(IF_MODIFIED_SINCE, LATER)],
                &[(LAST_MODIFIED, "0"), (DATE, MODIFIED)],
                PreconditionOutcome::Proceed,
            ),
            (
                &[(IF_MODIFIED_SINCE, LATER), (IF_MODIFIED_SINCE, LATER)],
                &[(LAST_MODIFIED, MODIFIED)],
                PreconditionOutcome::Proceed,
            ),
        ] {
            assert_eq!(judge(asked, stored), expected, "{asked:?} {stored:?}");
        }
    }

    #[test]
    fn rfc9110_13_1_3_if_modified_since_must_be_ignored_beside_if_none_match() {
        let asked = [(IF_NONE_MATCH, "\"b\""), (IF_MODIFIED_SINCE, LATER)];
        assert_eq!(
            judge(&asked, &[(ETAG, "\"a\""), (LAST_MODIFIED, MODIFIED)]),
            PreconditionOutcome::Proceed
        );
        assert_eq!(judge(&asked, &[(LAST_MODIFIED, MODIFIED)]), PreconditionOutcome::Proceed);
    }

    #[test]
    fn rfc9110_13_2_1_conditions_are_void_on_other_statuses_and_methods() {
        let request = fields(&[(IF_NONE_MATCH, "\"a\"")]);
        let response = fields(&[(ETAG, "\"a\""), (LAST_MODIFIED, MODIFIED)]);
        let judge = |method, status, request| evaluate(&method, Fields::Map(request), status, &response);
        assert_eq!(judge(Method::HEAD, StatusCode::OK, &request), PreconditionOutcome::NotModified);
        assert_eq!(judge(Method::GET, StatusCode::NOT_FOUND, &request), PreconditionOutcome::Proceed);
        assert_eq!(judge(Method::PUT, StatusCode::OK, &request), PreconditionOutcome::PreconditionFailed);
        let query = Method::from_bytes(b"QUERY").unwrap();
        assert_eq!(judge(query, StatusCode::OK, &request), PreconditionOutcome::NotModified);
        let request = fields(&[(IF_MODIFIED_SINCE, LATER)]);
        assert_eq!(judge(Method::PUT, StatusCode::OK, &request), PreconditionOutcome::Proceed);
    }

    #[test]
    fn rfc9110_13_1_1_if_match_is_for_the_origin() {
        assert!(needs_origin(Fields::Map(&fields(&[(IF_MATCH, "*")]))));
        assert!(needs_origin(Fields::Map(&fields(&[(IF_UNMODIFIED_SINCE, "0")]))));
        assert!(!needs_origin(Fields::Map(&fields(&[(IF_NONE_MATCH, "*"), (IF_MODIFIED_SINCE, "0")]))));
    }

    #[test]
    fn rfc9111_4_3_1_must_send_the_stored_validators() {
        let mut request = fields(&[
            (IF_NONE_MATCH, "\"mine\""),
            (IF_MATCH, "\"mine\""),
            (IF_UNMODIFIED_SINCE, LATER),
            (IF_RANGE, "\"mine\""),
            (RANGE, "bytes=0-1"),
            (http::header::ACCEPT, "*/*"),
        ]);
        assert!(add_validators(&fields(&[(ETAG, "W/\"a\""), (LAST_MODIFIED, MODIFIED)]), &mut request));
        let expected =
            [(http::header::ACCEPT, "*/*"), (IF_NONE_MATCH, "W/\"a\""), (IF_MODIFIED_SINCE, MODIFIED)];
        assert_eq!(request, fields(&expected));
        assert!(!add_validators(&fields(&[(LAST_MODIFIED, "0"), (ETAG, "\"a\", \"b\"")]), &mut request));
        assert_eq!(request, fields(&expected[..1]));
    }

    #[test]
    fn rfc9111_4_3_4_a_304_with_another_validator_must_not_update() {
        for (stored, answer, expected) in [
            (&[(ETAG, "\"a\"")][..], &[(ETAG, "\"a\"")][..], true),
            (&[(ETAG, "\"a\"")], &[(ETAG, "\"b\"")], false),
            (&[(ETAG, "W/\"a\"")], &[(ETAG, "\"a\"")], false),
            (&[(ETAG, "\"a\"")], &[(ETAG, "W/\"a\"")], true),
            (&[(ETAG, "W/\"a\"")], &[(ETAG, "W/\"a\"")], true),
            (&[(ETAG, "\"a\"")], &[(ETAG, "\"a\""), (ETAG, "\"b\"")], false),
            (&[(LAST_MODIFIED, MODIFIED)], &[(ETAG, "\"a\"")], false),
            (&[(LAST_MODIFIED, MODIFIED)], &[(LAST_MODIFIED, MODIFIED)], true),
            (&[(LAST_MODIFIED, MODIFIED)], &[(LAST_MODIFIED, LATER)], false),
            (&[(ETAG, "\"a\"")], &[(LAST_MODIFIED, LATER)], false),
            (&[(ETAG, "\"a\""), (LAST_MODIFIED, MODIFIED)], &[(ETAG, "\"a\""), (LAST_MODIFIED, LATER)], true),
            (&[(ETAG, "\"a\"")], &[], true),
            (&[], &[], true),
        ] {
            assert_eq!(
                not_modified_matches(&fields(stored), &fields(answer)),
                expected,
                "{stored:?} {answer:?}"
            );
        }
    }
}
