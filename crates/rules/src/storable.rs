//! Storable: the fields of an answer that a shared cache may keep (RFC 9111 §3.1).

use http::HeaderMap;
use http::header::{HeaderName, SET_COOKIE};

use crate::{ResponseDirectives, hop_by_hop};

/// A copy of the answer's fields without hop-by-hop ones, those named in `Connection`, `Proxy-*`, those that
/// `private="…"` and `no-cache="…"` name, and, unless it is to be stored, `Set-Cookie`.
///
/// `Age` stays, since a later [`Terms::of`](crate::Terms::of) may need it; whoever serves the entry replaces it.
pub fn storable_fields(
    response: &HeaderMap,
    directives: &ResponseDirectives,
    store_set_cookie: bool,
) -> HeaderMap {
    let mut fields = response.clone();
    hop_by_hop::strip(&mut fields);
    for name in directives.unshared_fields() {
        fields.remove(name);
    }
    if !store_set_cookie {
        fields.remove(SET_COOKIE);
        fields.remove(HeaderName::from_static("set-cookie2"));
    }
    fields
}
