//! Freshness: how long an answer may be used without asking again (RFC 9111 §4.2.1, §4.2.2).

use std::time::Duration;

use http::header::{DATE, EXPIRES, LAST_MODIFIED};

use crate::date::FieldDate;
use crate::{Exchange, Policy, ResponseDirectives, status};

/// The most a heuristic may give: RFC 9111 §4.2.2 leaves it to us, and a day is what people expect at worst.
const LONGEST_GUESS: Duration = Duration::from_hours(24);

/// The lifetime, counted from when the answer was made; `None` when nothing gives one.
///
/// First what the answer says: `s-maxage`, else `max-age`, else `Expires` less `Date`; cut short where a client may
/// have provoked the answer. Then, for the statuses that may be given one, the policy's default; last the heuristic.
pub(crate) fn lifetime(
    exchange: &Exchange<'_>,
    directives: &ResponseDirectives,
    policy: &Policy,
) -> Option<Duration> {
    if let Some(stated) = stated(exchange, directives) {
        let longest =
            if status::can_be_provoked(exchange.status) { status::LONGEST_FAILURE } else { Duration::MAX };
        return Some(stated.min(longest));
    }
    if !status::may_get_a_lifetime(exchange.status, directives.public) {
        return None;
    }
    policy.default_ttl.or_else(|| guess(exchange, policy.heuristic?))
}

/// Explicit freshness (RFC 9111 §4.2.1).
pub(crate) fn stated(exchange: &Exchange<'_>, directives: &ResponseDirectives) -> Option<Duration> {
    if let Some(seconds) = directives.s_maxage.or(directives.max_age) {
        return Some(Duration::from_secs(u64::from(seconds)));
    }
    if directives.targeted {
        return None; // a targeted field takes the place of Expires too (RFC 9213 §2.2)
    }
    match FieldDate::of(exchange.response, &EXPIRES) {
        FieldDate::Missing => None,
        FieldDate::Invalid => Some(Duration::ZERO), // in particular "0" (RFC 9111 §5.3)
        FieldDate::At(expires) => Some(expires.since(made_at(exchange))),
    }
}

/// A part of the time the answer had not changed when it was made (RFC 9111 §4.2.2).
fn guess(exchange: &Exchange<'_>, fraction: f64) -> Option<Duration> {
    let modified = FieldDate::of(exchange.response, &LAST_MODIFIED).at()?;
    let unchanged = made_at(exchange).since(modified);
    if unchanged.is_zero() || !fraction.is_finite() || fraction <= 0.0 {
        return None;
    }
    Some(
        Duration::try_from_secs_f64(unchanged.as_secs_f64() * fraction)
            .map_or(LONGEST_GUESS, |guess| guess.min(LONGEST_GUESS)),
    )
}

/// `Date`, or when the answer arrived where there is no usable one (RFC 9110 §6.6.1).
fn made_at(exchange: &Exchange<'_>) -> message::Timestamp {
    FieldDate::of(exchange.response, &DATE).at().unwrap_or(exchange.received_at)
}
