//! THREATS B and C with two clients over HTTP/2: pseudo-headers and crumbs of cookies say no more than HTTP/1.1 does.

use http::Request;
use testkit::{Answer, Fleetfoot, Http2Client};

use super::two_clients::{reflecting, tells};
use crate::setup::{cached_with, each};

/// `None`: the stream was reset.
fn ask(fleetfoot: &Fleetfoot, url: &str, fields: &str) -> Option<Answer> {
    let mut request = Request::builder().method("GET").uri(url);
    for line in fields.lines() {
        let (name, value) = line.split_once(": ").expect("a field has a name and a value");
        request = request.header(name, value);
    }
    Http2Client::connect(fleetfoot.address()).ask(request.body(()).expect("a proper request")).ok()
}

#[test]
fn nothing_of_the_first_client_reaches_the_second() {
    let rows = [
        ("a claim", "http://example.test/", "x-forwarded-host: evil7731"),
        ("another claim", "http://example.test/", "forwarded: host=evil7731"),
        ("a path", "http://example.test/", "x-original-url: /evil7731"),
        ("a method", "http://example.test/", "x-http-method-override: EVIL7731"),
        ("a host besides", "http://example.test/", "host: evil7731.test"),
        ("another host", "http://evil7731.test/", ""),
        ("a port", "http://example.test:7731/", ""),
        ("a scheme", "https://example.test/", "x-forwarded-proto: evil7731"),
        ("crumbs", "http://example.test/", "cookie: a=b\ncookie: id=evil7731"),
        ("crumbs that count", "http://example.test/", "cookie: currency=EUR\ncookie: currency=evil7731"),
        ("credentials", "http://example.test/", "authorization: Bearer evil7731"),
        ("a field", "http://example.test/", "x-anything: evil7731"),
        ("an origin", "http://example.test/", "origin: https://evil7731.test"),
        ("a query", "http://example.test/?utm_source=evil7731", ""),
        ("another query", "http://example.test/?a=evil7731", ""),
    ];
    let policies = ["ttl: origin", "ttl: origin, key: { query: { except: [utm_*] }, cookies: [currency] }"];
    let rows = rows.into_iter().flat_map(|row| policies.map(|policy| (row.0, (row.1, row.2, policy))));
    each(rows, |_, (url, fields, policy)| {
        let origin = reflecting();
        let fleetfoot = cached_with(&origin, policy);
        ask(&fleetfoot, url, fields);
        let over_http2 = ask(&fleetfoot, "http://example.test/", "").expect("a proper request is answered");
        for answer in [over_http2, fleetfoot.get("/")] {
            assert_eq!(answer.status, 200);
            assert!(!tells(&answer, "7731") && !tells(&answer, "EVIL"), "{policy}: {}", answer.text());
        }
    });
}

#[test]
fn both_protocols_share_what_is_stored_and_nothing_else() {
    let origin = reflecting();
    let fleetfoot = cached_with(&origin, "ttl: origin");
    ask(&fleetfoot, "http://example.test/a", "");
    assert!(fleetfoot.get("/a").is_hit());
    fleetfoot.get("/b");
    assert!(ask(&fleetfoot, "http://example.test/b", "").is_some_and(|answer| answer.is_hit()));
    assert!(ask(&fleetfoot, "http://other.test/b", "").is_some_and(|answer| !answer.is_hit()));
}
