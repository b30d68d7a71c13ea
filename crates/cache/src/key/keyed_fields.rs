//! KeyedFields: which request fields a key holds, so that `Vary` need not select by them once more.

use http::header::{ACCEPT_ENCODING, ACCEPT_LANGUAGE, AUTHORIZATION, COOKIE, HeaderName};
use plan::CachePolicy;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyedFields<'a> {
    pub(crate) policy: &'a CachePolicy,
    /// The key names the user.
    pub(crate) personal: bool,
}

impl KeyedFields<'_> {
    /// Whether all requests of one key have the same value in this field when they reach the origin.
    pub(crate) fn has(&self, name: &HeaderName) -> bool {
        let key = &self.policy.key;
        match *name {
            ACCEPT_ENCODING if key.fold_encodings || self.policy.compress.is_some() => true,
            ACCEPT_LANGUAGE if key.fold_languages.is_some() => true,
            COOKIE if key.cookies.is_some() => true,
            AUTHORIZATION if self.personal => true,
            _ => key.headers.contains(name),
        }
    }
}
