//! Carried: one credential, ready to be put into requests. Whatever the client sent in the same field or parameter goes: a source
//! that got both could take either.

use std::sync::Arc;

use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue, StatusCode};
use message::{Ask, Call, Request, Response, Result, Trip};
use rules::echo::Echo;
use rules::{NamePattern, QueryKey, QueryNames};

use super::tokens::Tokens;
use crate::remedies::headers::set_field;
use crate::remedies::outcomes::{Outcome, Outcomes};

/// Bytes of a request's content that are held, so that the call can be made again with another token.
const REPLAY: u64 = 64 * 1024;

/// See the module.
#[derive(Debug)]
pub(crate) enum Carried {
    /// Fields.
    Fields(Vec<(HeaderName, HeaderValue)>),
    /// Parameters of the query.
    Query(SecretQuery),
    /// A token that is asked for.
    Token(Arc<Tokens>),
}

/// Parameters whose values are secrets.
pub(crate) struct SecretQuery {
    /// What is left of a query that has others of these names.
    others: QueryKey,
    /// As they are appended.
    ours: String,
    names: Vec<String>,
    /// What a response may not say again.
    echo: Echo,
}

impl Carried {
    /// Of that policy.
    pub(crate) fn new(policy: &str, credential: &plan::Credential) -> Self {
        match credential {
            plan::Credential::Fields(fields) => Carried::Fields(fields.clone()),
            plan::Credential::Query(parameters) => Carried::Query(SecretQuery::new(parameters)),
            plan::Credential::OAuth2(rule) => Carried::Token(Tokens::new(policy, Arc::clone(rule))),
        }
    }

    pub(crate) fn tokens(&self) -> Option<&Arc<Tokens>> {
        match self {
            Carried::Token(tokens) => Some(tokens),
            Carried::Fields(_) | Carried::Query(_) => None,
        }
    }

    /// Puts it into a request. False: it has to be waited for.
    pub(crate) fn write(&self, request: &mut Request) -> bool {
        match self {
            Carried::Fields(fields) => {
                for (name, value) in fields {
                    set_field(&mut request.parts_mut().fields, name, value.clone());
                }
            }
            Carried::Query(query) => query.write(&mut request.parts_mut().target),
            Carried::Token(_) => return false,
        }
        true
    }

    /// Whether a response may say it again where clients see it: a source repeats its query in redirects.
    pub(crate) fn may_come_back(&self) -> bool {
        matches!(self, Carried::Query(_))
    }

    /// Takes it out of the fields of a response.
    pub(crate) fn take_back(&self, response: &mut Response) {
        let Carried::Query(query) = self else { return };
        for value in response.fields.values_mut() {
            let left = query.echo.without(value.as_bytes());
            if let Some(left) = left.and_then(|left| HeaderValue::from_bytes(&left).ok()) {
                *value = left;
            }
        }
    }

    /// The same, waited for where that is needed.
    pub(crate) async fn put(&self, request: &mut Request) -> Result<()> {
        if let Carried::Token(tokens) = self {
            set_field(&mut request.parts_mut().fields, &AUTHORIZATION, tokens.token().await?.field);
        } else {
            self.write(request);
        }
        Ok(())
    }

    /// Makes a call that carries it; once more with another token, where the source does not know the first one any more.
    pub(crate) async fn call<Q: Ask>(
        &self,
        mut ask: Q,
        below: &impl Call<Q>,
        trip: &mut Trip,
        outcomes: &Outcomes,
    ) -> Result<Q::Answer> {
        let Carried::Token(tokens) = self else {
            if let Some(request) = ask.request_mut() {
                self.write(request);
            }
            return below.call(ask, trip).await;
        };
        // Whoever sends without saying how much may wait for an answer first.
        if ask.request_mut().is_some_and(|request| request.body.exact_length().is_some()) {
            ask.hold_content(REPLAY).await?;
        }
        let deadline = trip.deadline;
        let token = tokens.token().await?;
        let again = ask.once_more();
        let outcome = below.call(with(ask, &token.field), trip).await;
        let is_refused = outcome.as_ref().is_ok_and(|answer| {
            Q::head_of(answer).is_some_and(|(status, _)| status == StatusCode::UNAUTHORIZED)
        });
        if !is_refused || trip.is_answered_here || !tokens.refuse(&token) {
            return outcome;
        }
        // Where there is no other, what the source said is the better answer.
        let Some((again, token)) = again.zip(tokens.token().await.ok()) else { return outcome };
        // Lets go of the connection, and of the time that was for the first try.
        drop(outcome);
        outcomes.count(Outcome::Again);
        trip.deadline = deadline;
        below.call(with(again, &token.field), trip).await
    }

    /// What it does, for people.
    pub(crate) fn explain(&self) -> String {
        let named =
            |names: Vec<&str>| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        match self {
            Carried::Fields(fields) => {
                format!("sets {}", named(fields.iter().map(|(name, _)| name.as_str()).collect()))
            }
            Carried::Query(query) => {
                format!("sets {} in the query", named(query.names.iter().map(String::as_str).collect()))
            }
            Carried::Token(tokens) => format!("sets `authorization`: {}", tokens.explain()),
        }
    }
}

fn with<Q: Ask>(mut ask: Q, field: &HeaderValue) -> Q {
    if let Some(request) = ask.request_mut() {
        set_field(&mut request.parts_mut().fields, &AUTHORIZATION, field.clone());
    }
    ask
}

impl SecretQuery {
    fn new(parameters: &[plan::SecretParameter]) -> Self {
        let names: Vec<_> = parameters.iter().map(|parameter| parameter.name.clone()).collect();
        let except = names.iter().map(|name| NamePattern::literal(name)).collect();
        let pair =
            |parameter: &plan::SecretParameter| format!("{}={}", parameter.name, parameter.value.secret());
        SecretQuery {
            others: QueryKey { names: QueryNames::Except(except), sort: false },
            ours: parameters.iter().map(pair).collect::<Vec<_>>().join("&"),
            echo: Echo::of(parameters.iter().map(|it| (it.name.as_str(), it.value.secret()))),
            names,
        }
    }

    fn write(&self, target: &mut Box<str>) {
        // `OPTIONS *` has no query.
        if !target.starts_with('/') {
            return;
        }
        let mut scratch = String::new();
        let others = self.others.target(target, &mut scratch);
        let mark = if others.contains('?') { '&' } else { '?' };
        *target = format!("{others}{mark}{}", self.ours).into();
    }
}

/// Never the values.
impl std::fmt::Debug for SecretQuery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretQuery").field("names", &self.names).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use plan::{SecretParameter, Token};

    use super::*;

    #[test]
    fn parameters_of_ours_replace_those_of_the_client_however_they_are_spelt() {
        let parameter = |name: &str, value: &str| SecretParameter {
            name: name.to_owned(),
            value: Token::new(value.to_owned()),
        };
        let query = SecretQuery::new(&[parameter("api_key", "a%26b"), parameter("app*", "1")]);
        for (target, expected) in [
            ("/", "/?api_key=a%26b&app*=1"),
            ("/x?a=1&b", "/x?a=1&b&api_key=a%26b&app*=1"),
            ("/x?api_key=c&a=1&api%5Fkey=d&%61pi_key", "/x?a=1&api_key=a%26b&app*=1"),
            ("/x?apple=1&app%2A=2", "/x?apple=1&api_key=a%26b&app*=1"),
            ("*", "*"),
        ] {
            let mut written = target.into();
            query.write(&mut written);
            assert_eq!(&*written, expected, "{target}");
        }
        assert!(!format!("{query:?}").contains("a%26b"));
    }
}
