//! Lookup: what is stored for a request, and what may be done with it (RFC 9111 §4).

use std::sync::Arc;

use http::header::HeaderName;
use message::{RequestView, Timestamp};
use rules::{Fwd, RequestDirectives, Reuse};

use crate::entry::Entry;
use crate::interest::Interest;
use crate::key::KeyView;
use crate::store::Store;

/// The result of a lookup.
pub(crate) enum Found {
    /// Answer with this entry. `refresh`: it is stale, and the origin should be asked meanwhile.
    Usable { entry: Arc<Entry>, refresh: bool },
    /// Ask the origin. `stale` is what its answer may confirm; `vary` what the key's answers are known to vary on.
    Ask { stale: Option<Arc<Entry>>, fwd: Fwd, vary: Vec<HeaderName> },
    /// Ask the origin, and do not wait for anybody else who does: answers have not been for sharing lately.
    AskAlone,
}

/// Looks a request up.
pub(crate) fn find(
    store: &Store,
    request: &RequestView<'_>,
    interest: Interest,
    directives: &RequestDirectives,
    now: Timestamp,
) -> Found {
    let Some(resource) = store.memory.get(&KeyView::of(request)) else {
        return Found::Ask { stale: None, fwd: Fwd::UriMiss, vary: Vec::new() };
    };
    if resource.is_unshared(now) {
        return Found::AskAlone;
    }
    let Some(entry) = resource.select(request.fields) else {
        let fwd = if resource.has_whole() { Fwd::VaryMiss } else { Fwd::UriMiss };
        return Found::Ask { stale: None, fwd, vary: resource.vary().to_vec() };
    };
    let entry = Arc::clone(entry);
    match entry.terms().reuse(directives, interest.authorization(), now) {
        Reuse::Fresh | Reuse::Stale => Found::Usable { entry, refresh: false },
        Reuse::StaleWhileRevalidate => Found::Usable { entry, refresh: true },
        Reuse::Validate(why) => {
            let fwd = if why.is_client() { Fwd::Request } else { Fwd::Stale };
            Found::Ask { stale: Some(entry), fwd, vary: resource.vary().to_vec() }
        }
        Reuse::NotForThisRequest => {
            Found::Ask { stale: None, fwd: Fwd::Request, vary: resource.vary().to_vec() }
        }
    }
}
