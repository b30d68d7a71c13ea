//! Who is let in, and what those are told who are not.

use http::{HeaderMap, HeaderValue, Method};
use message::Timestamp;
use policy::Unsignable;

use super::{COOKIE, EXPIRES, SECRET, ask, ask_with, before, gate, gate_of, key, signer};

const URL: &str = "https://media.example.com/videos/1?quality=low";
const FOLDER: &str = "https://media.example.com/videos/";

fn refused(url: &str, cookies: &[&str], now: Timestamp) -> String {
    ask(&gate(), url, cookies, now).unwrap_err()
}

fn cookie(value: &str) -> String {
    format!("{COOKIE}={value}")
}

#[test]
fn nobody_comes_in_without_a_signature() {
    for url in [URL, "https://media.example.com/?Expires=9999999999&KeyName=my-key"] {
        assert_eq!(refused(url, &["a=b"], EXPIRES), "this URL must be signed");
    }
}

#[test]
fn a_signature_is_for_one_url_until_it_expires() {
    let signed = signer().sign_url(URL, EXPIRES).unwrap();
    let now = before(EXPIRES);
    assert_eq!(ask(&gate(), &signed, &[], now).as_deref(), Ok("/videos/1?quality=low"));
    assert_eq!(refused(&signed, &[], EXPIRES), "the signature has expired");
    for other in [
        signed.replace("https:", "http:"),
        signed.replace("media.example", "media2.example"),
        signed.replace("/1?", "/2?"),
        signed.replace("low", "high"),
        signed.replace("?quality", "?x=1&quality"),
        signed.replace("1558131350", "1558131351"),
    ] {
        assert_eq!(refused(&other, &[], now), "the signature is wrong", "{other}");
    }
    assert_eq!(refused(&signed.replace("my-key", "no-key"), &[], now), "the signature names an unknown key");
    assert_eq!(refused(&signed.replace("my-key", "other-key"), &[], now), "the signature is wrong");
    assert_eq!(refused(&format!("{signed}&x=1"), &[], now), "the signature is malformed");
}

#[test]
fn only_who_holds_a_signature_learns_that_it_has_expired_or_is_for_other_urls() {
    let parameters = signer().sign_prefix(FOLDER, EXPIRES).unwrap();
    let elsewhere = format!("https://media.example.com/secret?{parameters}");
    assert_eq!(refused(&elsewhere, &[], before(EXPIRES)), "the signature is for a different URL");
    assert_eq!(refused(&elsewhere, &[], EXPIRES), "the signature has expired");
    let (claim, _) = elsewhere.rsplit_once("Signature=").unwrap();
    let forged = format!("{claim}Signature={}", "A".repeat(27));
    assert_eq!(refused(&forged, &[], EXPIRES), "the signature is wrong");
}

#[test]
fn a_cookie_lets_in_below_its_prefix_and_the_target_stays() {
    let value = signer().sign_cookie(FOLDER, EXPIRES).unwrap();
    let now = before(EXPIRES);
    let cookie = cookie(&value);
    assert_eq!(ask(&gate(), URL, &["a=b", &cookie], now).as_deref(), Ok("/videos/1?quality=low"));
    assert_eq!(
        refused("https://media.example.com/", &[&cookie], now),
        "the signature is for a different URL"
    );
    assert_eq!(refused(URL, &[&cookie], EXPIRES), "the signature has expired");
    for malformed in [
        format!("{cookie}; {cookie}"),
        format!("{cookie}:x=1"),
        cookie.replace(":Expires=1558131350", ""),
        cookie.replace(':', "&"),
        format!("{COOKIE}=\"{value}\""),
        format!("{COOKIE}="),
    ] {
        assert_eq!(refused(URL, &[&malformed], now), "the signature is malformed", "{malformed}");
    }
    let urls_only = gate_of(vec![key("my-key", &SECRET)], None);
    assert_eq!(ask(&urls_only, URL, &[&cookie], now).unwrap_err(), "this URL must be signed");
}

#[test]
fn what_signs_in_one_place_does_not_sign_in_another() {
    let now = before(EXPIRES);
    let value = signer().sign_cookie(FOLDER, EXPIRES).unwrap();
    let in_url = format!("{FOLDER}1?{}", value.replace(':', "&"));
    assert_eq!(refused(&in_url, &[], now), "the signature is wrong");
    let parameters = signer().sign_prefix(FOLDER, EXPIRES).unwrap();
    assert_eq!(refused(URL, &[&cookie(&parameters.replace('&', ":"))], now), "the signature is wrong");
    // The prefix of a signed prefix taken away: it would be for one URL.
    let (_, rest) = parameters.split_once('&').unwrap();
    assert_eq!(refused(&format!("{FOLDER}1?{rest}"), &[], now), "the signature is wrong");
}

