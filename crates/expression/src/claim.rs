//! Claim: one claim of a bearer token.
//!
//! In comes the name of a claim and a request's fields; out goes its value, when `Authorization` is one line that holds a
//! JWT (RFC 7519). The signature is **not looked at** here: where no policy with `auth.jwt` has let the request in, whoever
//! sends it can write any claim there. Then it may sort answers, never admit anybody; and the cache's keys hold the
//! credential itself wherever `per` uses a claim.

use jwt::Bearer;
use message::Fields;
use serde_json::Value;

/// The claim's value. `None`: no token, more than one, not a JWT, or no such claim.
pub(crate) fn find(fields: Fields<'_>, name: &str) -> Option<Value> {
    match jwt::bearer(fields) {
        Bearer::Token(token) => jwt::claims(token)?.remove(name),
        Bearer::None | Bearer::Several => None,
    }
}

#[cfg(test)]
mod tests {
    use http::header::AUTHORIZATION;
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
        let long = format!("Bearer e30.{}.x", "e".repeat(16 * 1024));
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
