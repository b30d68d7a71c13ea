//! Signed: what a policy for signed URLs and cookies means.

use std::fmt;

/// Requests must be signed: by parameters at the end of the URL, or by a cookie. Both as Cloud CDN has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// The policy's name in the file.
    pub name: String,
    /// Keys that are valid now, by name: a new one is added before an old one is taken out.
    pub keys: Vec<SigningKey>,
    /// The name of the cookie; `None`: only URLs are accepted.
    pub cookie: Option<String>,
}

/// A shared secret.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKey {
    /// As in `KeyName=`.
    pub name: String,
    /// 16 bytes at least.
    pub secret: Vec<u8>,
}

/// Never the secret.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("name", &self.name).finish_non_exhaustive()
    }
}
