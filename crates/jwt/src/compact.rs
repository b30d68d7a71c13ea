//! Compact: the three parts of a signed token, `header.payload.signature` (RFC 7515 §3.1), taken apart and not believed.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

/// Bytes of a token.
pub(crate) const LONGEST: usize = 16 * 1024;

/// See the module. All of them are still encoded.
#[derive(Clone, Copy)]
pub(crate) struct Compact<'a> {
    pub(crate) header: &'a [u8],
    pub(crate) payload: &'a [u8],
    pub(crate) signature: &'a [u8],
    /// What is signed: header and payload as they stand there.
    pub(crate) signed: &'a [u8],
}

impl<'a> Compact<'a> {
    /// `None`: it has not three parts, as an encrypted token has five, or is too long.
    pub(crate) fn split(token: &'a [u8]) -> Option<Self> {
        if token.len() > LONGEST {
            return None;
        }
        let mut parts = token.split(|byte| *byte == b'.');
        let (header, payload, signature) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        Some(Compact { header, payload, signature, signed: &token[..header.len() + 1 + payload.len()] })
    }
}

/// Base64url without padding; each text has one way to be written (RFC 7515 §2).
pub(crate) fn decoded(text: impl AsRef<[u8]>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// The claims of a token, **not verified**. `None`: it has none.
pub fn claims(token: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(&decoded(Compact::split(token)?.payload)?).ok()
}
