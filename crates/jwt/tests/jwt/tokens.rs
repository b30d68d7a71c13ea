//! What a token may say and what not, by the sections of RFC 8725.

use jwt::{Algorithm, KeySet, Refusal, Rules};
use serde_json::json;

use super::{rules, verify};
use testkit::{TokenSigner, base64url};

fn set(signer: &TokenSigner, algorithms: &[Algorithm]) -> KeySet {
    let set = json!({ "keys": [signer.jwk(json!({}))] });
    KeySet::read(set.to_string().as_bytes(), algorithms).unwrap()
}

#[test]
fn each_algorithm_is_good_where_it_is_named_and_nowhere_else() {
    for algorithm in Algorithm::ALL {
        let signer = TokenSigner::new(algorithm.name());
        let keys = match &signer {
            TokenSigner::Secret(secret) => KeySet::secret(secret),
            _ => set(&signer, &[algorithm]),
        };
        let token = signer.good(algorithm.name(), json!({}));
        assert_eq!(verify(&token, &keys, &rules(&[algorithm])), Ok(()), "{algorithm:?}");
        for other in Algorithm::ALL.into_iter().filter(|other| *other != algorithm) {
            let refused = verify(&token, &keys, &rules(&[other]));
            assert_eq!(refused, Err(Refusal::Algorithm), "{algorithm:?} where {other:?} is named");
        }
    }
}

/// RFC 8725 §2.1: the public key, which anybody can read, taken for the secret of an HMAC.
#[test]
fn a_public_key_is_no_secret() {
    let signer = TokenSigner::new("RS256");
    let both = [Algorithm::Rs256, Algorithm::Hs256];
    let keys = set(&signer, &both);
    let jwk = signer.jwk(json!({}));
    let header = json!({ "alg": "HS256" });
    let claims = json!({ "exp": 4_000_000_000_u64 });
    let texts = [signer.public_key(), jwk.to_string().into_bytes(), jwk["n"].as_str().unwrap().into()];
    for text in texts {
        let forged = TokenSigner::Secret(text).token("HS256", &header, &claims);
        assert_eq!(verify(&forged, &keys, &rules(&both)), Err(Refusal::UnknownKey));
        assert_eq!(verify(&forged, &keys, &rules(&both[..1])), Err(Refusal::Algorithm));
    }
    // Nor does a secret in the set of a provider count.
    let secret = TokenSigner::new("HS256");
    let set = json!({ "keys": [jwk, secret.jwk(json!({ "kid": "s" }))] });
    let keys = KeySet::read(set.to_string().as_bytes(), &both).unwrap();
    assert_eq!(keys.len(), 1);
    assert_eq!(verify(&secret.good("HS256", json!({})), &keys, &rules(&both)), Err(Refusal::UnknownKey));
}

#[test]
fn what_is_not_signed_is_refused_however_it_is_spelt() {
    let claims = base64url(json!({ "exp": 4_000_000_000_u64 }).to_string());
    let signer = TokenSigner::new("ES256");
    let keys = set(&signer, &[Algorithm::Es256]);
    let rules = rules(&[Algorithm::Es256]);
    for name in ["none", "None", "NONE", "nOnE", "", "es256", "ES256 ", "HS256", "ES512"] {
        let header = base64url(json!({ "alg": name }).to_string());
        for token in [format!("{header}.{claims}."), format!("{header}.{claims}.AAAA")] {
            assert_eq!(verify(&token, &keys, &rules), Err(Refusal::Algorithm), "{name:?}");
        }
    }
    let header = base64url(json!({ "alg": "ES256" }).to_string());
    assert_eq!(verify(&format!("{header}.{claims}."), &keys, &rules), Err(Refusal::UnknownKey));
    // r = s = 0: good for every message in libraries that do not look (CVE-2022-21449).
    let zeros = base64url([0_u8; 64]);
    assert_eq!(verify(&format!("{header}.{claims}.{zeros}"), &keys, &rules), Err(Refusal::UnknownKey));
}

