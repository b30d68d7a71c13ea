//! RateLimit: what a response says of the limits that its request counted against: `RateLimit-Policy` and `RateLimit`
//! (draft-ietf-httpapi-ratelimit-headers). Written on the path of a fresh hit too: nothing is allocated there.

use http::{HeaderMap, HeaderName, HeaderValue};
use message::Quota;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Appends what one limit says to a head, as whole lines.
pub fn write_quota(quota: &Quota, out: &mut Vec<u8>) {
    out.extend_from_slice(b"ratelimit-policy: ");
    policy(quota, out);
    out.extend_from_slice(b"\r\nratelimit: ");
    rest(quota, out);
    out.extend_from_slice(b"\r\n");
}

/// Adds what limits say, the outermost first. What a source says of its own stays beside it: they are lists.
pub fn add_quotas(quotas: &[Quota], fields: &mut HeaderMap) {
    for quota in quotas {
        for (name, write) in [(RATE_LIMIT_POLICY, policy as fn(&Quota, &mut Vec<u8>)), (RATE_LIMIT, rest)] {
            let mut text = Vec::with_capacity(48);
            write(quota, &mut text);
            if let Ok(value) = HeaderValue::from_maybe_shared(bytes::Bytes::from(text)) {
                fields.append(name, value);
            }
        }
    }
}

/// `"clients";q=40;w=2`
fn policy(quota: &Quota, out: &mut Vec<u8>) {
    name(quota, out);
    number(b";q=", quota.amount, out);
    number(b";w=", quota.window, out);
}

/// `"clients";r=12;t=1`
fn rest(quota: &Quota, out: &mut Vec<u8>) {
    name(quota, out);
    number(b";r=", quota.remaining, out);
    number(b";t=", quota.reset, out);
}

/// Names of policies are letters, digits, `_` and `-`: nothing to escape.
fn name(quota: &Quota, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(quota.policy.as_bytes());
    out.push(b'"');
}

fn number(before: &[u8], number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(before);
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_same_in_bytes_and_in_fields() {
        let quota = Quota { policy: "clients".into(), amount: 40, window: 2, remaining: 12, reset: 1 };
        let (mut out, mut fields) = (Vec::new(), HeaderMap::new());
        write_quota(&quota, &mut out);
        add_quotas(&[quota], &mut fields);
        let expected = "ratelimit-policy: \"clients\";q=40;w=2\r\nratelimit: \"clients\";r=12;t=1\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let lines = fields.iter().map(|(name, value)| format!("{name}: {}\r\n", value.to_str().unwrap()));
        assert_eq!(lines.collect::<String>(), expected);
    }
}
