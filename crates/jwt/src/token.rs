//! Token: a signed JWT, its header read and its signature not yet checked.

use message::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::compact::{Compact, decoded};
use crate::{Algorithm, KeySet, Refusal, Rules, Validity};

/// See the module.
pub struct Token<'a> {
    compact: Compact<'a>,
    algorithm: Algorithm,
    key: Option<String>,
}

/// Whatever else stands there is not looked at: no key and no address of keys that a token brings along (`jwk`, `jku`, `x5c`,
/// `x5u`) is ever used (RFC 8725 §3.10). Serde refuses what stands there twice.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<IgnoredAny>,
}

impl<'a> Token<'a> {
    /// Takes it apart.
    ///
    /// # Errors
    /// It is none, or its header says something that the rules do not allow.
    pub fn read(token: &'a [u8], rules: &Rules) -> Result<Self, Refusal> {
        let compact = Compact::split(token).ok_or(Refusal::Malformed)?;
        let header = decoded(compact.header).ok_or(Refusal::Malformed)?;
        let header: Header = serde_json::from_slice(&header).map_err(|_| Refusal::Malformed)?;
        let algorithm = Algorithm::named(&header.alg).filter(|named| rules.algorithms.contains(named));
        let algorithm = algorithm.ok_or(Refusal::Algorithm)?;
        if header.crit.is_some() {
            return Err(Refusal::Critical);
        }
        if let Some(kind) = &rules.kind
            && !header.typ.is_some_and(|typ| media_type(&typ).eq_ignore_ascii_case(media_type(kind)))
        {
            return Err(Refusal::Type);
        }
        Ok(Token { compact, algorithm, key: header.kid })
    }

    /// How it says that it is signed: one of those that the rules name.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Checks its signature, then its claims.
    ///
    /// # Errors
    /// See [`Refusal`]. [`Refusal::UnknownKey`] alone may be otherwise with a newer set of keys.
    pub fn verify(&self, keys: &KeySet, rules: &Rules, now: Timestamp) -> Result<Validity, Refusal> {
        let signature = decoded(self.compact.signature).ok_or(Refusal::Malformed)?;
        keys.check(self.key.as_deref(), self.algorithm, self.compact.signed, &signature)?;
        let payload = decoded(self.compact.payload).ok_or(Refusal::Malformed)?;
        rules.check(&payload, now)
    }
}

/// `application/` may be left out (RFC 7515 §4.1.9).
fn media_type(typ: &str) -> &str {
    match typ.split_at_checked("application/".len()) {
        Some((prefix, rest)) if prefix.eq_ignore_ascii_case("application/") => rest,
        _ => typ,
    }
}
