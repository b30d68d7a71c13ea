//! LifetimeFrom: which statement gave an answer its lifetime; for explaining, not for deciding.

use crate::{Exchange, Policy, ResponseDirectives, freshness};

/// Where a freshness lifetime comes from (RFC 9111 §4.2.1, and the policy).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifetimeFrom {
    /// The policy's `ttl`, whatever the answer says.
    Forced,
    /// A targeted field such as `CDN-Cache-Control` (RFC 9213).
    Targeted,
    /// `s-maxage`.
    SMaxage,
    /// `max-age`.
    MaxAge,
    /// `Expires` less `Date`.
    Expires,
    /// The policy's lifetime for this status.
    Status,
    /// The policy's `ttl`, as the content type is static.
    StaticType,
    /// The policy's `ttl`.
    PolicyDefault,
    /// A part of the time since `Last-Modified` (RFC 9111 §4.2.2).
    Heuristic,
    /// [`status::LONGEST_FAILURE`](crate::status::LONGEST_FAILURE), as something else gave more.
    LongestFailure,
    /// The policy's `max_ttl`, as something else gave more.
    PolicyMost,
}

impl LifetimeFrom {
    /// What gave this answer its lifetime; `None` when nothing did.
    pub fn of(exchange: &Exchange<'_>, policy: &Policy) -> Option<Self> {
        let directives = ResponseDirectives::of(exchange.response, &policy.targeted);
        freshness::lifetime(exchange, &directives, policy).map(|(_, from)| from)
    }

    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            LifetimeFrom::Forced => "the policy's ttl, which `mode: force` puts before what the answer says",
            LifetimeFrom::Targeted => "a targeted field (RFC 9213)",
            LifetimeFrom::SMaxage => "s-maxage (RFC 9111 §5.2.2.10)",
            LifetimeFrom::MaxAge => "max-age (RFC 9111 §5.2.2.1)",
            LifetimeFrom::Expires => "Expires less Date (RFC 9111 §5.3)",
            LifetimeFrom::Status => "the policy's lifetime for this status (`negative`)",
            LifetimeFrom::StaticType => {
                "the policy's ttl, which `mode: static` gives to static content types"
            }
            LifetimeFrom::PolicyDefault => "the policy's ttl",
            LifetimeFrom::Heuristic => "the heuristic (RFC 9111 §4.2.2)",
            LifetimeFrom::LongestFailure => {
                "the minute that is the most for a status which a client may have brought about"
            }
            LifetimeFrom::PolicyMost => "the policy's max_ttl, which is less than what it would have got",
        }
    }
}
