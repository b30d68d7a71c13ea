//! Signed: how Cloud CDN writes signatures in URLs and cookies. `gate` reads what clients send, `sign` writes it.
//!
//! - A URL of its own: `<url>?Expires=<unix>&KeyName=<name>&Signature=<…>`, signed from `http` to the name of the key.
//! - All URLs that begin alike: `URLPrefix=<…>&Expires=<unix>&KeyName=<name>&Signature=<…>` at the end of each, signed
//!   from `URLPrefix` to the name of the key.
//! - The same in a cookie, with `:` for `&`.
//!
//! Signatures are HMAC-SHA1, which is what this form prescribes; it has none of the weaknesses of SHA-1 alone. They and
//! prefixes are written in base64url.

pub(crate) mod claim;
pub(crate) mod cookie;
pub(crate) mod gate;
pub(crate) mod prefix;

use aws_lc_rs::hmac;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use message::{Error, Kind};

/// How it is written: with padding, as Cloud CDN's own examples are. Read without as well, since some leave it out.
pub(crate) const BASE64URL: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The key of a secret, made ready: it is used for each request.
pub(crate) fn prepared(secret: &[u8]) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret)
}

/// Why a request is not let in. Only whoever holds a signature that was valid once learns more than that it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// There is no signature.
    Missing,
    /// It is there, but not in one of the forms above: parameters that are missing, twice there, in another order,
    /// followed by others, or too long.
    Malformed,
    /// It names a key that is not in use.
    UnknownKey,
    /// It is not what this key makes of this URL.
    Wrong,
    /// It was valid until now.
    Expired,
    /// It is valid, but not for this URL.
    Elsewhere,
    /// It is valid, but the method writes.
    Writing,
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Error {
        let detail = match refusal {
            Refusal::Missing => "this URL must be signed",
            Refusal::Malformed => "the signature is malformed",
            Refusal::UnknownKey => "the signature names an unknown key",
            Refusal::Wrong => "the signature is wrong",
            Refusal::Expired => "the signature has expired",
            Refusal::Elsewhere => "the signature is for a different URL",
            Refusal::Writing => "a signature allows reading only",
        };
        Error::new(Kind::Forbidden, detail)
    }
}
