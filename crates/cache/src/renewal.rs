//! Renewal: what a 304, or an answer to HEAD, makes of a stored answer, for whoever asked and for everybody else
//! (RFC 9111 §4.3.4, §4.3.5). Called by `filler` and `answer`, which store what is to be shared.

use std::sync::Arc;

use http::Method;
use http::header::{HeaderMap, SET_COOKIE};
use rules::{Exchange, NotStored, Policy, Terms, update};

use crate::entry::{Entry, Variant};

/// The renewed answer.
pub(crate) struct Renewal {
    /// With all that the update says: for the client whose request brought it.
    pub(crate) own: Arc<Entry>,
    /// For everybody; `None` when the update forbids that, and the stored answer has to go.
    pub(crate) shared: Option<Arc<Entry>>,
}

/// `update` is the exchange that brought the update: its request, its status, its fields.
pub(crate) fn renew(stored: &Entry, update: &Exchange<'_>, policy: &Policy) -> Renewal {
    let mut fields = stored.fields();
    update::freshen(&mut fields, update.response);
    let (shared, is_all) = match renewed(stored, &fields, update, policy) {
        Ok(entry) => (Some(entry), !update.response.contains_key(SET_COOKIE)),
        Err(NotStored::Authorization | NotStored::Cookie | NotStored::RequestNoStore) => {
            (impersonal(stored, update, policy), false)
        }
        Err(_) => (None, false),
    };
    let own = match &shared {
        Some(shared) if is_all => Arc::clone(shared),
        _ => {
            for cookie in update.response.get_all(SET_COOKIE) {
                fields.append(SET_COOKIE, cookie.clone());
            }
            let terms = *shared.as_deref().unwrap_or(stored).terms();
            Arc::new(stored.updated(&fields, terms, stored.variant().cloned()))
        }
    };
    Renewal { own, shared }
}

/// It confirms what others share; but what else it says may be about this user, so that only its dates and directives
/// are taken.
fn impersonal(stored: &Entry, update: &Exchange<'_>, policy: &Policy) -> Option<Arc<Entry>> {
    let mut fields = stored.fields();
    update::freshen(&mut fields, &update::impersonal(update.response));
    let nobody = HeaderMap::new();
    let exchange = Exchange { request: message::Fields::Map(&nobody), ..*update };
    let terms = terms(stored, &fields, &exchange, policy).ok()?;
    Some(Arc::new(stored.updated(&fields, terms, variant_of(&fields, update))))
}

fn renewed(
    stored: &Entry,
    fields: &HeaderMap,
    update: &Exchange<'_>,
    policy: &Policy,
) -> Result<Arc<Entry>, NotStored> {
    let terms = terms(stored, fields, update, policy)?;
    Ok(Arc::new(stored.updated(fields, terms, variant_of(fields, update))))
}

fn terms(
    stored: &Entry,
    fields: &HeaderMap,
    update: &Exchange<'_>,
    policy: &Policy,
) -> Result<Terms, NotStored> {
    let whole = Exchange { method: &Method::GET, status: stored.status(), response: fields, ..*update };
    Terms::of(&whole, policy)
}

/// The update may bring a `Vary`; it was made for this request.
fn variant_of(fields: &HeaderMap, update: &Exchange<'_>) -> Option<Variant> {
    Variant::of_exchange(&Exchange { response: fields, ..*update })
}
