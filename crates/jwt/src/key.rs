//! Key: one key of a set (RFC 7517 §4, RFC 7518 §6), made ready for each algorithm that it may be used with.

use std::fmt;

use aws_lc_rs::hmac;
use aws_lc_rs::signature::{
    self, ParsedPublicKey, RsaParameters, RsaPublicKeyComponents, VerificationAlgorithm,
};
use serde::Deserialize;

use crate::Algorithm;
use crate::compact::decoded;

/// Bytes of an RSA modulus: 2048 to 8192 bits (RFC 8725 §3.5).
const MODULUS: std::ops::RangeInclusive<usize> = 256..=1024;
/// Bytes of an RSA exponent; nobody has a longer one, and checking with it would take long.
const LONGEST_EXPONENT: usize = 8;

/// See the module.
pub(crate) struct Key {
    /// Its `kid`.
    pub(crate) id: Option<Box<str>>,
    /// One key is made for one algorithm (RFC 8725 §3.1): where it does not say which, for those of its type that the policy
    /// names.
    ready: Vec<(Algorithm, Ready)>,
    /// What it consists of, to be compared.
    parts: Vec<Vec<u8>>,
}

enum Ready {
    Public(ParsedPublicKey),
    Secret(Box<hmac::Key>),
}

/// As it is written. Other members say nothing to us; that includes those of private keys.
#[derive(Deserialize)]
pub(crate) struct Jwk {
    kty: String,
    kid: Option<Box<str>>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    n: Option<String>,
    e: Option<String>,
}

impl Key {
    /// A secret for [`Algorithm::Hs256`].
    pub(crate) fn secret(bytes: &[u8]) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, bytes);
        Key {
            id: None,
            ready: vec![(Algorithm::Hs256, Ready::Secret(Box::new(key)))],
            parts: vec![bytes.to_vec()],
        }
    }

    /// `None`: it is not for signatures, or for none of these algorithms, or broken. A secret in a set of public keys is
    /// never one: what anybody can read proves nothing.
    pub(crate) fn of(jwk: Jwk, algorithms: &[Algorithm]) -> Option<Self> {
        let is_for_signatures = jwk.usage.as_ref().is_none_or(|usage| usage == "sig")
            && jwk.key_ops.as_ref().is_none_or(|ops| ops.iter().any(|op| op == "verify"));
        let stated = match &jwk.alg {
            Some(name) => Some(Algorithm::named(name)?),
            None => None,
        };
        let material = Material::of(&jwk)?;
        let fits = |algorithm: &&Algorithm| stated.is_none_or(|stated| stated == **algorithm);
        let ready: Vec<_> = algorithms
            .iter()
            .filter(fits)
            .filter_map(|algorithm| Some((*algorithm, Ready::Public(material.ready(*algorithm)?))))
            .collect();
        if !is_for_signatures || ready.is_empty() {
            return None;
        }
        Some(Key { id: jwk.kid, ready, parts: material.parts() })
    }

    /// Whether it is for this algorithm.
    pub(crate) fn is_for(&self, algorithm: Algorithm) -> bool {
        self.ready(algorithm).is_some()
    }

    /// Whether it has signed this in that way. Secrets are compared in constant time.
    pub(crate) fn has_signed(&self, algorithm: Algorithm, signed: &[u8], signature: &[u8]) -> bool {
        match self.ready(algorithm) {
            None => false,
            Some(Ready::Public(key)) => key.verify_sig(signed, signature).is_ok(),
            Some(Ready::Secret(key)) => hmac::verify(key, signed, signature).is_ok(),
        }
    }

    fn ready(&self, algorithm: Algorithm) -> Option<&Ready> {
        self.ready.iter().find(|(of, _)| *of == algorithm).map(|(_, ready)| ready)
    }
}

/// The numbers of a public key.
enum Material {
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    /// A point, not compressed, and the algorithm of its curve.
    Ec(Algorithm, Vec<u8>),
    Ed25519(Vec<u8>),
}

