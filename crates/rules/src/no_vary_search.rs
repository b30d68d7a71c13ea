//! NoVarySearch: what an answer says about parameters that do not matter (`No-Vary-Search`).

use http::HeaderMap;

/// What the field says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoVarySearch {
    key_order: bool,
}

impl NoVarySearch {
    /// Reads the field; `None` where it is missing, invalid, or says that everything matters.
    pub fn of(response: &HeaderMap) -> Option<Self> {
        let _ = response;
        None
    }

    /// What counts of a target, as [`crate::QueryKey::target`].
    pub fn target<'a>(&self, target: &'a str, out: &'a mut String) -> &'a str {
        let _ = (self.key_order, out);
        target
    }

    /// A number that tells this rule from others, to be part of keys it made.
    pub fn fingerprint(&self) -> u64 {
        0
    }
}
