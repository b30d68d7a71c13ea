//! Edit: one change to the header fields of a message: some are taken out, one is added. Made by `policy`, for responses and for
//! errors on their way to becoming one; made in `response::failure` for those.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};

/// See the module. A field is replaced by taking it out and adding it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldEdit {
    /// Takes every line out whose name matches.
    Remove(FieldPattern),
    /// Adds a line.
    Add(HeaderName, HeaderValue),
}

/// Which fields are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldPattern {
    /// The one of this name.
    Name(HeaderName),
    /// All whose names begin so, in lower case, but for those that are [`is_framing`] or [`is_ours`].
    Prefix(Arc<str>),
}

/// Fields that frame a message, route it or are about one connection (RFC 9110 §7.6, §8.6): nobody but who sends the message may
/// change them.
const FRAMING: [&str; 16] = [
    "connection",
    "content-length",
    "content-range",
    "date",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

/// Fields that are added to each response when all else is done.
const OURS: [&str; 6] =
    ["cache-id", "cache-status", "ratelimit", "ratelimit-policy", "server-timing", "x-request-id"];

/// Whether a field frames a message, routes it, or is about one connection. The name is in lower case.
pub fn is_framing(name: &str) -> bool {
    FRAMING.contains(&name)
}

/// Whether fleetfoot adds a field to a response when all else is done. The name is in lower case.
pub fn is_ours(name: &str) -> bool {
    OURS.contains(&name)
}

impl FieldPattern {
    /// Whether a field is meant, whatever the letter case of its name.
    pub fn matches(&self, name: &[u8]) -> bool {
        match self {
            FieldPattern::Name(wanted) => name.eq_ignore_ascii_case(wanted.as_str().as_bytes()),
            FieldPattern::Prefix(prefix) => {
                let begins = name.get(..prefix.len());
                let mut kept = FRAMING.iter().chain(&OURS);
                begins.is_some_and(|begins| begins.eq_ignore_ascii_case(prefix.as_bytes()))
                    && !kept.any(|kept| name.eq_ignore_ascii_case(kept.as_bytes()))
            }
        }
    }

    /// Takes the fields out that are meant.
    pub fn remove_from(&self, fields: &mut HeaderMap) {
        match self {
            FieldPattern::Name(name) => drop(fields.remove(name)),
            FieldPattern::Prefix(_) => {
                let meant = |name: &&HeaderName| self.matches(name.as_str().as_bytes());
                let found: Vec<HeaderName> = fields.keys().filter(meant).cloned().collect();
                for name in found {
                    fields.remove(name);
                }
            }
        }
    }
}

impl FieldEdit {
    /// Makes the change. A line for which there is no room any more is not added.
    pub fn apply(&self, fields: &mut HeaderMap) {
        match self {
            FieldEdit::Remove(pattern) => pattern.remove_from(fields),
            FieldEdit::Add(name, value) => {
                // It has room for 32768 lines, and no head comes in with as many.
                let _full = fields.try_append(name.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_takes_what_begins_so_and_leaves_what_frames_a_message_or_is_ours() {
        let mut fields = HeaderMap::new();
        for name in ["x-internal-a", "x-internal-b", "x-request-id", "content-length", "content-type"] {
            fields.append(name, HeaderValue::from_static("1"));
        }
        FieldPattern::Prefix("x-internal-".into()).remove_from(&mut fields);
        assert_eq!(fields.len(), 3);
        for prefix in ["x-", "content-"] {
            FieldPattern::Prefix(prefix.into()).remove_from(&mut fields);
        }
        let mut left: Vec<_> = fields.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["content-length", "x-request-id"]);
    }

    #[test]
    fn replacing_is_removing_and_adding() {
        let name = HeaderName::from_static("x-a");
        let mut fields = HeaderMap::new();
        fields.append(&name, HeaderValue::from_static("1"));
        fields.append(&name, HeaderValue::from_static("2"));
        let edits = [
            FieldEdit::Remove(FieldPattern::Name(name.clone())),
            FieldEdit::Add(name.clone(), HeaderValue::from_static("3")),
        ];
        for edit in edits {
            edit.apply(&mut fields);
        }
        assert_eq!(fields.get_all(&name).iter().collect::<Vec<_>>(), ["3"]);
    }
}
