//! Claim: one claim of a bearer token, **not verified**.
//!
//! In comes the name of a claim and a request's fields; out goes its value, when `Authorization` is one line that holds a
//! JWT (RFC 7519). The signature is not looked at: whoever sends the request can write any claim there. It may sort
//! answers, never admit anybody; and the cache's keys hold the credential itself wherever `per` uses a claim.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::AUTHORIZATION;
use message::Fields;
use serde_json::{Map, Value};

/// Bytes of a token's payload, encoded; longer ones hold no claims for us.
const LONGEST: usize = 16 * 1024;

/// The claim's value. `None`: no token, more than one, not a JWT, or no such claim.
pub(crate) fn find(fields: Fields<'_>, name: &str) -> Option<Value> {
    let mut lines = fields.all(&AUTHORIZATION);
    let line = lines.next()?;
    if lines.next().is_some() {
        return None;
    }
    let payload = payload(bearer(line)?).filter(|payload| payload.len() <= LONGEST)?;
    let payload = URL_SAFE_NO_PAD.decode(payload).ok()?;
    serde_json::from_slice::<Map<String, Value>>(&payload).ok()?.remove(name)
}

/// The token of `Bearer TOKEN` (RFC 6750 §2.1); the scheme in any case (RFC 9110 §11.1).
fn bearer(line: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = line.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
}

/// The middle one of a compact JWS's three parts (RFC 7515 §3.1).
fn payload(token: &[u8]) -> Option<&[u8]> {
    let mut parts = token.split(|byte| *byte == b'.');
    let (_, payload, _) = (parts.next()?, parts.next()?, parts.next()?);
    parts.next().is_none().then_some(payload)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::*;

    fn claim(lines: &[&str], name: &str) -> Option<Value> {
        let mut fields = HeaderMap::new();
        for line in lines {
            fields.append(AUTHORIZATION, HeaderValue::from_str(line).unwrap());
        }
        find(Fields::Map(&fields), name)
    }

    // {"sub":"u7","admin":true}
    const TOKEN: &str = "e30.eyJzdWIiOiJ1NyIsImFkbWluIjp0cnVlfQ.c2ln";

    #[test]
    fn reads_a_bearer_token() {
        for scheme in ["Bearer", "bearer", "BEARER "] {
            assert_eq!(claim(&[&format!("{scheme} {TOKEN}")], "sub"), Some("u7".into()), "{scheme}");
        }
        assert_eq!(claim(&[&format!("Bearer {TOKEN}")], "admin"), Some(true.into()));
        assert_eq!(claim(&[&format!("Bearer {TOKEN}")], "name"), None);
    }

    #[test]
    fn anything_else_has_no_claims() {
        let long = format!("Bearer e30.{}.x", "e".repeat(LONGEST + 1));
        for line in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer e30",
            "Bearer e30.e30",
            "Bearer e30.!!.x",
            "Bearer e30.W10.x",
            "Bearer e30.eyJzdWIiOiJ1NyIsImFkbWluIjp0cnVlfQ.a.b",
            "Basic e30.eyJzdWIiOiJ1NyIsImFkbWluIjp0cnVlfQ.c2ln",
            &long,
        ] {
            assert_eq!(claim(&[line], "sub"), None, "{line:.40}");
        }
        let line = format!("Bearer {TOKEN}");
        assert_eq!(claim(&[&line, &line], "sub"), None);
        assert_eq!(claim(&[], "sub"), None);
    }
}
