//! Freshness: how long an answer may be used without asking again (RFC 9111 §4.2.1, §4.2.2), and what says so.

use std::time::Duration;

use http::header::{DATE, EXPIRES, LAST_MODIFIED};

use crate::date::FieldDate;
use crate::static_type::is_static;
use crate::{Exchange, LifetimeFrom, Mode, Policy, ResponseDirectives, status};

/// The most a heuristic may give: RFC 9111 §4.2.2 leaves it to us, and a day is what people expect at worst.
const LONGEST_GUESS: Duration = Duration::from_hours(24);

/// The lifetime, counted from when the answer was made, and where it comes from; `None` when nothing gives one.
///
/// First what a policy that forces lays down, where it does so for this exchange. Then what the answer says: `s-maxage`,
/// else `max-age`, else `Expires` less `Date`. Then what the policy says of its status; then, for the statuses that may
/// be given one, the policy's default; last the heuristic. Cut short where a client may have provoked the answer, and to
/// what the policy allows at most.
pub(crate) fn lifetime(
    exchange: &Exchange<'_>,
    directives: &ResponseDirectives,
    policy: &Policy,
) -> Option<(Duration, LifetimeFrom)> {
    let (mut lifetime, mut from) = forced(exchange, policy)
        .or_else(|| stated(exchange, directives))
        .or_else(|| Some((policy.for_status(exchange.status)?, LifetimeFrom::Status)))
        .or_else(|| chosen(exchange, directives, policy))?;
    if status::can_be_provoked(exchange.status) && lifetime > status::LONGEST_FAILURE {
        (lifetime, from) = (status::LONGEST_FAILURE, LifetimeFrom::LongestFailure);
    }
    if let Some(most) = policy.max_ttl.filter(|most| lifetime > *most) {
        (lifetime, from) = (most, LifetimeFrom::PolicyMost);
    }
    Some((lifetime, from))
}

/// What holds whatever the answer says.
fn forced(exchange: &Exchange<'_>, policy: &Policy) -> Option<(Duration, LifetimeFrom)> {
    if !policy.forces(exchange) {
        return None;
    }
    let by_status = policy.for_status(exchange.status).map(|lifetime| (lifetime, LifetimeFrom::Status));
    by_status.or_else(|| Some((policy.default_ttl?, LifetimeFrom::Forced)))
}

/// Explicit freshness (RFC 9111 §4.2.1).
pub(crate) fn stated(
    exchange: &Exchange<'_>,
    directives: &ResponseDirectives,
) -> Option<(Duration, LifetimeFrom)> {
    if let Some(seconds) = directives.s_maxage.or(directives.max_age) {
        let from = match (directives.targeted, directives.s_maxage) {
            (true, _) => LifetimeFrom::Targeted,
            (false, Some(_)) => LifetimeFrom::SMaxage,
            (false, None) => LifetimeFrom::MaxAge,
        };
        return Some((Duration::from_secs(u64::from(seconds)), from));
    }
    if directives.targeted {
        return None; // a targeted field takes the place of Expires too (RFC 9213 §2.2)
    }
    let lifetime = match FieldDate::of(exchange.response, &EXPIRES) {
        FieldDate::Missing => return None,
        FieldDate::Invalid => Duration::ZERO, // in particular "0" (RFC 9111 §5.3)
        FieldDate::At(expires) => expires.since(made_at(exchange)),
    };
    Some((lifetime, LifetimeFrom::Expires))
}

/// What an answer gets that states nothing, if its status allows it.
fn chosen(
    exchange: &Exchange<'_>,
    directives: &ResponseDirectives,
    policy: &Policy,
) -> Option<(Duration, LifetimeFrom)> {
    if !status::may_get_a_lifetime(exchange.status, directives.public) {
        return None;
    }
    let default = |from| policy.default_ttl.map(|ttl| (ttl, from));
    let default = match policy.mode {
        Mode::Origin => default(LifetimeFrom::PolicyDefault),
        Mode::Static if is_static(exchange.response) => default(LifetimeFrom::StaticType),
        // One user's own answer is not forced, so it may have the default.
        Mode::Force if exchange.personal => default(LifetimeFrom::PolicyDefault),
        // What else force takes has its lifetime by now. A failure gets none, or a 404 would stay as long as a success.
        Mode::Static | Mode::Force => None,
    };
    default.or_else(|| Some((guess(exchange, policy.heuristic?)?, LifetimeFrom::Heuristic)))
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
    FieldDate::of(exchange.response, &DATE)
        .at()
        .unwrap_or_else(|| exchange.skew.date_of(exchange.received_at))
}
