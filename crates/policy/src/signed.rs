//! Signed: signed URLs and cookies, as Cloud CDN has them. Called by `server` before the cache is asked, also on the
//! way of a fresh hit: nothing is allocated.

use message::{Error, Kind, RequestView, Timestamp};
use plan::Signed;

/// Checks a request's signature. Returns its target without the signature: what the cache and the origin get to see.
///
/// # Errors
/// 403, in one sentence, when nothing is signed, the signature is wrong or of an unknown key, or it has expired.
pub fn admit<'a>(request: &RequestView<'a>, signed: &Signed, now: Timestamp) -> Result<&'a str, Error> {
    let _ = (request, signed, now);
    Err(Error::new(Kind::Forbidden, "this URL must be signed"))
}
