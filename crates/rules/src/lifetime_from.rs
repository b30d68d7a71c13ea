//! LifetimeFrom: which statement gave an answer its lifetime; for explaining, not for deciding.

use crate::freshness::{lifetime, stated};
use crate::{Exchange, Policy, ResponseDirectives};

/// Where a freshness lifetime comes from, strongest first (RFC 9111 §4.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifetimeFrom {
    /// A targeted field such as `CDN-Cache-Control` (RFC 9213).
    Targeted,
    /// `s-maxage`.
    SMaxage,
    /// `max-age`.
    MaxAge,
    /// `Expires` less `Date`.
    Expires,
    /// The policy's `ttl`.
    PolicyDefault,
    /// A part of the time since `Last-Modified` (RFC 9111 §4.2.2).
    Heuristic,
}

impl LifetimeFrom {
    /// What gave this answer its lifetime; `None` when nothing did.
    pub fn of(exchange: &Exchange<'_>, policy: &Policy) -> Option<Self> {
        let directives = ResponseDirectives::of(exchange.response, &policy.targeted);
        if stated(exchange, &directives).is_some() {
            return Some(match (directives.targeted, directives.s_maxage, directives.max_age) {
                (true, _, _) => LifetimeFrom::Targeted,
                (false, Some(_), _) => LifetimeFrom::SMaxage,
                (false, None, Some(_)) => LifetimeFrom::MaxAge,
                (false, None, None) => LifetimeFrom::Expires,
            });
        }
        lifetime(exchange, &directives, policy)?;
        Some(if policy.default_ttl.is_some() { LifetimeFrom::PolicyDefault } else { LifetimeFrom::Heuristic })
    }

    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            LifetimeFrom::Targeted => "a targeted field (RFC 9213)",
            LifetimeFrom::SMaxage => "s-maxage (RFC 9111 §5.2.2.10)",
            LifetimeFrom::MaxAge => "max-age (RFC 9111 §5.2.2.1)",
            LifetimeFrom::Expires => "Expires less Date (RFC 9111 §5.3)",
            LifetimeFrom::PolicyDefault => "the policy's ttl",
            LifetimeFrom::Heuristic => "the heuristic (RFC 9111 §4.2.2)",
        }
    }
}
