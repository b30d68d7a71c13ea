//! Refusal: why a token is not good.

use std::fmt;

/// See the module. None of its sentences repeats anything of the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is no signed JWT, or has claims of the wrong type.
    Malformed,
    /// It is signed in a way that the policy does not name, or not at all.
    Algorithm,
    /// Its `typ` is not the one that the policy names.
    Type,
    /// It has extensions that must be understood, and none is (`crit`, RFC 7515 §4.1.11).
    Critical,
    /// No key of the set is the one that it names, or that could have signed it.
    UnknownKey,
    /// The key that it names has not signed it.
    Signature,
    /// It does not say when it expires.
    NoExpiry,
    /// It is too late.
    Expired,
    /// It is too early.
    NotYet,
    /// Somebody else issued it.
    Issuer,
    /// It was issued for somebody else.
    Audience,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Malformed => "the token is malformed",
            Refusal::Algorithm => "the token's algorithm is not accepted",
            Refusal::Type => "the token is of another type",
            Refusal::Critical => "the token needs an extension that is not supported",
            Refusal::UnknownKey => "the token is signed with an unknown key",
            Refusal::Signature => "the token's signature is wrong",
            Refusal::NoExpiry => "the token does not expire",
            Refusal::Expired => "the token has expired",
            Refusal::NotYet => "the token is not valid yet",
            Refusal::Issuer => "the token has another issuer",
            Refusal::Audience => "the token is for another audience",
        })
    }
}
