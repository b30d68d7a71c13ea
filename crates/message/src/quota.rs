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

/// No integer of a structured field is larger (RFC 9651 §3.3.1).
const LARGEST: u64 = 999_999_999_999_999;

impl QuotaPolicy {
    /// `name`: of a policy, so letters, digits, `_` and `-`.
    pub fn new(name: &str, amount: u64, window: u64) -> Self {
        let (told_amount, told_window) = (amount.min(LARGEST), window.min(LARGEST));
        let field = HeaderValue::try_from(format!("\"{name}\";q={told_amount};w={told_window}"))
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
            out.extend_from_slice(itoa::Buffer::new().format(number.min(LARGEST)).as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_fits_into_a_structured_field() {
        let policy = Arc::new(QuotaPolicy::new("p", u64::MAX, 31_536_000_000_000_000));
        assert_eq!(policy.field, "\"p\";q=999999999999999;w=999999999999999");
        let mut told = Vec::new();
        Quota { policy, remaining: u64::MAX, reset: 1_000_000_000_000_000 }.write_rest(&mut told);
        assert_eq!(told, b"\"p\";r=999999999999999;t=999999999999999");
    }
}
