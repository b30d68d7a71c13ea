//! Policy: what an operator may say about caching besides what answers say themselves.
//!
//! Comes from the plan; read by [`Terms::of`](crate::Terms::of).

use std::time::Duration;

use http::HeaderName;

/// The settings of one route. The default adds nothing to the RFCs and allows nothing they forbid.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Lifetime of an answer that states none itself; `None`: the heuristic decides, if there is one.
    pub default_ttl: Option<Duration>,
    /// Heuristic freshness (RFC 9111 §4.2.2) as a fraction of the time since `Last-Modified`, capped at a day;
    /// `None`: an answer without a lifetime is not stored.
    pub heuristic: Option<f64>,
    /// `stale-while-revalidate` where the answer does not say (RFC 5861 §3).
    pub stale_while_revalidate: Duration,
    /// `stale-if-error` where the answer does not say (RFC 5861 §4).
    pub stale_if_error: Duration,
    /// Whether request directives (RFC 9111 §5.2.1) are honoured. Here that is `no-store`; for the others whoever
    /// calls [`Terms::reuse`](crate::Terms::reuse) passes `RequestDirectives::default()` where this is false.
    pub client_directives: bool,
    /// Whether answers with `Set-Cookie` may be stored.
    pub store_set_cookie: bool,
    /// Targeted fields obeyed before `Cache-Control`, most specific first (RFC 9213 §2.2).
    pub targeted: Vec<HeaderName>,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            default_ttl: None,
            heuristic: None,
            stale_while_revalidate: Duration::ZERO,
            stale_if_error: Duration::ZERO,
            client_directives: true,
            store_set_cookie: false,
            targeted: vec![HeaderName::from_static("cdn-cache-control")],
        }
    }
}