#[test]
fn a_token_in_another_form_is_refused() {
    let signer = TokenSigner::new("EdDSA");
    let keys = set(&signer, &[Algorithm::EdDsa]);
    let good = signer.good("EdDSA", json!({}));
    let parts: Vec<_> = good.split('.').collect();
    let [header, claims, signature] = parts[..] else { panic!("{good}") };
    let twice = base64url(r#"{"alg":"EdDSA","alg":"none"}"#);
    for token in [
        String::new(),
        "..".to_owned(),
        header.to_owned(),
        format!("{header}.{claims}"),
        format!("{good}."),
        format!("{good}.x.y"),
        format!("{header}=.{claims}.{signature}"),
        format!("{header}.{claims}.{signature}="),
        format!(" {good}"),
        format!("{twice}.{claims}.{signature}"),
        format!("{}.{claims}.{signature}", base64url("[]")),
        format!("{}.{claims}.{signature}", base64url(r#"{"kid":"a"}"#)),
        format!("{}.{claims}.{signature}", base64url(r#"{"alg":["EdDSA"]}"#)),
        format!("{header}.{}.{signature}", "A".repeat(17_000)),
    ] {
        assert_eq!(
            verify(&token, &keys, &rules(&[Algorithm::EdDsa])),
            Err(Refusal::Malformed),
            "{token:.80}"
        );
    }
}

/// RFC 7515 §4.1.11; RFC 7797, whose `b64` must stand in `crit`.
#[test]
fn an_extension_that_must_be_understood_is_not() {
    let signer = TokenSigner::new("EdDSA");
    let keys = set(&signer, &[Algorithm::EdDsa]);
    for crit in [json!(["exp"]), json!(["b64"]), json!([])] {
        let header = json!({ "alg": "EdDSA", "b64": false, "crit": crit });
        let token = signer.token("EdDSA", &header, &json!({ "exp": 4_000_000_000_u64 }));
        assert_eq!(verify(&token, &keys, &rules(&[Algorithm::EdDsa])), Err(Refusal::Critical));
    }
}

/// RFC 8725 §3.10.
#[test]
fn a_key_that_a_token_brings_along_is_not_used() {
    let (signer, stranger) = (TokenSigner::new("ES256"), TokenSigner::new("ES256"));
    let keys = set(&signer, &[Algorithm::Es256]);
    let header = json!({
        "alg": "ES256", "jwk": stranger.jwk(json!({})), "jku": "http://127.0.0.1/keys",
        "x5u": "http://127.0.0.1/cert", "x5c": ["AAAA"],
    });
    let claims = json!({ "exp": 4_000_000_000_u64 });
    let rules = rules(&[Algorithm::Es256]);
    let forged = stranger.token("ES256", &header, &claims);
    assert_eq!(verify(&forged, &keys, &rules), Err(Refusal::UnknownKey));
    assert_eq!(verify(&signer.token("ES256", &header, &claims), &keys, &rules), Ok(()));
}

/// RFC 8725 §3.11, RFC 9068 §4.
#[test]
fn a_token_of_another_type_is_refused_where_one_is_named() {
    let signer = TokenSigner::new("EdDSA");
    let keys = set(&signer, &[Algorithm::EdDsa]);
    let of = |typ: &str| {
        let header = json!({ "alg": "EdDSA", "typ": typ });
        signer.token("EdDSA", &header, &json!({ "exp": 4_000_000_000_u64 }))
    };
    let rules = Rules { kind: Some("at+jwt".to_owned()), ..rules(&[Algorithm::EdDsa]) };
    for typ in ["at+jwt", "AT+JWT", "application/at+jwt"] {
        assert_eq!(verify(&of(typ), &keys, &rules), Ok(()), "{typ}");
    }
    for token in [of("JWT"), of("application/"), of(""), signer.good("EdDSA", json!({}))] {
        assert_eq!(verify(&token, &keys, &rules), Err(Refusal::Type));
    }
}

/// RFC 9864 calls it so.
#[test]
fn ed25519_is_eddsa() {
    let signer = TokenSigner::new("EdDSA");
    let claims = json!({ "exp": 4_000_000_000_u64 });
    let token = signer.token("EdDSA", &json!({ "alg": "Ed25519" }), &claims);
    let keys = set(&signer, &[Algorithm::EdDsa]);
    assert_eq!(verify(&token, &keys, &rules(&[Algorithm::EdDsa])), Ok(()));
}

#[test]
fn claims_are_read_with_the_signature_checked_first() {
    let (signer, stranger) = (TokenSigner::new("EdDSA"), TokenSigner::new("EdDSA"));
    let keys = set(&signer, &[Algorithm::EdDsa]);
    let header = json!({ "alg": "EdDSA" });
    for (claims, refusal) in [(json!({ "exp": 1 }), Refusal::Expired), (json!({}), Refusal::NoExpiry)] {
        let of = |signer: &TokenSigner| signer.token("EdDSA", &header, &claims);
        assert_eq!(verify(&of(&signer), &keys, &rules(&[Algorithm::EdDsa])), Err(refusal));
        assert_eq!(verify(&of(&stranger), &keys, &rules(&[Algorithm::EdDsa])), Err(Refusal::UnknownKey));
    }
}
