//! Soft and hard: what a soft purge makes stale may still be served where the stale rules allow it, and be confirmed by a
//! 304; what a hard one took is gone.

use serde_json::json;
use testkit::{Fleetfoot, Gate, Origin, Script, not_modified, ok};

use super::port::purge;
use crate::setup::cached_with;

fn soft(fleetfoot: &Fleetfoot, is_soft: bool) {
    let done = purge(fleetfoot, &json!({"url": "http://example.test/", "soft": is_soft}));
    assert_eq!(done["soft"], json!(is_soft));
}

#[test]
fn a_soft_purge_serves_the_old_while_the_new_is_fetched() {
    let (origin, gate) = (Origin::start(), Gate::new());
    let new = Script::new().wait(&gate).then(ok("Cache-Control: max-age=600", "new"));
    origin.on("GET /").replies([ok("Cache-Control: max-age=600", "old"), new]);
    let mut fleetfoot = cached_with(&origin, "ttl: origin, stale: 1h");
    fleetfoot.get("/");
    soft(&fleetfoot, true);
    let stale = fleetfoot.get("/");
    assert_eq!(stale.text(), "old");
    assert!(stale.cache_status().contains("ttl=-") || stale.cache_status().contains("ttl=0"), "{stale:?}");
    gate.open();
    fleetfoot.wait_until("fetched anew", |fleetfoot| fleetfoot.get("/").text() == "new");
    assert_eq!(origin.count("GET /"), 2);
}

#[test]
fn a_soft_purge_without_stale_rules_asks_first() {
    let origin = Origin::start();
    let fields = "Cache-Control: max-age=600\nETag: \"1\"";
    origin.on("GET /").replies([ok(fields, "kept"), not_modified(fields)]);
    let fleetfoot = cached_with(&origin, "ttl: origin");
    fleetfoot.get("/");
    soft(&fleetfoot, true);
    let confirmed = fleetfoot.get("/");
    assert_eq!(confirmed.text(), "kept");
    assert!(confirmed.cache_status().contains("fwd=stale"), "{confirmed:?}");
    assert_eq!(origin.last("GET /").field("If-None-Match"), Some("\"1\""));
    assert!(fleetfoot.get("/").is_hit(), "confirmed is fresh again");
    assert_eq!(origin.count("GET /"), 2);
}

#[test]
fn a_hard_purge_asks_as_if_nothing_had_ever_been_stored() {
    let origin = Origin::start();
    let fields = "Cache-Control: max-age=600, stale-while-revalidate=600, stale-if-error=600\nETag: \"1\"";
    origin.on("GET /").replies([ok(fields, "old"), ok(fields, "new")]);
    let fleetfoot = cached_with(&origin, "ttl: origin, stale: 1h, if_error: 1h");
    fleetfoot.get("/");
    soft(&fleetfoot, false);
    let fresh = fleetfoot.get("/");
    assert_eq!(fresh.text(), "new");
    assert!(fresh.cache_status().contains("fwd=uri-miss"), "{fresh:?}");
    assert_eq!(origin.last("GET /").field("If-None-Match"), None);
}

#[test]
fn while_the_origin_fails_soft_is_served_and_hard_is_not() {
    for is_soft in [true, false] {
        let origin = Origin::start();
        origin.on("GET /").replies([
            ok("Cache-Control: max-age=600", "old"),
            testkit::status("503 Service Unavailable", "", "down"),
        ]);
        let fleetfoot = cached_with(&origin, "ttl: origin, if_error: 1h");
        fleetfoot.get("/");
        soft(&fleetfoot, is_soft);
        for _ in 0..3 {
            let answer = fleetfoot.get("/");
            let expected = if is_soft { (200, "old") } else { (503, "down") };
            assert_eq!((answer.status, answer.text().as_str()), expected);
        }
    }
}

#[test]
fn hard_after_soft_is_gone_and_soft_after_hard_brings_nothing_back() {
    for order in [[true, false], [false, true]] {
        let origin = Origin::start();
        origin
            .on("GET /")
            .replies([ok("Cache-Control: max-age=600", "old"), ok("Cache-Control: max-age=600", "new")]);
        let fleetfoot = cached_with(&origin, "ttl: origin, stale: 1h");
        fleetfoot.get("/");
        for is_soft in order {
            soft(&fleetfoot, is_soft);
        }
        assert_eq!(fleetfoot.get("/").text(), "new", "{order:?}");
    }
}

#[test]
fn an_answer_on_its_way_during_a_soft_purge_counts_as_stale() {
    let (origin, gate) = (Origin::start(), Gate::new());
    let fields = "Cache-Control: max-age=600\nETag: \"1\"";
    origin.on("GET /").replies([Script::new().wait(&gate).then(ok(fields, "old")), ok(fields, "new")]);
    let fleetfoot = cached_with(&origin, "ttl: origin");
    let mut before = fleetfoot.connect();
    before.send("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n");
    origin.wait_for(1, "GET /");
    soft(&fleetfoot, true);
    gate.open();
    assert_eq!(before.read_answer().text(), "old");
    assert_eq!(fleetfoot.get("/").text(), "new");
}
