//! Range: parts of an answer (RFC 9110 §14), asked for and received.
//!
//! `response` cuts a stored whole by [`ranges`]; `cache` puts stored parts together by [`combine`] (RFC 9111 §3.4).

use std::ops::Range;

use http::HeaderMap;
use http::header::{CONTENT_RANGE, DATE, IF_RANGE, LAST_MODIFIED, RANGE};
use message::{Fields, Timestamp};

use crate::date::{self, FieldDate};
use crate::etag::EntityTag;
use crate::list;

/// More than these are not asked for in earnest.
const MOST_RANGES: usize = 16;

/// What `Range` comes to for an answer of a known length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ranges {
    /// Answer with the whole: no range, another unit, bad syntax, or abuse.
    Ignore,
    /// 416: none of the ranges lies within the length.
    Unsatisfiable,
    /// 206 with these, in the order asked for, each within the length and not empty.
    Of(Vec<Range<u64>>),
}

/// Reads `Range` for an answer of `length` bytes (RFC 9110 §14.2). Only GET has ranges: the caller looks at the method,
/// and at [`if_range`].
///
/// More than 16 ranges, or ones that overlap, are ignored, as §14.2 allows: serving them would multiply the work.
pub fn ranges(request: Fields<'_>, length: u64) -> Ranges {
    let mut lines = request.all(&RANGE);
    let (Some(line), None) = (lines.next(), lines.next()) else {
        return Ranges::Ignore;
    };
    parse(line, length).unwrap_or(Ranges::Ignore)
}

fn parse(line: &[u8], length: u64) -> Option<Ranges> {
    let (unit, set) = line.split_at_checked(6)?;
    if !unit.eq_ignore_ascii_case(b"bytes=") {
        return None;
    }
    let mut found = Vec::new();
    let mut count = 0;
    for spec in list::members(set) {
        count += 1;
        if count > MOST_RANGES {
            return None;
        }
        let range = parse_spec(spec, length)?;
        if range.is_empty() {
            continue;
        }
        if found.iter().any(|other: &Range<u64>| range.start < other.end && other.start < range.end) {
            return None;
        }
        found.push(range);
    }
    match (count, found.is_empty()) {
        (0, _) => None,
        (_, true) => Some(Ranges::Unsatisfiable),
        (_, false) => Some(Ranges::Of(found)),
    }
}

/// One range, cut to the length; empty when unsatisfiable, `None` when it is no range at all.
fn parse_spec(spec: &[u8], length: u64) -> Option<Range<u64>> {
    let dash = spec.iter().position(|&byte| byte == b'-')?;
    let (first, last) = (&spec[..dash], &spec[dash + 1..]);
    if first.is_empty() {
        let suffix = number(last)?;
        if length == 0 && suffix > 0 {
            return None; // satisfied by nothing, which no Content-Range can say
        }
        return Some(length.saturating_sub(suffix)..length);
    }
    let first = number(first)?;
    let end = if last.is_empty() { u64::MAX } else { number(last)?.saturating_add(1) };
    if end <= first && first != u64::MAX {
        return None;
    }
    Some(first.min(length)..end.min(length))
}

/// Digits only; too many of them are a number beyond any length.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(
        digits.iter().fold(0u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'))),
    )
}

/// Whether `Range` may be obeyed as far as `If-Range` goes (RFC 9110 §13.1.5): true without it, or when it names the
/// stored answer by a strong validator: its strong `ETag`, or exactly its `Last-Modified`, a second or more before
/// its `Date` (§8.8.2.2).
pub fn if_range(request: Fields<'_>, response: &HeaderMap) -> bool {
    let mut lines = request.all(&IF_RANGE);
    let line = match (lines.next(), lines.next()) {
        (None, _) => return true,
        (Some(line), None) => line,
        (Some(_), Some(_)) => return false,
    };
    if let Some(asked) = date::parse(line) {
        return strong_last_modified(response) == Some(asked);
    }
    match (EntityTag::parse(line), EntityTag::of(response)) {
        (Some(asked), Some(stored)) => asked.strongly_matches(stored),
        _ => false,
    }
}

