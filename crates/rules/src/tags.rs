//! Tags: what an answer is filed under, so that it can be forgotten together with others: `Cache-Tag`, `Surrogate-Key`,
//! `Cache-Groups` and `Cache-Group-Invalidation` (RFC 9875).

use http::{HeaderMap, HeaderName};

/// An answer's tags: of the fields named (split at commas and white space), and its groups.
///
/// A group of RFC 9875 belongs to its origin, so it stands here as [`group`] makes it, and as a plain tag too, for
/// whoever purges by hand. At most 64 tags of at most 256 bytes; what is over that is left out. Joined by `\n`, each
/// once; empty without any.
pub fn of(response: &HeaderMap, fields: &[HeaderName], authority: &str) -> Box<str> {
    let _ = (response, fields, authority);
    Box::default()
}

/// A group as a tag: with its origin's authority, in a form that no plain tag can have.
pub fn group(authority: &str, name: &str) -> String {
    let _ = (authority, name);
    String::new()
}

/// The groups of its own origin that this answer to an unsafe request makes out of date, as [`group`] makes them.
pub fn invalidated_groups(response: &HeaderMap, authority: &str) -> Vec<String> {
    let _ = (response, authority);
    Vec::new()
}
