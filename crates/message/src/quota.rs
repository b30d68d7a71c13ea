//! Quota: what is left of a limit after a request has counted against it. Written by whoever limits; told to the client in
//! `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers), whose syntax stands here.

use std::sync::Arc;

use http::HeaderValue;

/// A limit, as clients are told of it. Made once for each policy.
#[derive(Debug, PartialEq, Eq)]
pub struct QuotaPolicy {
    /// The policy that limits.
    pub name: Box<str>,
    /// Requests that may come in a window.
    pub amount: u64,
    /// How long a window is, in whole seconds.
    pub window: u64,
    /// The value of `RateLimit-Policy`: `"clients";q=40;w=2`.
    pub field: HeaderValue,
}

/// See the module. Times in whole seconds, rounded up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quota {
    /// The limit it is of.
    pub policy: Arc<QuotaPolicy>,
    /// How many requests may still come now.
    pub remaining: u64,
    /// Until all of them may come again.
    pub reset: u64,
}

impl QuotaPolicy {
    /// `name`: of a policy, so letters, digits, `_` and `-`.
    pub fn new(name: &str, amount: u64, window: u64) -> Self {
        let field = HeaderValue::try_from(format!("\"{name}\";q={amount};w={window}"))
            .expect("the name of a policy has nothing in it that a field may not have");
        QuotaPolicy { name: name.into(), amount, window, field }
    }
}

impl Quota {
    /// Appends the value of `RateLimit`: `"clients";r=12;t=1`.
    pub fn write_rest(&self, out: &mut Vec<u8>) {
        out.push(b'"');
        out.extend_from_slice(self.policy.name.as_bytes());
        for (before, number) in [(&b"\";r="[..], self.remaining), (b";t=", self.reset)] {
            out.extend_from_slice(before);
            out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        }
    }
}
