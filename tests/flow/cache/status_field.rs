//! `Cache-Status` (RFC 9211): what happened and why, one member of ours behind those that were there.

use testkit::{Origin, not_modified, ok};

use crate::setup::{cached, proxied};

#[test]
fn each_outcome_has_its_words() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Cache-Control: max-age=600", "x"));
    let fleetfoot = cached(&origin);
    assert_eq!(fleetfoot.get("/").cache_status(), "fleetfoot; fwd=uri-miss; stored");
    let hit = fleetfoot.get("/").cache_status();
    let ttl: i64 =
        hit.strip_prefix("fleetfoot; hit; ttl=").and_then(|ttl| ttl.parse().ok()).expect("a hit with a ttl");
    assert!((595..=600).contains(&ttl), "{hit}");
    assert!(
        fleetfoot
            .get_with("/", "Cache-Control: no-cache")
            .cache_status()
            .starts_with("fleetfoot; fwd=request")
    );
    assert!(fleetfoot.send("POST", "/", "").cache_status().starts_with("fleetfoot; fwd=method"));
}

#[test]
fn a_confirmed_answer_says_so() {
    let origin = Origin::start();
    let stale = ok("Cache-Control: max-age=90\nAge: 100\nETag: \"one\"", "x");
    origin.on("GET /").replies([stale, not_modified("Cache-Control: max-age=90")]);
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    let status = fleetfoot.get("/").cache_status();
    assert!(status.starts_with("fleetfoot; fwd=stale; fwd-status=304"), "{status}");
}

#[test]
fn a_variant_not_stored_is_a_vary_miss() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Cache-Control: max-age=600\nVary: X-A", "x"));
    let fleetfoot = cached(&origin);
    fleetfoot.get_with("/", "X-A: 1");
    assert!(fleetfoot.get_with("/", "X-A: 2").cache_status().contains("fwd=vary-miss"));
}

#[test]
fn why_an_answer_is_not_stored_is_said() {
    let origin = Origin::start();
    let fleetfoot = cached(&origin);
    for (target, fields, detail) in [
        ("/1", "Cache-Control: no-store", "no-store"),
        ("/2", "Cache-Control: private", "private"),
        ("/3", "Cache-Control: max-age=60\nSet-Cookie: a=b", "set-cookie"),
        ("/4", "Cache-Control: max-age=60\nVary: *", "vary-star"),
        ("/5", "", "no-lifetime"),
    ] {
        origin.on(target).reply(ok(fields, "x"));
        let status = fleetfoot.get(target).cache_status();
        assert!(status.contains(&format!("detail={detail}")), "{fields:?}: {status}");
    }
}

#[test]
fn what_caches_before_us_said_stays_in_front() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600\nCache-Status: inner; hit; ttl=5", "x"));
    let fleetfoot = cached(&origin);
    for _ in 0..2 {
        let status = fleetfoot.get("/").cache_status();
        assert!(status.starts_with("inner; hit; ttl=5, fleetfoot; "), "{status}");
    }
}

#[test]
fn a_route_without_a_cache_claims_nothing() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
    let status = proxied(&origin).get("/").cache_status();
    assert!(!status.contains("hit") && !status.contains("stored"), "{status}");
}
