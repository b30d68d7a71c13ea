//! Update: what a 304 or an answer to HEAD changes in a stored answer (RFC 9111 §3.2, §4.3.4, §4.3.5).

use http::header::{
    AGE, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, DATE, ETAG, EXPIRES, HeaderMap,
    HeaderName, LAST_MODIFIED, SET_COOKIE, VARY,
};

use crate::ResponseDirectives;
use crate::hop_by_hop::HopByHop;

/// Not taken from an update: they describe the stored bytes, which it did not bring (RFC 9111 §3.2 names
/// `Content-Length`, and allows leaving out what the integrity of the stored answer hangs on), or are one user's alone.
///
/// `Content-Type` is taken: we keep the bytes as they came, so nothing stored depends on it.
const NEVER_UPDATED: [HeaderName; 8] = [
    CONTENT_LENGTH,
    CONTENT_ENCODING,
    CONTENT_RANGE,
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("content-md5"),
    HeaderName::from_static("digest"),
    SET_COOKIE,
    HeaderName::from_static("set-cookie2"),
];

/// Brings the stored fields up to date: each field of the update replaces all stored lines of its name. `Age` and
/// `Date` go when the update has none, as they would speak of the older answer (RFC 9111 §4.2.3). Fields that the
/// result names in `private="…"` or `no-cache="…"` go too, as they do in [`storable_fields`](crate::storable_fields).
pub fn freshen(stored: &mut HeaderMap, update: &HeaderMap) {
    let hop_by_hop = HopByHop::of(update);
    stored.remove(AGE);
    stored.remove(DATE);
    for name in update.keys() {
        if NEVER_UPDATED.contains(name) || hop_by_hop.has(name) {
            continue;
        }
        stored.remove(name);
        for value in update.get_all(name) {
            stored.append(name.clone(), value.clone());
        }
    }
    for name in unshared(stored) {
        stored.remove(name);
    }
}

/// The part of an update that is about the answer's lifetime and identity, for an update that was made for one user: the
/// rest of it may say who that is.
pub fn impersonal(update: &HeaderMap) -> HeaderMap {
    let is_meant = |name: &HeaderName| {
        matches!(*name, AGE | CACHE_CONTROL | DATE | ETAG | EXPIRES | LAST_MODIFIED | VARY)
            || name.as_str().ends_with("-cache-control")
    };
    update
        .iter()
        .filter(|(name, _)| is_meant(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The fields that `Cache-Control` or any targeted field keeps from being shared. Whether a targeted field is meant for
/// us is not asked: it costs nothing to heed one that is not.
fn unshared(fields: &HeaderMap) -> Vec<HeaderName> {
    let targeted = fields.keys().filter(|name| name.as_str().ends_with("-cache-control"));
    let sources = targeted.map(std::slice::from_ref).chain([&[][..]]);
    sources
        .flat_map(|source| {
            let directives = ResponseDirectives::of(fields, source);
            directives.unshared_fields().cloned().collect::<Vec<_>>()
        })
        .collect()
}

/// Whether an answer to HEAD speaks of the same thing as the stored answer to GET (RFC 9111 §4.3.5): then it may
/// [`freshen`] it, otherwise the stored one is to be considered stale. Compared is what both have.
pub fn head_agrees(stored: &HeaderMap, head_response: &HeaderMap) -> bool {
    [CONTENT_LENGTH, ETAG, LAST_MODIFIED].iter().all(|name| {
        match (stored.get(name), head_response.get(name)) {
            (Some(stored), Some(head)) => stored == head,
            (None, Some(_)) => *name == CONTENT_LENGTH, // the stored length may be known from the content alone
            (_, None) => true,
        }
    })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn fields(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in lines {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        map
    }

    #[test]
    fn rfc9111_3_2_each_field_of_the_update_must_replace_the_stored_one() {
        let mut stored = fields(&[("x", "1"), ("x", "2"), ("y", "1"), ("cache-control", "max-age=1")]);
        freshen(&mut stored, &fields(&[("x", "3"), ("z", "4"), ("z", "5"), ("cache-control", "max-age=2")]));
        let expected = [("x", "3"), ("y", "1"), ("z", "4"), ("z", "5"), ("cache-control", "max-age=2")];
        assert_eq!(stored, fields(&expected));
    }

    #[test]
    fn rfc9111_3_2_what_the_stored_bytes_hang_on_stays() {
        let lines = [("content-length", "5"), ("content-encoding", "gzip"), ("content-type", "text/plain")];
        let mut stored = fields(&lines);
        let update = [
            ("content-length", "0"),
            ("content-encoding", "br"),
            ("content-range", "bytes 0-1/2"),
            ("content-type", "text/html"),
            ("content-digest", "sha-256=:x:"),
            ("set-cookie", "a=1"),
        ];
        freshen(&mut stored, &fields(&update));
        assert_eq!(stored, fields(&[lines[0], lines[1], ("content-type", "text/html")]));
    }

    #[test]
    fn rfc9111_3_1_hop_by_hop_fields_must_not_be_taken() {
        let mut stored = fields(&[("x-hop", "1")]);
        let update = [
            ("connection", "x-hop, close, cache-control"),
            ("x-hop", "2"),
            ("keep-alive", "timeout=5"),
            ("transfer-encoding", "chunked"),
            ("proxy-authenticate", "Basic"),
            ("cache-control", "no-store"),
        ];
        freshen(&mut stored, &fields(&update));
        assert_eq!(stored, fields(&[("x-hop", "1"), ("cache-control", "no-store")]));
    }

    #[test]
    fn rfc9111_5_2_2_7_fields_that_the_update_keeps_private_must_not_be_taken() {
        let mut stored = fields(&[("x-a", "1"), ("x-b", "1"), ("x-c", "1")]);
        let cache_control = [("cache-control", "private=\"x-a\""), ("cdn-cache-control", "no-cache=\"x-b\"")];
        freshen(&mut stored, &fields(&[cache_control[0], cache_control[1], ("x-a", "2"), ("x-b", "2")]));
        assert_eq!(stored, fields(&[("x-c", "1"), cache_control[0], cache_control[1]]));
    }

    #[test]
    fn rfc9111_4_2_3_age_and_date_are_those_of_the_update() {
        let mut stored = fields(&[("age", "50"), ("date", "then"), ("etag", "\"a\"")]);
        freshen(&mut stored, &fields(&[("age", "3"), ("date", "now")]));
        assert_eq!(stored, fields(&[("age", "3"), ("date", "now"), ("etag", "\"a\"")]));
        freshen(&mut stored, &HeaderMap::new());
        assert_eq!(stored, fields(&[("etag", "\"a\"")]));
    }

    #[test]
    fn rfc9111_4_3_5_head_agrees_when_all_it_says_is_the_same() {
        let stored = fields(&[("content-length", "5"), ("etag", "\"a\""), ("last-modified", "then")]);
        for (lines, expected) in [
            (&[][..], true),
            (&[("content-length", "5"), ("etag", "\"a\""), ("last-modified", "then"), ("x", "1")], true),
            (&[("content-length", "6")], false),
            (&[("etag", "\"b\"")], false),
            (&[("etag", "W/\"a\"")], false),
            (&[("last-modified", "now")], false),
        ] {
            assert_eq!(head_agrees(&stored, &fields(lines)), expected, "{lines:?}");
        }
        assert!(!head_agrees(&HeaderMap::new(), &fields(&[("etag", "\"a\"")])));
        assert!(head_agrees(&HeaderMap::new(), &fields(&[("content-length", "5")])));
    }
}
