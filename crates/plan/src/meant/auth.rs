//! Auth: what a policy on who may ask means.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderName;
use message::FieldPattern;

use super::{FieldEdits, Headers, HttpSource, Token};

/// A request must show that it may ask. Of several ways one will do; what it carries must be good.
#[derive(Clone, Debug, PartialEq)]
pub struct Auth {
    /// The policy's name in the file.
    pub name: String,
    /// By a bearer token.
    pub jwt: Option<JwtAuth>,
    /// By an API key.
    pub keys: Option<ApiKeys>,
    /// Whether a request that carries nothing is let in too.
    pub is_optional: bool,
}

/// Which bearer tokens are good.
#[derive(Clone, Debug, PartialEq)]
pub struct JwtAuth {
    /// What is asked of them.
    pub rules: jwt::Rules,
    /// The public keys; there where the rules name an algorithm that has some.
    pub set: Option<Jwks>,
    /// The secret; there where the rules name `HS256`.
    pub secret: Option<Token>,
}

/// Where public keys come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Jwks {
    /// From a file, as it was when the plan was made.
    File(Arc<jwt::KeySet>),
    /// From a provider.
    Remote(Arc<RemoteJwks>),
}

/// A provider of keys.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteJwks {
    /// Its server.
    pub origin: Arc<HttpSource>,
    /// Path and query.
    pub target: String,
    /// For how long keys count as up to date; `None`: as its responses say.
    pub refresh: Option<Duration>,
    /// The shortest time between two fetches.
    pub cooldown: Duration,
    /// How long keys work after that while no others can be had.
    pub if_error: Duration,
    /// How long a fetch may take.
    pub timeout: Duration,
}

/// Which API keys are good.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiKeys {
    /// The field that carries one.
    pub field: HeaderName,
    /// All of them.
    pub keys: Vec<ApiKey>,
}

/// One API key.
#[derive(Clone, Debug, PartialEq)]
pub struct ApiKey {
    /// Whose it is.
    pub name: String,
    /// The key itself.
    pub secret: Token,
}

impl Auth {
    /// What keeps the field of an API key from a source: it is nobody's business there, and a response that differed by it
    /// would be given to others.
    pub fn hidden(&self) -> Option<Headers> {
        let field = self.keys.as_ref()?.field.clone();
        let request = FieldEdits { remove: vec![FieldPattern::Name(field)], ..FieldEdits::default() };
        Some(Headers { name: self.name.clone(), request, response: FieldEdits::default() })
    }

    /// The provider that its keys come from.
    pub fn remote(&self) -> Option<&Arc<RemoteJwks>> {
        match self.jwt.as_ref()?.set.as_ref()? {
            Jwks::Remote(remote) => Some(remote),
            Jwks::File(_) => None,
        }
    }
}