impl Material {
    fn of(jwk: &Jwk) -> Option<Self> {
        let number = |text: &Option<String>| decoded(text.as_ref()?);
        match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => {
                // Some write a zero in front.
                let trimmed = |bytes: Vec<u8>| bytes.into_iter().skip_while(|byte| *byte == 0).collect();
                let modulus: Vec<u8> = trimmed(number(&jwk.n)?);
                let exponent: Vec<u8> = trimmed(number(&jwk.e)?);
                let fits = MODULUS.contains(&modulus.len()) && exponent.len() <= LONGEST_EXPONENT;
                fits.then_some(Material::Rsa { modulus, exponent })
            }
            ("EC", Some("P-256")) => point(Algorithm::Es256, 32, number(&jwk.x)?, &number(&jwk.y)?),
            ("EC", Some("P-384")) => point(Algorithm::Es384, 48, number(&jwk.x)?, &number(&jwk.y)?),
            ("OKP", Some("Ed25519")) => {
                number(&jwk.x).filter(|bytes| bytes.len() == 32).map(Material::Ed25519)
            }
            _ => None,
        }
    }

    /// For this algorithm, if it is one of its type. The library looks whether a point lies on its curve (RFC 8725 §3.4).
    fn ready(&self, algorithm: Algorithm) -> Option<ParsedPublicKey> {
        match self {
            Material::Rsa { modulus, exponent } => {
                RsaPublicKeyComponents { n: modulus, e: exponent }.to_parsed_public_key(rsa(algorithm)?).ok()
            }
            Material::Ec(of, point) if *of == algorithm => {
                let curve: &'static dyn VerificationAlgorithm = match algorithm {
                    Algorithm::Es256 => &signature::ECDSA_P256_SHA256_FIXED,
                    _ => &signature::ECDSA_P384_SHA384_FIXED,
                };
                ParsedPublicKey::new(curve, point).ok()
            }
            Material::Ed25519(point) if algorithm == Algorithm::EdDsa => {
                ParsedPublicKey::new(&signature::ED25519, point).ok()
            }
            Material::Ec(..) | Material::Ed25519(_) => None,
        }
    }

    fn parts(self) -> Vec<Vec<u8>> {
        match self {
            Material::Rsa { modulus, exponent } => vec![modulus, exponent],
            Material::Ec(_, point) | Material::Ed25519(point) => vec![point],
        }
    }
}

/// SEC 1, version 2.0, §2.3.3.
fn point(algorithm: Algorithm, length: usize, x: Vec<u8>, y: &[u8]) -> Option<Material> {
    const NOT_COMPRESSED: u8 = 4;
    (x.len() == length && y.len() == length)
        .then(|| Material::Ec(algorithm, [&[NOT_COMPRESSED], &x[..], y].concat()))
}

fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    match algorithm {
        Algorithm::Rs256 => Some(&signature::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::Rs384 => Some(&signature::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::Rs512 => Some(&signature::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::Ps256 => Some(&signature::RSA_PSS_2048_8192_SHA256),
        Algorithm::Ps384 => Some(&signature::RSA_PSS_2048_8192_SHA384),
        Algorithm::Ps512 => Some(&signature::RSA_PSS_2048_8192_SHA512),
        Algorithm::Es256 | Algorithm::Es384 | Algorithm::EdDsa | Algorithm::Hs256 => None,
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        let algorithms = |key: &Key| key.ready.iter().map(|(algorithm, _)| *algorithm).collect::<Vec<_>>();
        self.id == other.id && self.parts == other.parts && algorithms(self) == algorithms(other)
    }
}

/// Never what it consists of, which may be a secret.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let algorithms: Vec<_> = self.ready.iter().map(|(algorithm, _)| algorithm.name()).collect();
        f.debug_struct("Key").field("id", &self.id).field("algorithms", &algorithms).finish_non_exhaustive()
    }
}
