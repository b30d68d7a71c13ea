//! Permission: whether an answer may be stored at all (RFC 9111 §3), leaving aside for how long.
//!
//! Asked by [`Terms::of`](crate::Terms::of) with what the answer's directives say, be they overruled or not.

use http::StatusCode;
use http::header::SET_COOKIE;

use crate::endless::is_endless;
use crate::{
    Exchange, Mode, NotStored, Policy, RequestDirectives, ResponseDirectives, Vary, alike, freshness, status,
};

/// The first reason against it, in the order of [`NotStored`].
pub(crate) fn check(
    exchange: &Exchange<'_>,
    directives: &ResponseDirectives,
    policy: &Policy,
) -> Result<(), NotStored> {
    check_kind(exchange)?;
    check_forbidden(exchange, directives, policy)?;
    check_shared(exchange, directives, policy)
}

/// The kind of exchange (RFC 9111 §3, first two points), which no policy overrules.
fn check_kind(exchange: &Exchange<'_>) -> Result<(), NotStored> {
    if exchange.method != http::Method::GET {
        return Err(NotStored::Method);
    }
    if exchange.status.is_informational() {
        return Err(NotStored::Interim);
    }
    if exchange.status == StatusCode::NOT_MODIFIED {
        return Err(NotStored::NotModified);
    }
    if status::is_never_stored(exchange.status) {
        return Err(NotStored::Status);
    }
    if is_endless(exchange.response) {
        return Err(NotStored::Endless);
    }
    Ok(())
}

/// What directives forbid outright (RFC 9111 §3; §5.2.2.3 for how `must-understand` lifts `no-store`).
fn check_forbidden(
    exchange: &Exchange<'_>,
    directives: &ResponseDirectives,
    policy: &Policy,
) -> Result<(), NotStored> {
    if policy.heeds_clients() && RequestDirectives::of(exchange.request).no_store {
        return Err(NotStored::RequestNoStore);
    }
    if !policy.forces(exchange) {
        check_stated(exchange, directives)?;
    }
    match Vary::of(exchange.response) {
        Vary::Star => Err(NotStored::VaryStar),
        Vary::Names(names) if names.iter().any(|name| alike::has_other_field(exchange.request, name)) => {
            Err(NotStored::VarySpelling)
        }
        Vary::None | Vary::Names(_) => Ok(()),
    }
}

/// What the answer itself forbids.
fn check_stated(exchange: &Exchange<'_>, directives: &ResponseDirectives) -> Result<(), NotStored> {
    let understood = exchange.status == StatusCode::PARTIAL_CONTENT || status::is_understood(exchange.status);
    if directives.must_understand && !understood {
        return Err(NotStored::StatusNotUnderstood);
    }
    if directives.no_store && !directives.must_understand {
        return Err(NotStored::NoStore);
    }
    if directives.all_private() && !exchange.personal {
        return Err(NotStored::Private);
    }
    Ok(())
}

/// What must not be shared unless the answer says so. Where the policy forces no answer can say so: the `must-revalidate`
/// beside a `private` that is overruled was never meant as leave to share it.
fn check_shared(
    exchange: &Exchange<'_>,
    directives: &ResponseDirectives,
    policy: &Policy,
) -> Result<(), NotStored> {
    let forces = policy.mode == Mode::Force;
    let says_shared = !forces && allows_authorized(directives);
    if Policy::has_unkeyed_credentials(exchange) && !says_shared {
        return Err(NotStored::Authorization);
    }
    // The RFC does not speak of cookies. But whoever sends one may be getting an answer of their own, and only the
    // origin knows: it must have said that it thought of shared caches.
    let meant_for_caches =
        !forces && directives.targeted && freshness::stated(exchange, directives).is_some();
    if policy.has_unkeyed_cookies(exchange) && !says_shared && !meant_for_caches {
        return Err(NotStored::Cookie);
    }
    let stripped = directives.unshared_fields().any(|name| *name == SET_COOKIE);
    let may_set_cookies = policy.store_set_cookie && !forces && !exchange.personal;
    if exchange.response.contains_key(SET_COOKIE) && !may_set_cookies && !stripped {
        return Err(NotStored::SetCookie);
    }
    Ok(())
}

/// Whether the answer may be given to others than who asked with `Authorization` (RFC 9111 §3.5).
pub(crate) fn allows_authorized(directives: &ResponseDirectives) -> bool {
    directives.public || directives.must_revalidate || directives.s_maxage.is_some()
}
