//! Policy: what an operator may say about caching besides what answers say themselves.
//!
//! Comes from the plan; read by [`Terms::of`](crate::Terms::of).

use std::time::Duration;

use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderName, StatusCode};

use crate::Exchange;

/// How far the answers' own directives are obeyed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They decide; `default_ttl` is for answers that state no lifetime.
    #[default]
    Origin,
    /// They decide; `default_ttl` is for answers of static content types that state no lifetime.
    Static,
    /// They are overruled, and so are the request's: successful answers (200, 203, 204, 206, 300, 301, 308) are fresh for
    /// `default_ttl`, and those that `by_status` names for what it says. All others are left to their own directives.
    /// Never for requests that carry `Authorization` or unkeyed cookies, never with `Set-Cookie` or `Vary: *`.
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
    /// Lifetimes of answers that state none, by status; go before `default_ttl`. For statuses that a client can provoke
    /// at most [`status::LONGEST_FAILURE`](crate::status::LONGEST_FAILURE).
    pub by_status: Vec<(StatusCode, Duration)>,
    /// Whether all cookies that the origin gets to see are part of the key, so that they make no answer one user's.
    pub cookies_keyed: bool,
    /// Heuristic freshness (RFC 9111 §4.2.2) as a fraction of the time since `Last-Modified`, capped at a day;
    /// `None`: an answer without a lifetime is not stored.
    pub heuristic: Option<f64>,
    /// `stale-while-revalidate` where the answer does not say (RFC 5861 §3).
    pub stale_while_revalidate: Duration,
    /// `stale-if-error` where the answer does not say (RFC 5861 §4). Zero: none, whatever fails and whoever asks. `None`:
    /// none for error statuses, and [`LONGEST_DISCONNECTED`](crate::terms::LONGEST_DISCONNECTED) where the origin cannot
    /// be reached (RFC 9111 §4.2.4).
    pub stale_if_error: Option<Duration>,
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
            stale_if_error: None,
            client_directives: true,
            store_set_cookie: false,
            targeted: vec![HeaderName::from_static("cdn-cache-control")],
        }
    }
}

impl Policy {
    /// The lifetime it has for answers of this status.
    pub fn for_status(&self, status: StatusCode) -> Option<Duration> {
        self.by_status.iter().find(|(named, _)| *named == status).map(|(_, lifetime)| *lifetime)
    }

    /// Whether a request's directives count (RFC 9111 §5.2.1): where answers are forced, clients cannot ask past them.
    pub fn heeds_clients(&self) -> bool {
        self.client_directives && self.mode != Mode::Force
    }

    /// Whether the answer's directives are overruled: not for one user's own answers, which are left to what they say.
    pub(crate) fn forces(&self, exchange: &Exchange<'_>) -> bool {
        let takes = || {
            matches!(exchange.status.as_u16(), 200 | 203 | 204 | 206 | 300 | 301 | 308)
                || self.for_status(exchange.status).is_some()
        };
        self.mode == Mode::Force && !exchange.personal && takes()
    }

    /// Whether the request has cookies that are not in the key, so that its answer may be one user's.
    pub(crate) fn has_unkeyed_cookies(&self, exchange: &Exchange<'_>) -> bool {
        exchange.request.has(&COOKIE) && !self.cookies_keyed && !exchange.personal
    }

    /// Whether the request has credentials that are not in the key.
    pub(crate) fn has_unkeyed_credentials(exchange: &Exchange<'_>) -> bool {
        exchange.request.has(&AUTHORIZATION) && !exchange.personal
    }
}

/// What `negative: true` means: the usual lifetimes of redirections and failures that state none, after Cloud CDN.
///
/// Of the fifteen statuses that a CDN caches these are the nine that get a lifetime for their status alone. The others:
/// 200, 203, 204 and 206 have the policy's `ttl`; 302 and 307, which are temporary, are stored only when they say so.
pub fn by_status_defaults() -> Vec<(StatusCode, Duration)> {
    let moved = Duration::from_mins(10);
    let gone = Duration::from_mins(2);
    let refused = Duration::from_mins(1);
    vec![
        (StatusCode::MULTIPLE_CHOICES, moved),
        (StatusCode::MOVED_PERMANENTLY, moved),
        (StatusCode::PERMANENT_REDIRECT, moved),
        (StatusCode::NOT_FOUND, gone),
        (StatusCode::METHOD_NOT_ALLOWED, refused),
        (StatusCode::GONE, gone),
        (StatusCode::MISDIRECTED_REQUEST, refused),
        (StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS, gone),
        (StatusCode::NOT_IMPLEMENTED, refused),
    ]
}
