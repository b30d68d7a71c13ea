//! Lookup: what is stored for a request, and what may be done with it (RFC 9111 §4).

use std::sync::Arc;

use http::header::HeaderName;
use message::{Fields, Fwd, Timestamp};
use rules::{RequestDirectives, Reuse};

use crate::entry::Entry;
use crate::key::KeyView;
use crate::request::interest::Interest;
use crate::store::Store;

/// The result of a lookup.
pub(crate) enum Lookup {
    /// Answer with this entry. `refresh`: it is stale, or soon will be, and the origin should be asked meanwhile.
    Usable { entry: Arc<Entry>, refresh: bool },
    /// Ask the origin. `stale` is what its answer may confirm; `vary` what the key's answers are known to vary on.
    Ask { stale: Option<Arc<Entry>>, fwd: Fwd, vary: Vec<HeaderName> },
    /// Ask the origin, and do not wait for anybody else who does: answers have not been for sharing lately.
    AskAlone,
}

/// Looks a request up. `early`: the policy's last share of a lifetime.
pub(crate) fn find(
    store: &Store,
    key: &KeyView<'_>,
    fields: Fields<'_>,
    interest: Interest,
    directives: &RequestDirectives,
    early: Option<f64>,
    now: Timestamp,
) -> Lookup {
    let Some(resource) = store.memory.get(key) else {
        return Lookup::Ask { stale: None, fwd: Fwd::UriMiss, vary: Vec::new() };
    };
    if resource.is_unshared(now) {
        return Lookup::AskAlone;
    }
    let vary = || resource.vary().to_vec();
    let Some(entry) = resource.select(fields) else {
        let fwd = if resource.has_whole() { Fwd::VaryMiss } else { Fwd::UriMiss };
        return Lookup::Ask { stale: None, fwd, vary: vary() };
    };
    let Some(entry) = store.standing(key, Arc::clone(entry)) else {
        return Lookup::Ask { stale: None, fwd: Fwd::UriMiss, vary: vary() };
    };
    judge(entry, vary, interest, directives, early, now)
}

/// What may be done with an entry. `vary`: what the key's answers are known to vary on.
pub(crate) fn judge(
    entry: Arc<Entry>,
    vary: impl FnOnce() -> Vec<HeaderName>,
    interest: Interest,
    directives: &RequestDirectives,
    early: Option<f64>,
    now: Timestamp,
) -> Lookup {
    match entry.terms().reuse(directives, interest.authorization(), now) {
        Reuse::Fresh => {
            let refresh = early.is_some_and(|share| entry.is_due_early(share, now)) && entry.begin_refresh();
            Lookup::Usable { entry, refresh }
        }
        Reuse::Stale => Lookup::Usable { entry, refresh: false },
        Reuse::StaleWhileRevalidate => Lookup::Usable { entry, refresh: true },
        Reuse::Validate(why) => {
            let fwd = if why.is_client() { Fwd::Request } else { Fwd::Stale };
            Lookup::Ask { stale: Some(entry), fwd, vary: vary() }
        }
        Reuse::NotForThisRequest => Lookup::Ask { stale: None, fwd: Fwd::Request, vary: vary() },
    }
}
