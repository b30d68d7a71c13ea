//! Conditions of clients on answers in the cache: RFC 9110 §13, RFC 9111 §4.3.2.

use testkit::{Fleetfoot, Origin, http_date, not_modified, ok};

use crate::setup::{cached, each};

fn stored(fields: &str) -> (Origin, Fleetfoot) {
    let origin = Origin::start();
    origin
        .on("*")
        .reply(ok(&format!("Cache-Control: max-age=600\nContent-Type: text/x\n{fields}"), "content"));
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    (origin, fleetfoot)
}

fn check(stored_fields: &str, rows: &[(String, u16)]) {
    let (origin, fleetfoot) = stored(stored_fields);
    each(rows.iter().map(|row| (&row.0, row)), |_, (fields, status)| {
        let answer = fleetfoot.get_with("/", fields);
        assert_eq!(answer.status, *status, "{answer:?}");
        assert_eq!(answer.text(), if *status == 200 { "content" } else { "" });
        assert!(answer.is_hit(), "{answer:?}");
    });
    assert_eq!(origin.requests().len(), 1, "all of it from the cache");
}

fn row(fields: &str, status: u16) -> (String, u16) {
    (fields.to_owned(), status)
}

#[test]
fn if_none_match_compares_weakly() {
    check(
        "ETag: \"one\"",
        &[
            row("If-None-Match: \"one\"", 304),
            row("If-None-Match: W/\"one\"", 304),
            row("If-None-Match: \"two\"", 200),
            row("If-None-Match: \"two\", \"one\"", 304),
            row("If-None-Match: \"two\",W/\"one\" , \"three\"", 304),
            row("If-None-Match: \"two\"\nIf-None-Match: \"one\"", 304),
            row("If-None-Match: *", 304),
            row("If-None-Match: \"one", 200),
            row("If-None-Match: \"ONE\"", 200),
            row("If-None-Match: \"a,one\"", 200),
        ],
    );
    check("ETag: W/\"one\"", &[row("If-None-Match: \"one\"", 304), row("If-None-Match: W/\"one\"", 304)]);
    check("", &[row("If-None-Match: \"one\"", 200), row("If-None-Match: *", 304)]);
}

#[test]
fn if_modified_since_compares_dates() {
    let (before, then, after) = (http_date(-7_200), http_date(-3_600), http_date(-1_800));
    check(
        &format!("Last-Modified: {then}"),
        &[
            row(&format!("If-Modified-Since: {then}"), 304),
            row(&format!("If-Modified-Since: {after}"), 304),
            row(&format!("If-Modified-Since: {before}"), 200),
            row("If-Modified-Since: yesterday", 200),
            row("If-Modified-Since: 0", 200),
        ],
    );
}

#[test]
fn if_none_match_goes_before_if_modified_since() {
    let then = http_date(-3_600);
    check(
        &format!("ETag: \"one\"\nLast-Modified: {then}"),
        &[
            row(&format!("If-None-Match: \"two\"\nIf-Modified-Since: {then}"), 200),
            row(&format!("If-None-Match: \"one\"\nIf-Modified-Since: {}", http_date(-9_000)), 304),
        ],
    );
}

#[test]
fn a_304_carries_what_the_client_needs_and_no_content() {
    let (_origin, fleetfoot) = stored("ETag: \"one\"\nVary: X-A\nContent-Location: /x\nExpires: 0");
    let mut client = fleetfoot.connect();
    let answer = client.ask("GET / HTTP/1.1\r\nHost: example.test\r\nIf-None-Match: \"one\"\r\n\r\n");
    assert_eq!(answer.status, 304);
    for name in ["Cache-Control", "ETag", "Vary", "Date", "Content-Location", "Expires", "Age"] {
        assert!(answer.has(name), "{name} is missing in {answer:?}");
    }
    assert!(!answer.has("Transfer-Encoding"));
    // Nothing stands behind the head: the connection goes on.
    assert_eq!(client.ask("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n").text(), "content");
}

#[test]
fn if_match_and_if_unmodified_since_are_the_origins_business_or_right() {
    let (origin, fleetfoot) = stored("ETag: \"one\"");
    origin.on("*").answer(|request| match request.field("If-Match") {
        Some("\"one\"") | None => ok("Cache-Control: max-age=600\nETag: \"one\"", "content"),
        Some(_) => testkit::status("412 Precondition Failed", "", ""),
    });
    assert_eq!(fleetfoot.get_with("/", "If-Match: \"one\"").status, 200);
    assert_eq!(fleetfoot.get_with("/", "If-Match: \"two\"").status, 412);
    assert_eq!(fleetfoot.get("/").text(), "content");
}

#[test]
fn a_condition_on_a_miss_does_not_spoil_the_cache() {
    let origin = Origin::start();
    origin.on("*").answer(|request| match request.field("If-None-Match") {
        Some(_) => not_modified("Cache-Control: max-age=600\nETag: \"one\""),
        None => ok("Cache-Control: max-age=600\nETag: \"one\"", "content"),
    });
    let fleetfoot = cached(&origin);
    let first = fleetfoot.get_with("/", "If-None-Match: \"one\"");
    assert_eq!((first.status, first.body.len()), (304, 0));
    assert_eq!(fleetfoot.get("/").text(), "content");
}

/// What is not stored here is confirmed by the origin alone, which then need not send it.
#[test]
fn conditions_on_what_is_not_stored_reach_the_origin() {
    let rows = [
        ("learnt", "Cache-Control: no-store", "", true),
        ("with a cookie", "Cache-Control: private", "Cookie: session=1", false),
        ("with credentials", "Cache-Control: private", "Authorization: Bearer a", false),
    ];
    each(rows.map(|row| (row.0, row)), |_, (_, said, fields, is_to_be_learnt)| {
        let origin = Origin::start();
        let said = format!("{said}\nETag: \"one\"");
        origin.on("/").answer(move |request| match request.field("If-None-Match") {
            Some("\"one\"") => not_modified(&said),
            _ => ok(&said, "whole"),
        });
        let fleetfoot = cached(&origin);
        if is_to_be_learnt {
            assert_eq!(fleetfoot.get_with("/", fields).text(), "whole");
        }
        let condition = |tag: &str| format!("If-None-Match: {tag}\n{fields}").trim_end().to_owned();
        let before = origin.requests().len();
        let confirmed = fleetfoot.get_with("/", &condition("\"one\""));
        assert_eq!((confirmed.status, confirmed.text().as_str()), (304, ""));
        assert_eq!(fleetfoot.get_with("/", &condition("\"other\"")).text(), "whole");
        let asked: Vec<_> = origin.requests()[before..]
            .iter()
            .map(|request| request.field("If-None-Match").map(str::to_owned))
            .collect();
        assert_eq!(asked, [Some("\"one\"".to_owned()), Some("\"other\"".to_owned())]);
    });
}
