//! Refused: why a request is not let in → the error that says so, with what would let it in (RFC 6750 §3, RFC 9110 §11.6.1).

use std::time::Duration;

use http::HeaderValue;
use message::{Error, Kind};

use super::counted::AuthOutcome;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It carries nothing.
    Missing,
    /// Its token is not good.
    Token(jwt::Refusal),
    /// It has more than one `Authorization`.
    SeveralTokens,
    /// Nobody has such an API key.
    Key,
    /// It has more than one.
    SeveralKeys,
    /// There are no keys to check its token with, and none are fetched before this time has passed.
    KeysUnavailable(Duration),
}

impl Refused {
    pub(super) fn outcome(self) -> AuthOutcome {
        match self {
            Refused::Missing => AuthOutcome::Missing,
            Refused::Token(jwt::Refusal::Expired) => AuthOutcome::Expired,
            Refused::Token(_) | Refused::SeveralTokens | Refused::Key | Refused::SeveralKeys => {
                AuthOutcome::Invalid
            }
            Refused::KeysUnavailable(_) => AuthOutcome::KeysUnavailable,
        }
    }
}

/// What a policy asks for, as clients are told.
pub(super) struct Challenges {
    /// `Bearer realm="…"`, where tokens let in.
    bearer: Option<String>,
    /// `ApiKey realm="…"`, where keys do: no scheme that is registered, but 401 must name one.
    key: Option<String>,
    /// What is missing where nothing is carried.
    missing: String,
}

impl Challenges {
    pub(super) fn new(plan: &plan::Auth) -> Self {
        // Names of policies have letters, digits, `_` and `-` alone.
        let name = &plan.name;
        let key = plan.keys.as_ref().map(|keys| keys.field.as_str());
        let missing = match (&plan.jwt, key) {
            (Some(_), None) => "this takes a bearer token".to_owned(),
            (None, Some(field)) => format!("this takes an API key in {field}"),
            (_, field) => {
                format!("this takes a bearer token, or an API key in {}", field.unwrap_or_default())
            }
        };
        Challenges {
            bearer: plan.jwt.as_ref().map(|_| format!("Bearer realm=\"{name}\"")),
            key: key.map(|field| format!("ApiKey realm=\"{name}\", field=\"{field}\"")),
            missing,
        }
    }

    /// What a client is told.
    pub(super) fn error(&self, policy: &str, refused: Refused) -> Error {
        let error = match refused {
            Refused::KeysUnavailable(wait) => {
                let detail = format!("policy {policy}: there are no keys to check tokens with");
                let error = Error::new(Kind::KeysUnavailable, detail);
                return if wait.is_zero() { error } else { error.after(wait) };
            }
            Refused::Missing => Error::new(Kind::Unauthorized, self.missing.clone()),
            Refused::Token(why) => Error::new(Kind::Unauthorized, why.to_string()),
            Refused::SeveralTokens => Error::new(Kind::Unauthorized, "Authorization is there more than once"),
            Refused::Key => Error::new(Kind::Unauthorized, "the API key is unknown"),
            Refused::SeveralKeys => Error::new(Kind::Unauthorized, "there is more than one API key"),
        };
        let bearer = self.bearer.as_ref().map(|bearer| match refused {
            Refused::Token(_) | Refused::SeveralTokens => {
                // None of these sentences has a quote in it.
                format!("{bearer}, error=\"invalid_token\", error_description=\"{}\"", error.detail())
            }
            _ => bearer.clone(),
        });
        let told = bearer.into_iter().chain(self.key.clone());
        told.filter_map(|challenge| HeaderValue::try_from(challenge).ok()).fold(error, Error::challenging)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderName;
    use jwt::{Refusal, Rules};
    use plan::{ApiKeys, Auth, JwtAuth};

    use super::*;

    /// What clients are told by a policy with these ways in.
    fn told(jwt: bool, keys: bool, refused: Refused) -> (String, Vec<String>) {
        let field = HeaderName::from_static("x-api-key");
        let plan = Auth {
            name: "p".to_owned(),
            jwt: jwt.then(|| JwtAuth { rules: Rules::default(), set: None, secret: None }),
            keys: keys.then(|| ApiKeys { field, keys: Vec::new() }),
            is_optional: false,
        };
        let error = Challenges::new(&plan).error("p", refused);
        let challenges = error.challenges().iter().map(|value| value.to_str().unwrap().to_owned());
        (error.detail().to_owned(), challenges.collect())
    }

    #[test]
    fn who_brings_nothing_is_told_what_to_bring() {
        let bearer = "Bearer realm=\"p\"".to_owned();
        let key = "ApiKey realm=\"p\", field=\"x-api-key\"".to_owned();
        for (jwt, keys, sentence, challenges) in [
            (true, false, "this takes a bearer token", vec![bearer.clone()]),
            (false, true, "this takes an API key in x-api-key", vec![key.clone()]),
            (true, true, "this takes a bearer token, or an API key in x-api-key", vec![bearer, key]),
        ] {
            assert_eq!(told(jwt, keys, Refused::Missing), (sentence.to_owned(), challenges));
        }
    }

    /// RFC 6750 §3: no quote and no backslash in a description, and none of the token.
    #[test]
    fn a_bad_token_is_told_why() {
        use Refusal::{
            Algorithm, Audience, Critical, Expired, Issuer, Malformed, NoExpiry, NotYet, Signature, Type,
            UnknownKey,
        };
        for why in [
            Malformed, Algorithm, Type, Critical, UnknownKey, Signature, NoExpiry, Expired, NotYet, Issuer,
            Audience,
        ] {
            let (sentence, challenges) = told(true, false, Refused::Token(why));
            assert!(
                sentence.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
                    && !sentence.contains(['"', '\\'])
            );
            let expected =
                format!("Bearer realm=\"p\", error=\"invalid_token\", error_description=\"{sentence}\"");
            assert_eq!(challenges, [expected]);
        }
    }

    #[test]
    fn without_keys_nobody_is_told_to_bring_another_token() {
        let (_, challenges) = told(true, true, Refused::KeysUnavailable(Duration::from_secs(3)));
        assert_eq!(challenges, [""; 0]);
    }
}
