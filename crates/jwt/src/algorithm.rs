//! Algorithm: how a token is signed. `none` is not among them, so that no file can name it (RFC 8725 §3.1, §3.2).

/// By the names of RFC 7518 §3.1 and RFC 8037.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// With SHA-384.
    Rs384,
    /// With SHA-512.
    Rs512,
    /// RSASSA-PSS with SHA-256.
    Ps256,
    /// With SHA-384.
    Ps384,
    /// With SHA-512.
    Ps512,
    /// ECDSA over P-256 with SHA-256.
    Es256,
    /// ECDSA over P-384 with SHA-384.
    Es384,
    /// Ed25519. Ed448 is not supported.
    EdDsa,
    /// HMAC with SHA-256: whoever can check a token can make one.
    Hs256,
}

impl Algorithm {
    /// Every algorithm.
    pub const ALL: [Algorithm; 10] = [
        Algorithm::Rs256,
        Algorithm::Rs384,
        Algorithm::Rs512,
        Algorithm::Ps256,
        Algorithm::Ps384,
        Algorithm::Ps512,
        Algorithm::Es256,
        Algorithm::Es384,
        Algorithm::EdDsa,
        Algorithm::Hs256,
    ];

    /// As in `alg`.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Rs256 => "RS256",
            Algorithm::Rs384 => "RS384",
            Algorithm::Rs512 => "RS512",
            Algorithm::Ps256 => "PS256",
            Algorithm::Ps384 => "PS384",
            Algorithm::Ps512 => "PS512",
            Algorithm::Es256 => "ES256",
            Algorithm::Es384 => "ES384",
            Algorithm::EdDsa => "EdDSA",
            Algorithm::Hs256 => "HS256",
        }
    }

    /// The algorithm of an `alg`; case counts. `Ed25519` is what RFC 9864 calls EdDSA with that curve.
    pub(crate) fn named(name: &str) -> Option<Algorithm> {
        match name {
            "Ed25519" => Some(Algorithm::EdDsa),
            _ => Algorithm::ALL.into_iter().find(|algorithm| algorithm.name() == name),
        }
    }

    /// Whether tokens are signed and checked with the same secret.
    pub const fn is_symmetric(self) -> bool {
        matches!(self, Algorithm::Hs256)
    }
}
