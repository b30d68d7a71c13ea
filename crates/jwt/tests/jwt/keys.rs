//! Sets of keys: what counts of them, and which key checks which token.

use jwt::{Algorithm, KeySet, LARGEST, Refusal, Unreadable};
use serde_json::{Value, json};

use super::{rules, verify};
use testkit::{TokenSigner, base64url};

fn read(keys: &[Value], algorithms: &[Algorithm]) -> Result<KeySet, Unreadable> {
    KeySet::read(json!({ "keys": keys }).to_string().as_bytes(), algorithms)
}

#[test]
fn a_key_is_for_what_it_says_and_for_its_type() {
    use Algorithm::{EdDsa, Es256, Es384, Ps256, Rs256, Rs512};
    let (rsa, ec) = (TokenSigner::new("RS256"), TokenSigner::new("ES256"));
    for (key, algorithm, fits) in [
        (rsa.jwk(json!({})), Rs256, true),
        (rsa.jwk(json!({})), Ps256, true),
        (rsa.jwk(json!({ "alg": "RS256", "use": "sig", "key_ops": ["verify"] })), Rs256, true),
        (rsa.jwk(json!({ "alg": "RS256" })), Rs512, false),
        (rsa.jwk(json!({ "alg": "RS256" })), Ps256, false),
        (rsa.jwk(json!({ "alg": "RSA-OAEP" })), Rs256, false),
        (rsa.jwk(json!({ "alg": "none" })), Rs256, false),
        (rsa.jwk(json!({ "use": "enc" })), Rs256, false),
        (rsa.jwk(json!({ "key_ops": ["wrapKey"] })), Rs256, false),
        (rsa.jwk(json!({})), Es256, false),
        (ec.jwk(json!({})), Es256, true),
        (ec.jwk(json!({})), Es384, false),
        (ec.jwk(json!({ "crv": "P-384" })), Es384, false),
        (ec.jwk(json!({ "crv": "P-521" })), Es256, false),
        (ec.jwk(json!({})), EdDsa, false),
        (ec.jwk(json!({ "kty": "OKP" })), EdDsa, false),
        // Not a point of the curve.
        (ec.jwk(json!({ "y": base64url([7; 32]) })), Es256, false),
        (ec.jwk(json!({ "x": base64url([7; 31]) })), Es256, false),
        (rsa.jwk(json!({ "n": base64url([0xff; 128]) })), Rs256, false),
        (rsa.jwk(json!({ "n": base64url([0xff; 1025]) })), Rs256, false),
        (rsa.jwk(json!({ "e": base64url([0xff; 9]) })), Rs256, false),
        (rsa.jwk(json!({ "e": "" })), Rs256, false),
        (rsa.jwk(json!({ "n": "not base64url!" })), Rs256, false),
        (json!({ "kty": "RSA" }), Rs256, false),
        (json!({ "kty": "oct", "k": base64url([7; 32]) }), Algorithm::Hs256, false),
        (json!({ "kty": "AKP", "alg": "ML-DSA-44", "pub": "AAAA" }), Rs256, false),
        (json!(7), Rs256, false),
    ] {
        let set = read(std::slice::from_ref(&key), &[algorithm]).unwrap();
        assert_eq!(!set.is_empty(), fits, "{algorithm:?} {key}");
    }
}

#[test]
fn what_cannot_be_used_does_not_keep_the_rest_from_being_used() {
    let signer = TokenSigner::new("ES256");
    let keys = [json!(null), json!({ "kty": "AKP" }), signer.jwk(json!({ "kid": "a" })), json!({ "kty": 1 })];
    let set = read(&keys, &[Algorithm::Es256]).unwrap();
    assert_eq!(set.len(), 1);
    assert_eq!(verify(&signer.good("ES256", json!({})), &set, &rules(&[Algorithm::Es256])), Ok(()));
}

#[test]
fn a_set_without_a_key_for_us_is_one_and_makes_nothing_good() {
    let (signer, algorithms) = (TokenSigner::new("ES256"), [Algorithm::Es256]);
    for keys in [vec![], vec![json!({})], vec![TokenSigner::new("EdDSA").jwk(json!({}))]] {
        let set = read(&keys, &algorithms).unwrap();
        assert!(set.is_empty());
        assert_eq!(
            verify(&signer.good("ES256", json!({})), &set, &rules(&algorithms)),
            Err(Refusal::UnknownKey)
        );
    }
}

