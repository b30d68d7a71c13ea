//! Policy: what an operator may say about caching besides what answers say themselves.
//!
//! Comes from the plan; read by [`Terms::of`](crate::Terms::of).

use std::time::Duration;

use http::{HeaderName, StatusCode};

/// How far the answers' own directives are obeyed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They decide; `default_ttl` is for answers that state no lifetime.
    #[default]
    Origin,
    /// They decide; `default_ttl` is for answers of static content types that state no lifetime.
    Static,
    /// They are overruled: what may be shared at all is fresh for `default_ttl`, or for what `by_status` says. Never for
    /// requests that carry `Authorization` or unkeyed cookies, and never with `Set-Cookie`.
    Force,
}

/// The settings of one route. The default adds nothing to the RFCs and allows nothing they forbid.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// How far the answers' own directives are obeyed.
    pub mode: Mode,
    /// Lifetime of an answer that states none itself; `None`: the heuristic decides, if there is one.
    pub default_ttl: Option<Duration>,
    /// No answer is fresh for longer than that, whatever it says.
    pub max_ttl: Option<Duration>,
    /// What clients are told at most: `max-age` in what is sent to them (see [`crate::client_lifetime`]).
    pub client_ttl: Option<Duration>,
    /// Lifetimes of answers that state none, by status, sorted by it; go before `default_ttl`.
    pub by_status: Vec<(StatusCode, Duration)>,
    /// Whether all cookies that the origin gets to see are part of the key, so that they make no answer one user's.
    pub cookies_keyed: bool,
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
            mode: Mode::default(),
            default_ttl: None,
            max_ttl: None,
            client_ttl: None,
            by_status: Vec::new(),
            cookies_keyed: false,
            heuristic: None,
            stale_while_revalidate: Duration::ZERO,
            stale_if_error: Duration::ZERO,
            client_directives: true,
            store_set_cookie: false,
            targeted: vec![HeaderName::from_static("cdn-cache-control")],
        }
    }
}
