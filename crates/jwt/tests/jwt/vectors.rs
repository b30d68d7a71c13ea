//! The examples of RFC 7515 (A.1 to A.3), RFC 7520 (4.2) and RFC 8037 (A.4). Their claims are of 2011, or no claims: a signature
//! that is good is told by what is refused then.

use jwt::{Algorithm, KeySet, Refusal};

use super::{rules, verify};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const CLAIMS: &str =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";

fn set(key: &str, algorithm: Algorithm) -> KeySet {
    KeySet::read(format!("{{\"keys\":[{key}]}}").as_bytes(), &[algorithm]).unwrap()
}

/// That the signature is good, and is not once a letter of it is another.
fn assert_signed(token: &str, keys: &KeySet, algorithm: Algorithm, then: Refusal) {
    let rules = rules(&[algorithm]);
    assert_eq!(verify(token, keys, &rules), Err(then), "{token}");
    let (text, signature) = token.rsplit_once('.').unwrap();
    let other = if signature.starts_with('A') { 'B' } else { 'A' };
    let forged = format!("{text}.{other}{}", &signature[1..]);
    let refused = verify(&forged, keys, &rules).unwrap_err();
    assert!(matches!(refused, Refusal::UnknownKey | Refusal::Signature), "{refused:?}");
}

#[test]
fn rfc_7515_a_1_hs256() {
    let secret = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
    let keys = KeySet::secret(&URL_SAFE_NO_PAD.decode(secret).unwrap());
    let token = format!(
        "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.{CLAIMS}.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    );
    assert_signed(&token, &keys, Algorithm::Hs256, Refusal::Expired);
}

#[test]
fn rfc_7515_a_2_rs256() {
    let key = r#"{"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}"#;
    let signature = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
    let token = format!("eyJhbGciOiJSUzI1NiJ9.{CLAIMS}.{signature}");
    assert_signed(&token, &set(key, Algorithm::Rs256), Algorithm::Rs256, Refusal::Expired);
}

#[test]
fn rfc_7515_a_3_es256() {
    let key = r#"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#;
    let signature = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
    let token = format!("eyJhbGciOiJFUzI1NiJ9.{CLAIMS}.{signature}");
    assert_signed(&token, &set(key, Algorithm::Es256), Algorithm::Es256, Refusal::Expired);
}

#[test]
fn rfc_7515_a_5_without_a_signature() {
    let token = format!("eyJhbGciOiJub25lIn0.{CLAIMS}.");
    for algorithm in Algorithm::ALL {
        let refused = verify(&token, &KeySet::secret(b""), &rules(&[algorithm]));
        assert_eq!(refused, Err(Refusal::Algorithm), "{algorithm:?}");
    }
}

#[test]
fn rfc_7520_4_2_ps384() {
    let key = r#"{"kty":"RSA","kid":"bilbo.baggins@hobbiton.example","use":"sig","e":"AQAB","n":"n4EPtAOCc9AlkeQHPzHStgAbgs7bTZLwUBZdR8_KuKPEHLd4rHVTeT-O-XV2jRojdNhxJWTDvNd7nqQ0VEiZQHz_AJmSCpMaJMRBSFKrKb2wqVwGU_NsYOYL-QtiWN2lbzcEe6XC0dApr5ydQLrHqkHHig3RBordaZ6Aj-oBHqFEHYpPe7Tpe-OfVfHd1E6cS6M1FZcD1NNLYD5lFHpPI9bTwJlsde3uhGqC0ZCuEHg8lhzwOHrtIQbS0FVbb9k3-tVTU4fg_3L_vniUFAKwuCLqKnS2BYwdq_mzSnbLY7h_qixoR7jig3__kRhuaxwUkRz5iaiQkqgc5gHdrNP5zw"}"#;
    let token = "eyJhbGciOiJQUzM4NCIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9.SXTigJlzIGEgZGFuZ2Vyb3VzIGJ1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlmIHlvdSBkb24ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB0by4.cu22eBqkYDKgIlTpzDXGvaFfz6WGoz7fUDcfT0kkOy42miAh2qyBzk1xEsnk2IpN6-tPid6VrklHkqsGqDqHCdP6O8TTB5dDDItllVo6_1OLPpcbUrhiUSMxbbXUvdvWXzg-UD8biiReQFlfz28zGWVsdiNAUf8ZnyPEgVFn442ZdNqiVJRmBqrYRXe8P_ijQ7p8Vdz0TTrxUeT3lm8d9shnr2lfJT8ImUjvAA2Xez2Mlp8cBE5awDzT0qI0n6uiP1aCN_2_jLAeQTlqRHtfa64QQSUmFAAjVKPbByi7xho0uTOcbH510a6GYmJUAfmWjwZ6oD4ifKo8DYM-X72Eaw";
    assert_signed(token, &set(key, Algorithm::Ps384), Algorithm::Ps384, Refusal::Malformed);
}

#[test]
fn rfc_8037_a_4_ed25519() {
    let key = r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
    let token = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    assert_signed(token, &set(key, Algorithm::EdDsa), Algorithm::EdDsa, Refusal::Malformed);
}
