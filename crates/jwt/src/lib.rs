//! Bearer tokens (RFC 6750) that are JWTs (RFC 7519): whether one is good, and for how long.
//!
//! In: the fields of a request, a set of keys (RFC 7517), the rules of a policy, and the date. Out: a [`Validity`], or a
//! [`Refusal`]. Nothing here reads a clock or the network, and nothing in a token is believed before its signature has been
//! checked. RFC 8725, "JSON Web Token Best Current Practices", is heeded where the comments name it.
//!
//! `bearer` finds the token in a request, `compact` takes it apart, `token` reads its header and verifies it by `key_set`, and
//! `rules` looks at its claims. Called by `policy`; `expression` reads claims of tokens that `policy` has let in.

mod algorithm;
mod bearer;
mod compact;
mod key;
mod key_set;
mod refusal;
mod rules;
mod token;

pub use algorithm::Algorithm;
pub use bearer::{Bearer, bearer};
pub use compact::claims;
pub use key_set::{KeySet, LARGEST, Unreadable};
pub use refusal::Refusal;
pub use rules::{Rules, Validity};
pub use token::Token;
