//! Cors: what `cors` of a policy means: which pages of other origins may read responses (Fetch, §3.3).

use http::HeaderValue;

/// Who may read what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cors {
    /// The policy's name in the file.
    pub name: String,
    /// Whose pages may; of none of them is the policy for every origin.
    pub origins: Vec<CorsOrigin>,
    /// Methods that are allowed, as a field says them.
    pub methods: HeaderValue,
    /// Fields that requests may have.
    pub headers: CorsHeaders,
    /// Fields of responses that scripts may read.
    pub expose: Option<HeaderValue>,
    /// Whether requests may carry cookies and the like.
    pub credentials: bool,
    /// For how many seconds a browser remembers what a preflight said.
    pub max_age: Option<HeaderValue>,
}

/// Whose pages may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CorsOrigin {
    /// Everybody's.
    Any,
    /// Those of one origin, as browsers write it.
    Exact(String),
    /// Those of all hosts below one: what stands before the host's name, and behind it.
    Below {
        /// `https://`.
        scheme: String,
        /// `.example.com`, and a port that is not the usual one.
        suffix: String,
    },
}

/// Fields that requests may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CorsHeaders {
    /// Those that need no leave.
    Simple,
    /// Whatever is asked for.
    Asked,
    /// These, as a field says them.
    Named(HeaderValue),
}

impl Cors {
    /// Whether everybody gets the same.
    pub fn is_for_all(&self) -> bool {
        self.origins.contains(&CorsOrigin::Any)
    }

    /// Whether pages of an origin may read.
    pub fn allows(&self, origin: &[u8]) -> bool {
        self.origins.iter().any(|allowed| match allowed {
            CorsOrigin::Any => true,
            CorsOrigin::Exact(exact) => exact.as_bytes() == origin,
            CorsOrigin::Below { scheme, suffix } => {
                let host = origin.strip_prefix(scheme.as_bytes());
                let name = host.and_then(|host| host.strip_suffix(suffix.as_bytes()));
                let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
                name.is_some_and(|name| !name.is_empty() && name.iter().all(is_part))
            }
        })
    }
}