#[test]
fn a_set_is_bounded() {
    let algorithms = [Algorithm::Es256];
    assert_eq!(read(&vec![json!({}); 101], &algorithms), Err(Unreadable::TooMany));
    assert_eq!(KeySet::read(&vec![b' '; LARGEST + 1], &algorithms), Err(Unreadable::TooLong));
    for text in ["", "{}", "[]", "{\"keys\":{}}", "<html>", &"[".repeat(100_000)] {
        assert_eq!(KeySet::read(text.as_bytes(), &algorithms), Err(Unreadable::Malformed), "{text:.40}");
    }
}

#[test]
fn the_key_that_a_token_names_checks_it() {
    let algorithms = [Algorithm::Es256];
    let [a, b, nameless] = [(); 3].map(|()| TokenSigner::new("ES256"));
    let naming = |signer: &TokenSigner, kid: &str| {
        let header = json!({ "alg": "ES256", "kid": kid });
        signer.token("ES256", &header, &json!({ "exp": 4_000_000_000_u64 }))
    };
    let named = [a.jwk(json!({ "kid": "a" })), b.jwk(json!({ "kid": "b" }))];
    let set = read(&named, &algorithms).unwrap();
    let check = |set: &KeySet, token: &str| verify(token, set, &rules(&algorithms));
    assert_eq!(check(&set, &naming(&a, "a")), Ok(()));
    assert_eq!(check(&set, &naming(&b, "b")), Ok(()));
    assert_eq!(check(&set, &naming(&a, "b")), Err(Refusal::Signature));
    assert_eq!(check(&set, &naming(&a, "c")), Err(Refusal::UnknownKey));
    assert_eq!(check(&set, &a.good("ES256", json!({}))), Ok(()), "names none");
    assert_eq!(check(&set, &nameless.good("ES256", json!({}))), Err(Refusal::UnknownKey));
    // A key without a name may be any.
    let set = read(&[named[0].clone(), nameless.jwk(json!({}))], &algorithms).unwrap();
    assert_eq!(check(&set, &naming(&nameless, "c")), Ok(()));
    assert_eq!(check(&set, &naming(&nameless, "a")), Err(Refusal::Signature));
    assert_eq!(check(&set, &naming(&b, "c")), Err(Refusal::UnknownKey));
    // Two under one name, as while one takes the other's place.
    let set = read(&[named[0].clone(), b.jwk(json!({ "kid": "a" }))], &algorithms).unwrap();
    assert_eq!(check(&set, &naming(&b, "a")), Ok(()));
}

#[test]
fn of_many_keys_a_few_are_tried() {
    let algorithms = [Algorithm::EdDsa];
    let signers: Vec<_> = (0..20).map(|_| TokenSigner::new("EdDSA")).collect();
    let keys: Vec<_> = (0..20).map(|at| signers[at].jwk(json!({ "kid": at.to_string() }))).collect();
    let set = read(&keys, &algorithms).unwrap();
    let check = |at: usize| verify(&signers[at].good("EdDSA", json!({})), &set, &rules(&algorithms));
    assert_eq!((check(9), check(10)), (Ok(()), Err(Refusal::UnknownKey)));
}

#[test]
fn a_set_is_the_same_while_its_keys_are() {
    let algorithms = [Algorithm::Es256];
    let [a, b] = [(); 2].map(|()| TokenSigner::new("ES256"));
    let set = |keys: &[Value]| read(keys, &algorithms).unwrap();
    let one = set(&[a.jwk(json!({ "kid": "a" }))]);
    assert_eq!(one, set(&[json!({ "kty": "AKP" }), a.jwk(json!({ "kid": "a", "x5t": "new" }))]));
    assert_ne!(one, set(&[a.jwk(json!({ "kid": "b" }))]));
    assert_ne!(one, set(&[b.jwk(json!({ "kid": "a" }))]));
    assert_ne!(one, set(&[a.jwk(json!({ "kid": "a" })), b.jwk(json!({}))]));
    let shown = format!("{one:?} {:?}", KeySet::secret(b"a secret of more than 32 bytes, or so"));
    assert!(!shown.contains("a secret") && !shown.contains("97, 32"), "{shown}");
}
