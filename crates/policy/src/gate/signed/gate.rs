//! Gate: lets in who carries a valid signature, in the URL or in a cookie. Made once for each route that needs one; asked also
//! on the way of a fresh hit: nothing is allocated.

use std::fmt;

use aws_lc_rs::{constant_time, hmac};
use http::{HeaderMap, Method};
use message::{RequestView, Result, Timestamp};
use plan::Signed;

use super::claim::{self, Claim};
use super::{Refusal, cookie, prefix, prepared};

/// Bytes of a signed target: more than clients and servers agree on.
const LONGEST_TARGET: usize = 16 * 1024;

/// See the module.
pub struct SignedGate {
    keys: Box<[Key]>,
    cookie: Option<Box<str>>,
}

struct Key {
    name: Box<str>,
    hmac: hmac::Key,
}

impl SignedGate {
    /// With the keys made ready.
    pub fn new(signed: &Signed) -> Self {
        let key =
            |key: &plan::SigningKey| Key { name: key.name.as_str().into(), hmac: prepared(&key.secret) };
        SignedGate {
            keys: signed.keys.iter().map(key).collect(),
            cookie: signed.cookie.as_deref().map(Box::from),
        }
    }

    /// The request's target without the signature: what the cache and the origin get to see. The path is in its one form,
    /// and none with dot segments comes this far, so that none leads out of a signed prefix. `sent` is the target as it
    /// came: that is what was signed.
    ///
    /// A signature in the URL counts before a cookie: a wrong one is refused whatever the cookie says.
    ///
    /// # Errors
    /// `Kind::Forbidden`, in one sentence, when nothing is signed, the signature is malformed, wrong, of an unknown key or
    /// for other URLs, when it has expired, and when the method does more than read.
    pub fn admit<'a>(&self, request: &RequestView<'a>, sent: &str, now: Timestamp) -> Result<&'a str> {
        Ok(self.check(request, sent, now)?)
    }

    /// Takes the signature's cookie out, before the request goes on to the cache and the origin.
    pub fn strip_cookie(&self, fields: &mut HeaderMap) {
        if let Some(name) = &self.cookie {
            cookie::strip(fields, name);
        }
    }

    fn check<'a>(
        &self,
        request: &RequestView<'a>,
        sent: &str,
        now: Timestamp,
    ) -> std::result::Result<&'a str, Refusal> {
        if sent.len() > LONGEST_TARGET {
            return Err(Refusal::Malformed);
        }
        let (claim, rest) = if let Some(found) = claim::in_target(sent)? {
            self.verify_target(request, &found)?;
            // The signature is the end of the query, which no form changes.
            let length = request.target.len().saturating_sub(sent.len() - found.rest.len());
            (found.claim, request.target.get(..length).ok_or(Refusal::Malformed)?)
        } else {
            let name = self.cookie.as_deref().ok_or(Refusal::Missing)?;
            let text = cookie::find(request.fields, name)?.ok_or(Refusal::Missing)?;
            let claim = Claim::parse(text, ':')?;
            // A cookie says what it is for: it is sent with more than one URL.
            claim.prefix.ok_or(Refusal::Malformed)?;
            self.verify(&claim, &[claim.text])?;
            (claim, request.target)
        };
        // From here on the claim is ours.
        if now >= Timestamp::from_secs(claim.expires) {
            return Err(Refusal::Expired);
        }
        if let Some(prefix) = claim.prefix
            && !prefix::covers(prefix, request)?
        {
            return Err(Refusal::Elsewhere);
        }
        if !(request.method.is_safe() || *request.method == Method::QUERY) {
            return Err(Refusal::Writing);
        }
        Ok(rest)
    }

    fn verify_target(
        &self,
        request: &RequestView<'_>,
        found: &claim::InTarget<'_>,
    ) -> std::result::Result<(), Refusal> {
        if found.claim.prefix.is_some() {
            return self.verify(&found.claim, &[found.claim.text]);
        }
        self.verify(&found.claim, &[request.scheme.as_str(), "://", request.authority, found.signed])
    }

    /// Whether these pieces of text are what was signed. In the same time wherever the first difference is.
    fn verify(&self, claim: &Claim<'_>, text: &[&str]) -> std::result::Result<(), Refusal> {
        let key = self.keys.iter().find(|key| *key.name == *claim.key).ok_or(Refusal::UnknownKey)?;
        let mut context = hmac::Context::with_key(&key.hmac);
        for piece in text {
            context.update(piece.as_bytes());
        }
        constant_time::verify_slices_are_equal(context.sign().as_ref(), &claim.signature)
            .map_err(|_| Refusal::Wrong)
    }
}

/// Never a secret.
impl fmt::Debug for SignedGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.keys.iter().map(|key| &key.name).collect();
        f.debug_struct("SignedGate").field("keys", &keys).field("cookie", &self.cookie).finish()
    }
}
