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

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn fields(lines: &[(HeaderName, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            map.append(name, HeaderValue::from_str(value).unwrap());
        }
        map
    }

    fn asked(value: &str, length: u64) -> Ranges {
        ranges(Fields::Map(&fields(&[(RANGE, value)])), length)
    }

    #[allow(clippy::single_range_in_vec_init)] // one range is what is meant
    #[test]
    fn rfc9110_14_1_2_satisfiable_ranges() {
        for (value, expected) in [
            ("bytes=0-0", vec![0..1]),
            ("bytes=0-9", vec![0..10]),
            ("bytes=5-", vec![5..10]),
            ("bytes=-3", vec![7..10]),
            ("bytes=-99", vec![0..10]),
            ("bytes=5-99", vec![5..10]),
            ("bytes=5-99999999999999999999999", vec![5..10]),
            ("BYTES=1-1", vec![1..2]),
            ("bytes=0-0, ,\t-1", vec![0..1, 9..10]),
            ("bytes=8-9,0-1", vec![8..10, 0..2]),
            ("bytes=0-0,20-30", vec![0..1]),
            ("bytes=0-0,-0", vec![0..1]),
            ("bytes=0-4,5-9", vec![0..5, 5..10]),
        ] {
            assert_eq!(asked(value, 10), Ranges::Of(expected), "{value}");
        }
    }

    #[test]
    fn rfc9110_15_5_17_unsatisfiable_ranges() {
        for value in
            ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999-", "bytes=10-,11-12"]
        {
            assert_eq!(asked(value, 10), Ranges::Unsatisfiable, "{value}");
        }
        assert_eq!(asked("bytes=0-", 0), Ranges::Unsatisfiable);
        assert_eq!(asked("bytes=-5", 0), Ranges::Ignore);
    }

    #[test]
    fn rfc9110_14_2_what_is_no_range_must_be_ignored() {
        for value in [
            "",
            "bytes",
            "bytes=",
            "bytes=,",
            "bytes=-",
            "bytes=a-b",
            "bytes=1",
            "bytes=5-4",
            "bytes=1 - 2",
            "bytes 0-1",
            "bytes =0-1",
            "bytes=+1-2",
            "bytes=--1",
            "bytes=0x1-2",
            "bytes=0-1;1-2",
            "bytes=0-1,x",
            "lines=0-1",
            "bytes=1-2-3",
        ] {
            assert_eq!(asked(value, 10), Ranges::Ignore, "{value}");
        }
        assert_eq!(ranges(Fields::Wire(&[]), 10), Ranges::Ignore);
        let two_lines = fields(&[(RANGE, "bytes=0-1"), (RANGE, "bytes=2-3")]);
        assert_eq!(ranges(Fields::Map(&two_lines), 10), Ranges::Ignore);
    }

    #[test]
    fn rfc9110_14_2_abusive_ranges_are_ignored() {
        for value in ["bytes=0-5,3-8", "bytes=0-,0-", "bytes=-5,8-9"] {
            assert_eq!(asked(value, 10), Ranges::Ignore, "{value}");
        }
        let list =
            |count: u64| (0..count).map(|at| format!("{}-{}", at * 2, at * 2)).collect::<Vec<_>>().join(",");
        assert!(matches!(asked(&format!("bytes={}", list(16)), 1000), Ranges::Of(all) if all.len() == 16));
        assert_eq!(asked(&format!("bytes={}", list(17)), 1000), Ranges::Ignore);
    }

    #[test]
    fn rfc9110_13_1_5_if_range_must_compare_strongly() {
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT";
        let dated = [(LAST_MODIFIED, modified), (DATE, "Sun, 06 Nov 1994 08:49:38 GMT")];
        let undated = [(LAST_MODIFIED, modified), (DATE, modified)];
        for (asked, stored, expected) in [
            ("\"a\"", &[(http::header::ETAG, "\"a\"")][..], true),
            ("\"b\"", &[(http::header::ETAG, "\"a\"")], false),
            ("W/\"a\"", &[(http::header::ETAG, "W/\"a\"")], false),
            ("W/\"a\"", &[(http::header::ETAG, "\"a\"")], false),
            ("\"a\"", &[], false),
            ("\"a\", \"b\"", &[(http::header::ETAG, "\"a\"")], false),
            (modified, &dated, true),
            ("Sunday, 06-Nov-94 08:49:37 GMT", &dated, true),
            ("Sun, 06 Nov 1994 08:49:38 GMT", &dated, false),
            (modified, &undated, false),
            (modified, &undated[..1], false),
            ("", &dated, false),
        ] {
            let request = fields(&[(IF_RANGE, asked)]);
            assert_eq!(if_range(Fields::Map(&request), &fields(stored)), expected, "{asked} {stored:?}");
        }
        assert!(if_range(Fields::Wire(&[]), &HeaderMap::new()));
    }

    #[test]
    fn rfc9110_14_4_content_range() {
        let part = |bytes, complete| Some(ContentRange { bytes, complete });
        for (value, expected) in [
            ("bytes 0-4/10", part(Some(0..5), Some(10))),
            ("bytes 9-9/10", part(Some(9..10), Some(10))),
            ("Bytes 0-4/*", part(Some(0..5), None)),
            ("bytes */10", part(None, Some(10))),
            ("bytes */*", None),
            ("bytes 5-4/10", None),
            ("bytes 0-10/10", None),
            ("bytes 0-4", None),
            ("bytes=0-4/10", None),
            ("bytes 0-4/", None),
            ("bytes -4/10", None),
            ("bytes 0-/10", None),
            ("bytes +0-4/10", None),
            ("bytes 0 - 4/10", None),
            ("bytes 0-4/10/10", None),
            ("bytes 0-18446744073709551615/*", None),
            ("bytes 0-4/99999999999999999999", None),
            ("items 0-4/10", None),
            ("", None),
        ] {
            assert_eq!(ContentRange::of(&fields(&[(CONTENT_RANGE, value)])), expected, "{value}");
        }
        let twice = fields(&[(CONTENT_RANGE, "bytes 0-4/10"), (CONTENT_RANGE, "bytes 0-4/10")]);
        assert_eq!(ContentRange::of(&twice), None);
    }

    #[test]
    fn rfc9111_3_4_parts_must_not_be_combined_without_the_same_strong_validator() {
        let part = |tag: &str, range: &str| fields(&[(http::header::ETAG, tag), (CONTENT_RANGE, range)]);
        let stored = part("\"a\"", "bytes 0-4/10");
        for (tag, range, expected) in [
            ("\"a\"", "bytes 5-9/10", Combined::Whole(10)),
            ("\"a\"", "bytes 3-9/10", Combined::Whole(10)),
            ("\"a\"", "bytes 5-7/10", Combined::Part(0..8)),
            ("\"a\"", "bytes 1-2/10", Combined::Part(0..5)),
            ("\"a\"", "bytes 6-9/10", Combined::Never),
            ("\"a\"", "bytes 5-9/11", Combined::Never),
            ("\"a\"", "bytes 5-9/*", Combined::Never),
            ("\"a\"", "bytes */10", Combined::Never),
            ("\"a\"", "nonsense", Combined::Never),
            ("\"b\"", "bytes 5-9/10", Combined::Never),
            ("W/\"a\"", "bytes 5-9/10", Combined::Never),
        ] {
            let new = part(tag, range);
            assert_eq!(combine(&stored, &new), expected, "{tag} {range}");
            assert_eq!(combine(&new, &stored), expected, "{tag} {range}, the other way round");
        }
        let dated = |date: &str, range: &str| {
            fields(&[(LAST_MODIFIED, "Sun, 06 Nov 1994 08:49:37 GMT"), (DATE, date), (CONTENT_RANGE, range)])
        };
        let stored = dated("Sun, 06 Nov 1994 08:49:38 GMT", "bytes 0-4/10");
        assert_eq!(
            combine(&stored, &dated("Sun, 06 Nov 1994 08:50:00 GMT", "bytes 5-9/10")),
            Combined::Whole(10)
        );
        assert_eq!(
            combine(&stored, &dated("Sun, 06 Nov 1994 08:49:37 GMT", "bytes 5-9/10")),
            Combined::Never
        );
        assert_eq!(combine(&HeaderMap::new(), &HeaderMap::new()), Combined::Never);
    }
}
