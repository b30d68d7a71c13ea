//! Invalidate: what a successful write on a route makes the cache forget, besides its own URL.

use expression::Template;

/// One of a route's `invalidate`. Rules for a write whose answer is an error do nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalidate {
    /// What.
    pub target: InvalidateTarget,
    /// Whether it is only made stale, so that it can still serve under the stale rules.
    pub soft: bool,
}

/// What is forgotten; hosts are those of the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidateTarget {
    /// A path with all its queries, or, with a query written, that one.
    Url(Template),
    /// Every path that begins so.
    Prefix(Template),
    /// Every answer with this tag, on any host.
    Tag(Template),
}
