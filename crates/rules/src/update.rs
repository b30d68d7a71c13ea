//! Update: what a 304 or an answer to HEAD changes in a stored answer (RFC 9111 §3.2, §4.3.4, §4.3.5).

use http::header::{
    AGE, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, DATE, ETAG, HeaderMap, HeaderName, LAST_MODIFIED,
    SET_COOKIE,
};

use crate::hop_by_hop;

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
/// `Date` go when the update has none, as they would speak of the older answer (RFC 9111 §4.2.3).
///
/// Set the update's fields through [`storable_fields`](crate::storable_fields) first where it has directives with
/// field names.
pub fn freshen(stored: &mut HeaderMap, update: &HeaderMap) {
    let named = hop_by_hop::named(update);
    stored.remove(AGE);
    stored.remove(DATE);
    for name in update.keys() {
        if NEVER_UPDATED.contains(name) || hop_by_hop::is_hop_by_hop(name, &named) {
            continue;
        }
        stored.remove(name);
        for value in update.get_all(name) {
            stored.append(name.clone(), value.clone());
        }
    }
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
