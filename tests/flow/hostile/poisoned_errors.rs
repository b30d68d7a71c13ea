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

#[test]
fn what_is_about_one_client_or_one_moment_is_never_stored() {
    let rows = [
        "428 Precondition Required",
        "429 Too Many Requests",
        "431 Request Header Fields Too Large",
        "511 Network Authentication Required",
    ];
    for cache in ["ttl: 60s", "mode: force, ttl: 60s"] {
        let origin = Origin::start();
        let fleetfoot = cached_with(&origin, cache);
        each(rows.map(|row| (row, row)), |_, error| {
            let target = format!("/{}", &error[..3]);
            origin
                .on(&target)
                .replies([status(error, "Cache-Control: public, max-age=600", "theirs"), ok("", "well")]);
            assert!(fleetfoot.get(&target).cache_status().contains("detail=status"));
            assert_eq!(fleetfoot.get(&target).text(), "well");
        });
    }
}

#[test]
fn what_a_client_can_bring_about_is_kept_for_a_minute_whatever_it_states() {
    let rows = [
        "403 Forbidden",
        "406 Not Acceptable",
        "415 Unsupported Media Type",
        "417 Expectation Failed",
        "500 Oh",
    ];
    let origin = Origin::start();
    let fleetfoot = cached_with(&origin, "ttl: 60s, stale: 1h, if_error: 1h");
    each(rows.map(|row| (row, row)), |_, error| {
        let target = format!("/{}", &error[..3]);
        let stated = "Cache-Control: max-age=6000, stale-while-revalidate=6000, stale-if-error=6000";
        origin.on(&target).reply(status(error, stated, "provoked"));
        fleetfoot.get_with(&target, "X-Evil: 1");
        let hit = fleetfoot.get(&target);
        assert!(hit.is_hit() && hit.ttl().is_some_and(|ttl| ttl <= 60), "{hit:?}");
        // And when the minute is over, no window keeps it in use.
        let old = format!("/old{target}");
        let over = status(error, &format!("{stated}\nAge: 61"), "provoked");
        origin.on(&old).replies([over, ok("", "well")]);
        assert_eq!(fleetfoot.get_with(&old, "X-Evil: 1").text(), "provoked");
        assert_eq!(fleetfoot.get(&old).text(), "well");
    });
}
