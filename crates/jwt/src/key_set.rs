//! Key set: the keys that tokens are checked with: a JWK set (RFC 7517 §5) in a file or from a provider, or one secret.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use crate::key::{Jwk, Key};
use crate::{Algorithm, Refusal};

/// Bytes of a set.
pub const LARGEST: usize = 256 * 1024;
/// Keys of a set.
const MOST_KEYS: usize = 100;
/// Keys that are tried for a token that names none.
const MOST_TRIED: usize = 10;

/// See the module.
#[derive(Debug, PartialEq)]
pub struct KeySet(Vec<Key>);

/// Why a set cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is longer than [`LARGEST`].
    TooLong,
    /// It is no JSON with a list `keys`.
    Malformed,
    /// It has more than 100 keys.
    TooMany,
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

impl KeySet {
    /// The keys of a set that are for these algorithms. Others are passed over, whatever they are: a set may have keys for
    /// other uses, and of types that are not known yet (RFC 7517 §5). So a set may have none for us: then nothing is good, which is
    /// how a provider takes all of them back.
    ///
    /// # Errors
    /// See [`Unreadable`].
    pub fn read(set: &[u8], algorithms: &[Algorithm]) -> Result<Self, Unreadable> {
        if set.len() > LARGEST {
            return Err(Unreadable::TooLong);
        }
        let document: Document = serde_json::from_slice(set).map_err(|_| Unreadable::Malformed)?;
        if document.keys.len() > MOST_KEYS {
            return Err(Unreadable::TooMany);
        }
        let key = |value| Key::of(serde_json::from_value::<Jwk>(value).ok()?, algorithms);
        Ok(KeySet(document.keys.into_iter().filter_map(key).collect()))
    }

    /// One secret, for [`Algorithm::Hs256`].
    pub fn secret(bytes: &[u8]) -> Self {
        KeySet(vec![Key::secret(bytes)])
    }

    /// How many keys it has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has none, so that it makes no token good.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the key that a token names has signed this, or, where it names none, any that could have.
    pub(crate) fn check(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
        signed: &[u8],
        signature: &[u8],
    ) -> Result<(), Refusal> {
        let fitting = || self.0.iter().filter(|key| key.is_for(algorithm));
        let has_signed = |key: &&Key| key.has_signed(algorithm, signed, signature);
        if let Some(id) = id {
            let mut named = fitting().filter(|key| key.id.as_deref() == Some(id)).peekable();
            if named.peek().is_some() {
                return named.find(has_signed).map(|_| ()).ok_or(Refusal::Signature);
            }
        }
        // A key without a name may be any; one that has another is not it.
        let mut tried = fitting().filter(|key| id.is_none() || key.id.is_none()).take(MOST_TRIED);
        tried.find(has_signed).map(|_| ()).ok_or(Refusal::UnknownKey)
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unreadable::TooLong => "it is longer than 256 KiB",
            Unreadable::Malformed => "it is no JSON object with a list `keys`",
            Unreadable::TooMany => "it has more than 100 keys",
        })
    }
}

impl std::error::Error for Unreadable {}
