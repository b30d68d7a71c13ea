//! Sign: signatures for URLs and cookies, as `gate` and Cloud CDN take them. For whoever hands them out: a command, and
//! tests.

use std::fmt;

use aws_lc_rs::hmac;
use base64::Engine;
use message::{Scheme, Timestamp};
use plan::SigningKey;

use crate::gate::signed::{BASE64URL, prefix, prepared};

/// Signs with one key.
pub struct Signer {
    name: String,
    hmac: hmac::Key,
}

/// Why something cannot be signed: no client would send what was signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsignable {
    /// Not `http://` or `https://`.
    Scheme,
    /// No host, one in capitals, or with the scheme's own port: clients write it otherwise.
    Host,
    /// A URL without a path: clients add the `/`.
    Path,
    /// A byte that no URL has, a space for one.
    Byte,
    /// A fragment, which is never sent.
    Fragment,
    /// A prefix with a query.
    Query,
    /// A URL with a parameter `URLPrefix`, `Expires`, `KeyName` or `Signature`.
    Parameter,
    /// A prefix of more than 2048 bytes.
    Length,
}

impl Signer {
    /// With this key.
    pub fn new(key: &SigningKey) -> Self {
        Signer { name: key.name.clone(), hmac: prepared(&key.secret) }
    }

    /// The signed URL, valid before `expires` (whole seconds).
    pub fn sign_url(&self, url: &str, expires: Timestamp) -> Result<String, Unsignable> {
        if path(url)?.is_empty() {
            return Err(Unsignable::Path);
        }
        if let Some((_, query)) = url.split_once('?')
            && query.split('&').any(is_ours)
        {
            return Err(Unsignable::Parameter);
        }
        let separator = if url.contains('?') { '&' } else { '?' };
        Ok(self.signed(format!("{url}{separator}{}", self.terms(expires, '&')), '&'))
    }

    /// The parameters that sign every URL with this prefix: to be appended to its query.
    pub fn sign_prefix(&self, prefix: &str, expires: Timestamp) -> Result<String, Unsignable> {
        self.policy(prefix, expires, '&')
    }

    /// The value of the cookie that signs every URL with this prefix.
    pub fn sign_cookie(&self, prefix: &str, expires: Timestamp) -> Result<String, Unsignable> {
        self.policy(prefix, expires, ':')
    }

    fn policy(&self, prefix: &str, expires: Timestamp, separator: char) -> Result<String, Unsignable> {
        if path(prefix)?.contains('?') {
            return Err(Unsignable::Query);
        }
        if prefix.len() > prefix::LONGEST {
            return Err(Unsignable::Length);
        }
        let encoded = BASE64URL.encode(prefix);
        let terms = self.terms(expires, separator);
        Ok(self.signed(format!("URLPrefix={encoded}{separator}{terms}"), separator))
    }

    fn terms(&self, expires: Timestamp, separator: char) -> String {
        format!("Expires={}{separator}KeyName={}", expires.as_secs(), self.name)
    }

    fn signed(&self, text: String, separator: char) -> String {
        let signature = BASE64URL.encode(hmac::sign(&self.hmac, text.as_bytes()));
        format!("{text}{separator}Signature={signature}")
    }
}

/// Path and query of a URL, empty where it ends with the host.
fn path(url: &str) -> Result<&str, Unsignable> {
    if url.contains('#') {
        return Err(Unsignable::Fragment);
    }
    if !url.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Unsignable::Byte);
    }
    let of_scheme = |scheme: Scheme| {
        let rest = url.strip_prefix(scheme.as_str())?.strip_prefix("://")?;
        Some((scheme, rest))
    };
    let (scheme, rest) =
        of_scheme(Scheme::Http).or_else(|| of_scheme(Scheme::Https)).ok_or(Unsignable::Scheme)?;
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let own_port = format!(":{}", scheme.default_port());
    if authority.is_empty()
        || authority.contains('@')
        || authority.ends_with(&own_port)
        || authority.bytes().any(|byte| byte.is_ascii_uppercase())
    {
        return Err(Unsignable::Host);
    }
    if path.starts_with('?') { Err(Unsignable::Path) } else { Ok(path) }
}

fn is_ours(parameter: &str) -> bool {
    let name = parameter.split('=').next().unwrap_or(parameter);
    matches!(name, "URLPrefix" | "Expires" | "KeyName" | "Signature")
}

/// Never the secret.
impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("name", &self.name).finish_non_exhaustive()
    }
}

impl fmt::Display for Unsignable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unsignable::Scheme => "it does not begin with http:// or https://",
            Unsignable::Host => "its host is not written as clients do: lower case, without the usual port",
            Unsignable::Path => "it has no path; write `/` after the host",
            Unsignable::Byte => "it has a byte that must be percent-encoded",
            Unsignable::Fragment => "it has a fragment, which clients do not send",
            Unsignable::Query => "a prefix has no query",
            Unsignable::Parameter => {
                "it has a parameter URLPrefix, Expires, KeyName or Signature, which are the signature's own"
            }
            Unsignable::Length => "it is longer than 2048 bytes",
        })
    }
}

impl std::error::Error for Unsignable {}
