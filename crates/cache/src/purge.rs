//! Purge: forgetting on somebody's word.

use message::Timestamp;
use serde::Serialize;

use crate::store::Store;

/// What is forgotten, or listed. Schemes do not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Everything there is.
    Everything,
    /// One host: an authority as in keys, lower case, without the scheme's default port.
    Host(Box<str>),
    /// Paths that begin so, of one host or of any.
    Prefix {
        /// The host; `None`: any.
        authority: Option<Box<str>>,
        /// The beginning of the path, with its slash.
        path: Box<str>,
    },
    /// A path with all its queries, in all variants.
    Path {
        /// The host.
        authority: Box<str>,
        /// The whole path.
        path: Box<str>,
    },
    /// A path with one query, or none, as [`crate::keyed_target`] gives it, in all variants.
    Target {
        /// The host.
        authority: Box<str>,
        /// Path and query.
        target: Box<str>,
    },
    /// Answers that have this tag.
    Tag(Box<str>),
}

/// A purge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purge {
    /// What.
    pub scope: Scope,
    /// Whether it is only made stale: it may then still serve under the stale rules, and be confirmed.
    pub soft: bool,
}

/// How much a scope covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// Answers: each variant is one.
    pub answers: u64,
    /// Their bytes, as the bound counts them.
    pub bytes: u64,
}

/// A stored answer, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Scheme, host and target as keyed.
    pub url: String,
    /// What else is in the key, for people: `x-tenant: a`, `user: 7`; empty for most.
    pub also: Vec<String>,
    /// The request fields this variant was chosen by (`Vary`): names and values.
    pub vary: Vec<(String, String)>,
    /// The status.
    pub status: u16,
    /// Bytes of content.
    pub length: u64,
    /// Seconds since the origin made it.
    pub age: u32,
    /// Seconds it is still fresh; negative when stale.
    pub fresh_for: i64,
    /// Roughly how often it was used.
    pub hits: u32,
    /// Its tags.
    pub tags: Vec<String>,
    /// Its fields as stored.
    pub fields: Vec<(String, String)>,
}

impl Store {
    /// Forgets. In force for every core when this returns.
    pub fn purge(&self, purge: &Purge, now: Timestamp) {
        let _ = (purge, now);
    }

    /// How much a purge of this scope would forget. Walks through all entries: up to a second for a million.
    pub fn count(&self, scope: &Scope) -> Counted {
        let _ = scope;
        Counted::default()
    }

    /// The stored answers of a scope, the most used first, at most `most`. Walks like [`Store::count`].
    pub fn list(&self, scope: &Scope, most: usize, now: Timestamp) -> Vec<Listed> {
        let _ = (scope, most, now);
        Vec::new()
    }
}
