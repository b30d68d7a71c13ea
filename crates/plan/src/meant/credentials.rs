//! Credentials: what a source wants to see of us, and what we have of that.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue};

use super::{HttpSource, Token};

/// What each call carries, in place of what the client sent there.
#[derive(Clone, Debug, PartialEq)]
pub struct Credentials {
    /// The policy's name in the file.
    pub name: String,
    /// What it is.
    pub credential: Credential,
}

/// Something that a source wants to see.
#[derive(Clone, Debug, PartialEq)]
pub enum Credential {
    /// Fields. Their values are marked as sensitive: nothing shows them.
    Fields(Vec<(HeaderName, HeaderValue)>),
    /// Parameters of the query.
    Query(Vec<SecretParameter>),
    /// A token that is asked for, as `Authorization: Bearer`.
    OAuth2(Arc<OAuth2>),
}

/// A parameter of a query whose value is a secret. Both are percent-encoded.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretParameter {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Token,
}

/// Where tokens come from: the client credentials grant (RFC 6749 §4.4).
#[derive(Clone, Debug, PartialEq)]
pub struct OAuth2 {
    /// The server that issues them.
    pub server: Arc<HttpSource>,
    /// Path and query of its token endpoint.
    pub target: String,
    /// Who we are.
    pub client_id: String,
    /// How we prove it.
    pub client_secret: Token,
    /// What the token is to be good for, by the server's words.
    pub scope: Option<String>,
    /// Whom it is for.
    pub audience: Option<String>,
    /// How id and secret are sent.
    pub auth: ClientAuth,
}

/// How a client says who it is (RFC 6749 §2.3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientAuth {
    /// By `Authorization: Basic`.
    #[default]
    Basic,
    /// By parameters in the content.
    Post,
}

/// Several credentials for one provider.
#[derive(Clone, Debug, PartialEq)]
pub struct Accounts {
    /// The policy's name in the file.
    pub name: String,
    /// At least one.
    pub accounts: Vec<Account>,
    /// How long one that is throttled rests at most.
    pub rest: Duration,
}

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// What it is called in metrics and logs.
    pub name: Arc<str>,
    /// How many calls it gets, compared with others.
    pub weight: u32,
    /// What its calls carry.
    pub credential: Credential,
}

impl Credential {
    /// The fields that it is written to.
    pub fn fields(&self) -> impl Iterator<Item = &HeaderName> {
        let (fields, token) = match self {
            Credential::Fields(fields) => (fields.as_slice(), None),
            Credential::Query(_) => (&[][..], None),
            Credential::OAuth2(_) => (&[][..], Some(&AUTHORIZATION)),
        };
        fields.iter().map(|(name, _)| name).chain(token)
    }

    /// Where its token comes from; `None`: it is no token that is asked for.
    pub fn oauth2(&self) -> Option<&Arc<OAuth2>> {
        match self {
            Credential::OAuth2(oauth2) => Some(oauth2),
            Credential::Fields(_) | Credential::Query(_) => None,
        }
    }
}

impl OAuth2 {
    /// Its endpoint as a URL, for people.
    pub fn url(&self) -> String {
        let server = &self.server.targets[0];
        format!("{}://{}{}", server.scheme.as_str(), server.authority(), self.target)
    }
}

/// Never the value.
impl fmt::Debug for SecretParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretParameter").field("name", &self.name).finish_non_exhaustive()
    }
}
