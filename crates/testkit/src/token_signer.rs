//! Token signer: makes keys and signs tokens (JWTs) with them, good ones and others. By other means than the program's.

use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaEncoding, RsaKeyPair};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// A private key. Algorithms are named as in `alg`.
pub enum TokenSigner {
    /// For RS256 to PS512; of 2048 bits.
    Rsa(RsaKeyPair),
    /// For ES256 or ES384, and its curve.
    Ec(EcdsaKeyPair, &'static str),
    /// For EdDSA.
    Ed(Ed25519KeyPair),
    /// For HS256.
    Secret(Vec<u8>),
}

/// Base64url without padding.
pub fn base64url(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl TokenSigner {
    /// A new key of the type that this algorithm needs.
    pub fn new(algorithm: &str) -> Self {
        let ec = |algorithm, curve| {
            TokenSigner::Ec(EcdsaKeyPair::generate(algorithm).expect("the system has entropy"), curve)
        };
        match algorithm {
            "ES256" => ec(&signature::ECDSA_P256_SHA256_FIXED_SIGNING, "P-256"),
            "ES384" => ec(&signature::ECDSA_P384_SHA384_FIXED_SIGNING, "P-384"),
            "EdDSA" => TokenSigner::Ed(Ed25519KeyPair::generate().expect("the system has entropy")),
            "HS256" => TokenSigner::Secret(b"a-secret-of-more-than-32-bytes-as-RFC-7518-has-it".to_vec()),
            _ => TokenSigner::Rsa(RsaKeyPair::generate(KeySize::Rsa2048).expect("the system has entropy")),
        }
    }

    /// The public key (RFC 7517), with these members besides.
    pub fn jwk(&self, more: Value) -> Value {
        let mut jwk = match self {
            TokenSigner::Rsa(_) => {
                // PKCS #1: a sequence of the modulus, with a zero in front, and the exponent.
                let der = self.public_key();
                json!({ "kty": "RSA", "n": base64url(&der[9..265]), "e": base64url(&der[267..]) })
            }
            TokenSigner::Ec(_, curve) => {
                let point = self.public_key();
                let (x, y) = point[1..].split_at(point.len() / 2);
                json!({ "kty": "EC", "crv": curve, "x": base64url(x), "y": base64url(y) })
            }
            TokenSigner::Ed(_) => {
                json!({ "kty": "OKP", "crv": "Ed25519", "x": base64url(self.public_key()) })
            }
            TokenSigner::Secret(secret) => json!({ "kty": "oct", "k": base64url(secret) }),
        };
        let more = more.as_object().expect("members").clone();
        jwk.as_object_mut().expect("made above").extend(more);
        jwk
    }

    /// The public key in bytes, as anybody has it; of a secret, the secret.
    pub fn public_key(&self) -> Vec<u8> {
        match self {
            TokenSigner::Rsa(pair) => pair.public_key().as_ref().to_vec(),
            TokenSigner::Ec(pair, _) => pair.public_key().as_ref().to_vec(),
            TokenSigner::Ed(pair) => pair.public_key().as_ref().to_vec(),
            TokenSigner::Secret(secret) => secret.clone(),
        }
    }

    /// A signature of this text.
    pub fn sign(&self, algorithm: &str, text: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            TokenSigner::Rsa(pair) => {
                let encoding: &'static dyn RsaEncoding = match algorithm {
                    "RS256" => &signature::RSA_PKCS1_SHA256,
                    "RS384" => &signature::RSA_PKCS1_SHA384,
                    "RS512" => &signature::RSA_PKCS1_SHA512,
                    "PS256" => &signature::RSA_PSS_SHA256,
                    "PS384" => &signature::RSA_PSS_SHA384,
                    "PS512" => &signature::RSA_PSS_SHA512,
                    other => panic!("no RSA signature is called {other}"),
                };
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(encoding, &random, text, &mut signature).expect("there is room for it");
                signature
            }
            TokenSigner::Ec(pair, _) => {
                pair.sign(&random, text).expect("the system has entropy").as_ref().to_vec()
            }
            TokenSigner::Ed(pair) => pair.sign(text).as_ref().to_vec(),
            TokenSigner::Secret(secret) => {
                hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), text).as_ref().to_vec()
            }
        }
    }

    /// A token with this header and these claims, whatever they say of how it is signed.
    pub fn token(&self, algorithm: &str, header: &Value, claims: &Value) -> String {
        let text = format!("{}.{}", base64url(header.to_string()), base64url(claims.to_string()));
        let signature = base64url(self.sign(algorithm, text.as_bytes()));
        format!("{text}.{signature}")
    }

    /// One that says how it is signed and has these claims, and expires in 2096.
    pub fn good(&self, algorithm: &str, mut claims: Value) -> String {
        claims.as_object_mut().expect("members").entry("exp").or_insert(json!(4_000_000_000_u64));
        self.token(algorithm, &json!({ "alg": algorithm }), &claims)
    }
}
