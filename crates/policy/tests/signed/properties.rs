//! What holds for every URL: what was signed is let in, and with any byte changed it is not. Nothing panics.

use http::Method;
use message::{Fields, RequestView, Scheme, Timestamp};
use proptest::prelude::*;

use super::{COOKIE, EXPIRES, ask, before, gate, signer};

fn url() -> impl Strategy<Value = String> {
    "https?://[a-z]{1,9}(:8[0-9]{3})?/[a-zA-Z0-9/._~%-]{0,20}(\\?[a-zA-Z0-9=&/?]{0,20})?"
        .prop_filter("a question mark at the end is dropped with the signature", |url| {
            url.find('?') != Some(url.len() - 1)
        })
}

/// Another byte of those that a head may have.
fn changed(text: &str, at: usize, byte: u8) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    let at = at % bytes.len();
    if bytes[at] == byte {
        return None;
    }
    bytes[at] = byte;
    Some(String::from_utf8(bytes).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn a_signed_url_with_any_byte_changed_is_refused(url in url(), at: usize, byte in 0x21_u8..0x7f) {
        let signed = signer().sign_url(&url, EXPIRES).unwrap();
        let now = before(EXPIRES);
        let host = url.find("://").unwrap() + 3;
        let path = host + url[host..].find('/').unwrap();
        prop_assert_eq!(ask(&gate(), &signed, &[], now), Ok(url[path..].to_owned()));
        if let Some(target) = changed(&signed[path..], at, byte) {
            let other = format!("{}{target}", &signed[..path]);
            // The byte that begins the path is not to be changed: no request has another.
            if target.starts_with('/') {
                prop_assert!(ask(&gate(), &other, &[], now).is_err(), "{}", other);
            }
        }
    }

    #[test]
    fn signed_parameters_with_any_byte_changed_are_refused(
        at: usize,
        byte in 0x21_u8..0x7f,
        prefix in "https://a/[a-z/]{0,9}",
    ) {
        let now = before(EXPIRES);
        let parameters = signer().sign_prefix(&prefix, EXPIRES).unwrap();
        let good = format!("{prefix}x?{parameters}");
        prop_assert!(ask(&gate(), &good, &[], now).is_ok());
        if let Some(other) = changed(&parameters, at, byte) {
            let other = format!("{prefix}x?{other}");
            prop_assert!(ask(&gate(), &other, &[], now).is_err(), "{}", other);
        }
        let value = signer().sign_cookie(&prefix, EXPIRES).unwrap();
        let good = format!("{COOKIE}={value}");
        prop_assert!(ask(&gate(), &prefix, &[&good], now).is_ok());
        // A `;` in place of the padding is the end of the cookie, and padding may be left out.
        if let Some(other) = changed(&value, at, byte).filter(|other| !other.ends_with(';')) {
            let other = format!("{COOKIE}={other}");
            prop_assert!(ask(&gate(), &prefix, &[&other], now).is_err(), "{}", other);
        }
    }

    #[test]
    fn nothing_that_is_sent_panics(
        target in "/?[a-z?&=:%\u{e4}]{0,6}((URLPrefix|Expires|KeyName|Signature|my-key|[a-zA-Z0-9_=-]{0,30})[=&:?]?){0,12}",
        cookie in prop::collection::vec(any::<u8>(), 0..200),
        now: u64,
    ) {
        let cookie = [b"Cloud-CDN-Cookie=", &cookie[..]].concat();
        let fields = [
            httparse::Header { name: "Cookie", value: &cookie },
            httparse::Header { name: "cookie", value: target.as_bytes() },
        ];
        let request = RequestView {
            method: &Method::GET,
            scheme: Scheme::Http,
            authority: "a",
            target: &target,
            fields: Fields::Wire(&fields), client: None };
        prop_assert!(gate().admit(&request, request.target, Timestamp::from_millis(now)).is_err());
    }
}
