//! RateLimit: what a response says of the limits that its request counted against: `RateLimit-Policy` and `RateLimit`
//! (draft-ietf-httpapi-ratelimit-headers). Written on the path of a fresh hit too: nothing is allocated there.

use http::{HeaderMap, HeaderName, HeaderValue};
use message::Quota;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Appends what one limit says to a head, as whole lines.
pub fn write_quota(quota: &Quota, out: &mut Vec<u8>) {
    out.extend_from_slice(b"ratelimit-policy: ");
    out.extend_from_slice(quota.policy.field.as_bytes());
    out.extend_from_slice(b"\r\nratelimit: ");
    quota.write_rest(out);
    out.extend_from_slice(b"\r\n");
}

/// Adds what limits say, the outermost first. What a source says of its own stays beside it: they are lists.
pub fn add_quotas(quotas: &[Quota], fields: &mut HeaderMap) {
    for quota in quotas {
        let mut rest = Vec::with_capacity(48);
        quota.write_rest(&mut rest);
        if let Ok(rest) = HeaderValue::from_bytes(&rest) {
            fields.append(RATE_LIMIT_POLICY, quota.policy.field.clone());
            fields.append(RATE_LIMIT, rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use message::QuotaPolicy;

    use super::*;

    #[test]
    fn it_is_the_same_in_bytes_and_in_fields() {
        let policy = Arc::new(QuotaPolicy::new("clients", 40, 2));
        let quota = Quota { policy, remaining: 12, reset: 1 };
        let (mut out, mut fields) = (Vec::new(), HeaderMap::new());
        write_quota(&quota, &mut out);
        add_quotas(&[quota], &mut fields);
        let expected = "ratelimit-policy: \"clients\";q=40;w=2\r\nratelimit: \"clients\";r=12;t=1\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let lines = fields.iter().map(|(name, value)| format!("{name}: {}\r\n", value.to_str().unwrap()));
        assert_eq!(lines.collect::<String>(), expected);
    }
}