/// `Last-Modified`, if it can be relied on to name the very bytes.
fn strong_last_modified(response: &HeaderMap) -> Option<Timestamp> {
    let modified = FieldDate::of(response, &LAST_MODIFIED).at()?;
    let date = FieldDate::of(response, &DATE).at()?;
    (date.as_secs() > modified.as_secs()).then_some(modified)
}

/// Which part a 206 is, or, in a 416, how long the whole would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentRange {
    /// The bytes it holds, not empty; `None` for `*`.
    pub bytes: Option<Range<u64>>,
    /// The length of the whole; `None` for `*`.
    pub complete: Option<u64>,
}

impl ContentRange {
    /// Reads `Content-Range` (RFC 9110 §14.4). `None` when it is missing, doubled, of another unit, or contradicts itself.
    pub fn of(response: &HeaderMap) -> Option<Self> {
        let mut lines = response.get_all(CONTENT_RANGE).iter();
        let (Some(line), None) = (lines.next(), lines.next()) else {
            return None;
        };
        ContentRange::parse(line.as_bytes())
    }

    fn parse(line: &[u8]) -> Option<Self> {
        let (unit, rest) = list::trim(line).split_at_checked(6)?;
        if !unit.eq_ignore_ascii_case(b"bytes ") {
            return None;
        }
        let slash = rest.iter().position(|&byte| byte == b'/')?;
        let complete = match &rest[slash + 1..] {
            b"*" => None,
            digits => Some(exact(digits)?),
        };
        if &rest[..slash] == b"*" {
            return complete.map(|complete| ContentRange { bytes: None, complete: Some(complete) });
        }
        let dash = rest[..slash].iter().position(|&byte| byte == b'-')?;
        let bytes = exact(&rest[..dash])?..exact(&rest[dash + 1..slash])?.checked_add(1)?;
        let fits = bytes.start < bytes.end && complete.is_none_or(|complete| bytes.end <= complete);
        fits.then_some(ContentRange { bytes: Some(bytes), complete })
    }
}

/// A number that must be what it says: one that does not fit is none.
fn exact(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits)
        .ok()
        .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?
        .parse()
        .ok()
}

/// What two parts make together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Combined {
    /// They must not be put together: not surely parts of the same bytes, or a gap lies between.
    Never,
    /// One longer part.
    Part(Range<u64>),
    /// The whole, of this length.
    Whole(u64),
}

/// Whether a stored part and a new one may be put together, and what comes out (RFC 9111 §3.4): both must carry the
/// same strong validator and the same complete length, and touch or overlap.
pub fn combine(stored: &HeaderMap, new: &HeaderMap) -> Combined {
    if !same_strong_validator(stored, new) {
        return Combined::Never;
    }
    let (Some(stored), Some(new)) = (ContentRange::of(stored), ContentRange::of(new)) else {
        return Combined::Never;
    };
    let (Some(one), Some(other), Some(complete)) = (stored.bytes, new.bytes, stored.complete) else {
        return Combined::Never;
    };
    if new.complete != Some(complete) || one.start > other.end || other.start > one.end {
        return Combined::Never;
    }
    let union = one.start.min(other.start)..one.end.max(other.end);
    if union == (0..complete) { Combined::Whole(complete) } else { Combined::Part(union) }
}

fn same_strong_validator(one: &HeaderMap, other: &HeaderMap) -> bool {
    match (EntityTag::of(one), EntityTag::of(other)) {
        (Some(one), Some(other)) => one.strongly_matches(other),
        (None, None) => strong_last_modified(one).is_some_and(|at| strong_last_modified(other) == Some(at)),
        _ => false,
    }
}
