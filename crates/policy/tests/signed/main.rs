//! Signed URLs and cookies, from outside: what is published as signed is let in, anything else is not.

#![allow(clippy::unwrap_used, reason = "helpers of tests are not inside #[test]")]

mod properties;
mod stories;
mod vectors;

use http::{HeaderMap, HeaderValue, Method};
use message::{Fields, RequestView, Result, Scheme, Timestamp};
use plan::{Signed, SigningKey};
use policy::{SignedGate, Signer};

/// The key of Google's published examples, `nZtRohdNF9m3cKM24IcK4w==`.
pub(crate) const SECRET: [u8; 16] =
    [0x9d, 0x9b, 0x51, 0xa2, 0x17, 0x4d, 0x17, 0xd9, 0xb7, 0x70, 0xa3, 0x36, 0xe0, 0x87, 0x0a, 0xe3];
pub(crate) const COOKIE: &str = "Cloud-CDN-Cookie";
/// When the signatures here expire, in seconds.
pub(crate) const EXPIRES: Timestamp = Timestamp::from_secs(1_558_131_350);

pub(crate) fn key(name: &str, secret: &[u8]) -> SigningKey {
    SigningKey { name: name.to_owned(), secret: secret.to_vec() }
}

pub(crate) fn gate_of(keys: Vec<SigningKey>, cookie: Option<&str>) -> SignedGate {
    SignedGate::new(&Signed { name: "members".to_owned(), keys, cookie: cookie.map(str::to_owned) })
}

pub(crate) fn gate() -> SignedGate {
    gate_of(vec![key("other-key", b"another secret of ours"), key("my-key", &SECRET)], Some(COOKIE))
}

pub(crate) fn signer() -> Signer {
    Signer::new(&key("my-key", &SECRET))
}

/// Asks with GET for a whole URL. The target that is let in, or the sentence of the refusal.
pub(crate) fn ask(gate: &SignedGate, url: &str, cookies: &[&str], now: Timestamp) -> Outcome {
    let fields =
        cookies.iter().map(|line| (http::header::COOKIE, HeaderValue::from_str(line).unwrap())).collect();
    ask_with(gate, &Method::GET, url, &fields, now)
}

/// The target that is let in, or the sentence of the refusal.
pub(crate) type Outcome = std::result::Result<String, String>;

pub(crate) fn ask_with(
    gate: &SignedGate,
    method: &Method,
    url: &str,
    fields: &HeaderMap,
    now: Timestamp,
) -> Outcome {
    let (scheme, rest) = url.split_once("://").unwrap();
    let (authority, target) = rest.split_at(rest.find('/').unwrap());
    let scheme = if scheme == "https" { Scheme::Https } else { Scheme::Http };
    let request =
        RequestView { method, scheme, authority, target, fields: Fields::Map(fields), client: None };
    let outcome: Result<&str> = gate.admit(&request, request.target, now);
    match outcome {
        Ok(admitted) => {
            assert!(target.starts_with(admitted), "{admitted} is not the beginning of {target}");
            Ok(admitted.to_owned())
        }
        Err(error) => {
            assert_eq!(error.kind(), message::Kind::Forbidden);
            Err(error.detail().to_owned())
        }
    }
}

pub(crate) fn before(moment: Timestamp) -> Timestamp {
    Timestamp::from_millis(moment.as_millis() - 1)
}
