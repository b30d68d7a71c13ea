//! Renewal: what a 304, or an answer to HEAD, makes of a stored answer, for whoever asked and for everybody else
//! (RFC 9111 §4.3.4, §4.3.5). Called by `filler` and `answer`, which store what is to be shared.

use std::sync::Arc;

use http::Method;
use http::header::{HeaderMap, SET_COOKIE};
use message::Fields;
use rules::{Exchange, NotStored, Terms, update};

use crate::entry::draft::Drafting;
use crate::entry::{Draft, Entry};

/// The renewed answer.
pub(crate) struct Renewal {
    /// With all that the update says: for the client whose request brought it.
    pub(crate) own: Arc<Entry>,
    /// For everybody; `None` when the update forbids that, and the stored answer has to go.
    pub(crate) shared: Option<Arc<Entry>>,
}

/// `update` is the exchange that brought the update: its request, its status, its fields.
pub(crate) fn renew(stored: &Entry, update: &Exchange<'_>, drafting: &Drafting<'_>) -> Renewal {
    let mut fields = stored.fields();
    update::freshen(&mut fields, update.response);
    let is_personal = repeats(stored, update, drafting);
    let (shared, is_all) = match renewed(stored, &fields, update, drafting) {
        _ if is_personal => (impersonal(stored, update, drafting), false),
        Ok(entry) => (Some(entry), !update.response.contains_key(SET_COOKIE)),
        Err(NotStored::Authorization | NotStored::Cookie | NotStored::RequestNoStore) => {
            (impersonal(stored, update, drafting), false)
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
            // In this form it is this client's alone.
            if let Some(most) = drafting.policy.rules.client_ttl {
                rules::client_lifetime::lower(&mut fields, most);
            }
            Arc::new(stored.followed_by(Draft { fields, terms, client_lifetime: None, ..stored.draft() }))
        }
    };
    Renewal { own, shared }
}

/// Whether the update repeats something of its request, which is nobody else's business.
fn repeats(stored: &Entry, update: &Exchange<'_>, drafting: &Drafting<'_>) -> bool {
    !drafting.repeated(stored.variant(), update.response, b"").is_empty()
}

/// It confirms what others share; but what else it says may be about this user, so that only its dates and directives
/// are taken.
fn impersonal(stored: &Entry, update: &Exchange<'_>, drafting: &Drafting<'_>) -> Option<Arc<Entry>> {
    let mut fields = stored.fields();
    update::freshen(&mut fields, &update::impersonal(update.response));
    let nobody = HeaderMap::new();
    let exchange = Exchange { request: Fields::Map(&nobody), ..*update };
    let terms = terms(stored, &fields, &exchange, drafting).ok()?;
    Some(next(stored, &fields, update, terms, drafting))
}

fn renewed(
    stored: &Entry,
    fields: &HeaderMap,
    update: &Exchange<'_>,
    drafting: &Drafting<'_>,
) -> Result<Arc<Entry>, NotStored> {
    let terms = terms(stored, fields, update, drafting)?;
    Ok(next(stored, fields, update, terms, drafting))
}

fn terms(
    stored: &Entry,
    fields: &HeaderMap,
    update: &Exchange<'_>,
    drafting: &Drafting<'_>,
) -> Result<Terms, NotStored> {
    let whole = Exchange { method: &Method::GET, status: stored.status(), response: fields, ..*update };
    drafting.terms(&whole)
}

/// The update may bring a `Vary`, which was made for this request, and tags.
fn next(
    stored: &Entry,
    fields: &HeaderMap,
    update: &Exchange<'_>,
    terms: Terms,
    drafting: &Drafting<'_>,
) -> Arc<Entry> {
    let whole = Exchange { status: stored.status(), response: fields, ..*update };
    let mut draft = drafting.whole(&whole, terms, &stored.body().clone().into());
    // What its content was found to repeat, it repeats still.
    let repeated = stored.repeated();
    if !repeated.is_empty() {
        draft.select_also_by(repeated, update.request);
    }
    // Tags are not among the stored fields: what the update does not repeat still holds.
    let tags = stored.draft().tags.union(&draft.tags);
    let since = draft.since.min(stored.compared());
    Arc::new(stored.followed_by(Draft { tags, since, ..draft }))
}
