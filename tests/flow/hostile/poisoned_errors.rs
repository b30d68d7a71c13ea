//! THREATS E: an error provoked by one client does not become everybody's answer.

use testkit::{Origin, not_modified, ok, status};

use crate::setup::{cached, cached_with, each};

const ERRORS: [&str; 10] = [
    "400 Bad Request",
    "405 Method Not Allowed",
    "413 Content Too Large",
    "414 URI Too Long",
    "431 Request Header Fields Too Large",
    "500 Internal Server Error",
    "502 Bad Gateway",
    "503 Service Unavailable",
    "504 Gateway Timeout",
    "429 Too Many Requests",
];

#[test]
fn errors_without_a_lifetime_of_their_own_are_not_stored() {
    let origin = Origin::start();
    // Even where the route gives a lifetime to answers that state none, and heuristics are on.
    let fleetfoot = cached_with(&origin, "ttl: 60s, heuristic: 10%");
    each(ERRORS.map(|error| (error, error)), |_, error| {
        let target = format!("/{}", &error[..3]);
        let fields = "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT";
        origin.on(&target).replies([status(error, fields, "provoked"), ok("", "well")]);
        assert_eq!(fleetfoot.get_with(&target, "X-Evil: 1").text(), "provoked");
        assert_eq!(fleetfoot.get(&target).text(), "well");
    });
}

#[test]
fn a_304_with_another_validator_confirms_nothing() {
    let origin = Origin::start();
    let old = ok("Cache-Control: max-age=60\nAge: 100\nETag: \"one\"", "first");
    let wrong = not_modified("Cache-Control: max-age=600\nETag: \"two\"");
    origin.on("GET /").replies([old, wrong, ok("Cache-Control: max-age=600\nETag: \"two\"", "second")]);
    let fleetfoot = cached(&origin);
    assert_eq!(fleetfoot.get("/").text(), "first");
    assert_eq!(fleetfoot.get("/").text(), "second");
    assert_eq!(fleetfoot.get("/").text(), "second");
}

#[test]
fn a_304_nobody_asked_for_is_not_an_answer() {
    let origin = Origin::start();
    origin
        .on("GET /")
        .replies([not_modified("Cache-Control: max-age=600"), ok("Cache-Control: max-age=600", "whole")]);
    let fleetfoot = cached(&origin);
    let first = fleetfoot.get("/");
    assert!(matches!(first.status, 200 | 304 | 502), "{first:?}");
    assert_eq!(fleetfoot.get("/").text(), "whole");
}

#[test]
fn our_own_errors_are_never_stored() {
    let origin = Origin::start();
    origin.on("GET /").replies([
        testkit::Script::from("garbage\r\n\r\n").close(),
        ok("Cache-Control: max-age=600", "well"),
    ]);
    let fleetfoot = cached_with(&origin, "ttl: 60s");
    let failed = fleetfoot.get("/");
    assert_eq!((failed.status, failed.field("Cache-Control")), (502, Some("no-store")));
    assert_eq!(fleetfoot.get("/").text(), "well");
}
