//! Validate: conditional requests (RFC 9110 §13), towards clients and towards the origin (RFC 9111 §4.3).

use http::header::{
    DATE, ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE, LAST_MODIFIED,
    RANGE,
};
use http::{HeaderMap, Method, StatusCode};
use message::Fields;

use crate::date::{self, FieldDate};
use crate::etag::{self, EntityTag};
use crate::list;

/// What a conditional request comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Answer as if it were unconditional.
    Proceed,
    /// 304: the client has it already.
    NotModified,
    /// 412: `If-None-Match` matched on a method that is neither GET nor HEAD.
    PreconditionFailed,
}

/// Judges the request's conditions against a stored answer (RFC 9110 §13.2.2, RFC 9111 §4.3.2).
///
/// Only for answers of 2xx: conditions on others are void (§13.2.1). `If-Match` and `If-Unmodified-Since` are not
/// judged, see [`needs_origin`].
pub fn evaluate(method: &Method, request: Fields<'_>, status: StatusCode, response: &HeaderMap) -> Verdict {
    if !status.is_success() {
        return Verdict::Proceed;
    }
    let reads = method == Method::GET || method == Method::HEAD;
    if request.has(&IF_NONE_MATCH) {
        return match none_match(request, response) {
            true => Verdict::Proceed,
            false if reads => Verdict::NotModified,
            false => Verdict::PreconditionFailed,
        };
    }
    if reads && unmodified_since(request, response) { Verdict::NotModified } else { Verdict::Proceed }
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

/// Removes every condition and the range: for fetching a whole answer into the cache.
pub fn remove_conditions(request: &mut HeaderMap) {
    for name in [IF_MATCH, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_UNMODIFIED_SINCE, IF_RANGE, RANGE] {
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
