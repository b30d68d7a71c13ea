//! Whatever arrives: no panic, and nothing is good but what was signed.

use std::sync::LazyLock;

use jwt::{Algorithm, KeySet, Token};
use proptest::prelude::*;
use serde_json::json;

use super::{NOW, rules, verify};
use testkit::{TokenSigner, base64url};

const ALL: [Algorithm; 3] = [Algorithm::Es256, Algorithm::EdDsa, Algorithm::Hs256];

static SIGNED: LazyLock<(TokenSigner, KeySet)> = LazyLock::new(|| {
    let signer = TokenSigner::new("EdDSA");
    let keys = json!({ "keys": [signer.jwk(json!({}))] });
    let keys = KeySet::read(keys.to_string().as_bytes(), &ALL).unwrap();
    (signer, keys)
});

proptest! {
    #[test]
    fn a_token_with_any_other_character_is_refused(at in any::<prop::sample::Index>(), other in "[A-Za-z0-9_.=-]") {
        let (signer, keys) = &*SIGNED;
        let good = signer.good("EdDSA", json!({}));
        let at = at.index(good.len());
        let mut forged = good.clone();
        forged.replace_range(at..=at, &other);
        prop_assert_eq!(verify(&forged, keys, &rules(&ALL)).is_ok(), forged == good);
    }

    #[test]
    fn whatever_a_token_says_it_is_only_looked_at(header in "\\PC{0,60}", claims in "\\PC{0,60}", bytes in any::<Vec<u8>>()) {
        let (_, keys) = &*SIGNED;
        let token = format!("{}.{}.{}", base64url(&header), base64url(&claims), base64url(&bytes));
        prop_assert!(verify(&token, keys, &rules(&ALL)).is_err());
        if let Ok(token) = Token::read(&bytes, &rules(&ALL)) {
            prop_assert!(token.verify(keys, &rules(&ALL), NOW).is_err());
        }
        let _ = jwt::claims(&bytes);
    }

    #[test]
    fn whatever_a_provider_sends_is_read_or_refused(set in "\\{\"keys\":\\[(\\{(\"(kty|crv|x|y|n|e|alg|use)\":\"[A-Za-z0-9-]{0,50}\",?){0,8}\\},?){0,3}\\]\\}", noise in any::<Vec<u8>>()) {
        let _ = KeySet::read(set.as_bytes(), &Algorithm::ALL);
        prop_assert!(KeySet::read(&noise, &Algorithm::ALL).is_err());
    }
}
