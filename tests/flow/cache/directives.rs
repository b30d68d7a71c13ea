//! What origins may say: RFC 9111 §5.2.2, each with its effect on storing and reusing.

use testkit::{Origin, not_modified, ok, status};

use crate::setup::{cached, cached_with, each};

#[test]
fn directives_that_forbid_storing() {
    let rows = [
        "Cache-Control: no-store, max-age=600",
        "Cache-Control: max-age=600, NO-STORE",
        "Cache-Control: max-age=600\nCache-Control: no-store",
        "Cache-Control: private, max-age=600",
        "Cache-Control: private=, max-age=600",
    ];
    each(rows.map(|fields| (fields, fields)), |_, fields| {
        let origin = Origin::start();
        origin.on("*").reply(ok(fields, "x"));
        let fleetfoot = cached_with(&origin, "ttl: 60s");
        fleetfoot.get("/");
        let second = fleetfoot.get("/");
        assert!(!second.is_hit() && !second.cache_status().contains("stored"), "{second:?}");
        assert_eq!(origin.requests().len(), 2);
    });
}

#[test]
fn no_cache_is_stored_but_asked_about_every_time() {
    let origin = Origin::start();
    let fields = "Cache-Control: no-cache, max-age=600\nETag: \"one\"";
    origin.on("*").replies([ok(fields, "kept"), not_modified(fields)]);
    let fleetfoot = cached(&origin);
    for _ in 0..3 {
        assert_eq!(fleetfoot.get("/").text(), "kept");
    }
    assert_eq!(origin.requests().len(), 3);
    assert_eq!(origin.last("GET /").field("If-None-Match"), Some("\"one\""));
}

#[test]
fn pragma_of_an_answer_means_nothing() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Pragma: no-cache\nCache-Control: max-age=600", "x"));
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    assert!(fleetfoot.get("/").is_hit());
}

#[test]
fn must_understand_overrides_no_store_for_statuses_we_know() {
    let origin = Origin::start();
    let fields = "Cache-Control: must-understand, no-store, max-age=600";
    origin.on("/known").reply(ok(fields, "x"));
    origin.on("/unknown").reply(status("299 Odd", fields, "x"));
    origin.on("/unknown-alone").reply(status("299 Odd", "Cache-Control: must-understand, max-age=600", "x"));
    let fleetfoot = cached(&origin);
    for (target, kept) in [("/known", true), ("/unknown", false), ("/unknown-alone", false)] {
        fleetfoot.get(target);
        assert_eq!(fleetfoot.get(target).is_hit(), kept, "{target}");
    }
}

#[test]
fn set_cookie_is_not_stored_unless_switched_on() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600\nSet-Cookie: a=b", "x"));
    let fleetfoot = cached(&origin);
    assert_eq!(fleetfoot.get("/").field("Set-Cookie"), Some("a=b"));
    let second = fleetfoot.get("/");
    assert!(!second.is_hit() && second.has("Set-Cookie"));
    let fleetfoot = cached_with(&origin, "ttl: origin, store_set_cookie: true");
    fleetfoot.get("/");
    let second = fleetfoot.get("/");
    assert!(second.is_hit() && second.has("Set-Cookie"), "{second:?}");
}

#[test]
fn odd_spellings_are_read_as_the_rfc_says() {
    for (fields, kept) in [
        ("Cache-Control: max-age=\"600\"", true),
        ("Cache-Control: no-store=\"x\", max-age=600", false),
        ("Cache-Control: x=\"no-store\", max-age=600", true),
        ("Cache-Control: x=\"a\\\"b, no-store\", max-age=600", true),
        ("Cache-Control: nno-store, max-age=600", true),
        ("Cache-Control: no_store, max-age=600", true),
        ("Cache-Control: max-age=600;no-store", false),
        ("Cache-Control: max-age=600 no-store", false),
        // Not a directive, but a word that forbids: rather once too often to the origin.
        ("Cache-Control: \"no-store\", max-age=600", false),
    ] {
        let origin = Origin::start();
        origin.on("*").reply(ok(fields, "x"));
        let fleetfoot = cached(&origin);
        fleetfoot.get("/");
        assert_eq!(fleetfoot.get("/").is_hit(), kept, "{fields:?}");
    }
}