#[test]
fn a_wrong_signature_in_the_url_is_refused_whatever_the_cookie_says() {
    let cookie = cookie(&signer().sign_cookie(FOLDER, EXPIRES).unwrap());
    let now = before(EXPIRES);
    let url = format!("{URL}&Signature=x");
    assert_eq!(refused(&url, &[&cookie], now), "the signature is malformed");
    // Without `Signature` the others are parameters like any.
    let url = format!("{URL}&Expires=1");
    assert_eq!(ask(&gate(), &url, &[&cookie], now).as_deref(), Ok("/videos/1?quality=low&Expires=1"));
}

#[test]
fn a_signature_allows_to_read_only() {
    let signed = signer().sign_url(URL, EXPIRES).unwrap();
    let ask = |method: &Method| ask_with(&gate(), method, &signed, &HeaderMap::new(), before(EXPIRES));
    for method in [Method::GET, Method::HEAD, Method::OPTIONS, Method::QUERY] {
        assert!(ask(&method).is_ok(), "{method}");
    }
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, "PURGE".parse().unwrap()] {
        assert_eq!(ask(&method).unwrap_err(), "a signature allows reading only", "{method}");
    }
}

#[test]
fn keys_are_replaced_one_after_the_other() {
    let now = before(EXPIRES);
    let signed = signer().sign_url(URL, EXPIRES).unwrap();
    let (new, old) = (key("new", b"sixteen bytes or more"), key("my-key", &SECRET));
    let by_new = policy::Signer::new(&new).sign_url(URL, EXPIRES).unwrap();
    let both = gate_of(vec![new.clone(), old], None);
    assert!(ask(&both, &signed, &[], now).is_ok() && ask(&both, &by_new, &[], now).is_ok());
    let one = gate_of(vec![new], None);
    assert!(ask(&one, &signed, &[], now).is_err() && ask(&one, &by_new, &[], now).is_ok());
}

#[test]
fn the_cookie_does_not_go_on() {
    let mut fields = HeaderMap::new();
    for line in ["a=b; Cloud-CDN-Cookie=x; c=d", "Cloud-CDN-Cookie=y"] {
        fields.append(http::header::COOKIE, HeaderValue::from_static(line));
    }
    let untouched = fields.clone();
    gate_of(vec![], None).strip_cookie(&mut fields);
    assert_eq!(fields, untouched);
    gate().strip_cookie(&mut fields);
    assert_eq!(fields.get_all(http::header::COOKIE).iter().collect::<Vec<_>>(), ["a=b; c=d"]);
}

#[test]
fn what_is_too_long_is_refused() {
    let now = before(EXPIRES);
    let long = format!("https://media.example.com/{}", "a".repeat(16 * 1024));
    let signed = signer().sign_url(&long, EXPIRES).unwrap();
    assert_eq!(refused(&signed, &[], now), "the signature is malformed");
    assert_eq!(signer().sign_prefix(&long, EXPIRES), Err(Unsignable::Length));
    assert_eq!(signer().sign_cookie(&long[..2049], EXPIRES), Err(Unsignable::Length));
    let longest = signer().sign_cookie(&long[..2048], EXPIRES).unwrap();
    assert!(ask(&gate(), &long[..3000], &[&cookie(&longest)], now).is_ok());
}

#[test]
fn what_no_client_would_send_is_not_signed() {
    for (url, reason) in [
        ("ftp://a.example/", Unsignable::Scheme),
        ("a.example/", Unsignable::Scheme),
        ("https:///a", Unsignable::Host),
        ("https://A.example/", Unsignable::Host),
        ("https://a.example:443/", Unsignable::Host),
        ("https://me@a.example/", Unsignable::Host),
        ("https://a.example", Unsignable::Path),
        ("https://a.example?a", Unsignable::Path),
        ("https://a.example/a b", Unsignable::Byte),
        ("https://a.example/\u{e4}", Unsignable::Byte),
        ("https://a.example/#a", Unsignable::Fragment),
        ("https://a.example/?a&Expires=1", Unsignable::Parameter),
        ("https://a.example/?Signature", Unsignable::Parameter),
    ] {
        assert_eq!(signer().sign_url(url, EXPIRES), Err(reason), "{url}");
    }
    assert_eq!(signer().sign_prefix("https://a.example/?a", EXPIRES), Err(Unsignable::Query));
    assert!(signer().sign_prefix("https://a.example", EXPIRES).is_ok());
}

#[test]
fn secrets_are_not_shown() {
    let shown = format!("{:?} {:?}", gate(), signer());
    assert!(shown.contains("my-key") && !shown.contains("9d") && !shown.contains("157"), "{shown}");
}
