//! What clients may say: RFC 9111 §5.2.1, honoured or, by setting, ignored.

use testkit::{Fleetfoot, Origin, ok};

use crate::setup::{cached, cached_with};

/// Something fresh for 500 more seconds and 100 old.
fn stored(cache: &str) -> (Origin, Fleetfoot) {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600\nAge: 100", "x"));
    let fleetfoot = cached_with(&origin, cache);
    fleetfoot.get("/");
    (origin, fleetfoot)
}

const ROWS: [(&str, bool); 14] = [
    ("Cache-Control: no-cache", false),
    ("Pragma: no-cache", false),
    ("Cache-Control: max-age=0", false),
    ("Cache-Control: max-age=50", false),
    ("Cache-Control: max-age=200", true),
    ("Cache-Control: min-fresh=1000", false),
    ("Cache-Control: min-fresh=100", true),
    ("Cache-Control: max-stale", true),
    ("Cache-Control: max-stale=10", true),
    ("Cache-Control: only-if-cached", true),
    ("Cache-Control: no-transform", true),
    ("Cache-Control: unknown=1", true),
    ("Pragma: no-cache\nCache-Control: max-stale", true),
    ("Pragma: other", true),
];

#[test]
fn directives_of_clients_are_honoured() {
    for (fields, hit) in ROWS {
        let (_origin, fleetfoot) = stored("ttl: origin");
        assert_eq!(fleetfoot.get_with("/", fields).is_hit(), hit, "{fields:?}");
    }
}

#[test]
fn or_by_setting_ignored() {
    for (fields, _) in ROWS {
        let (origin, fleetfoot) = stored("ttl: origin, client_directives: ignore");
        assert!(fleetfoot.get_with("/", fields).is_hit(), "{fields:?}");
        assert_eq!(origin.requests().len(), 1);
    }
}

#[test]
fn no_store_keeps_nothing_of_this_request() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
    let fleetfoot = cached(&origin);
    fleetfoot.get_with("/", "Cache-Control: no-store");
    assert!(!fleetfoot.get("/").is_hit());
}

#[test]
fn only_if_cached_never_asks_the_origin() {
    let (origin, fleetfoot) = stored("ttl: origin");
    let answer = fleetfoot.get_with("/other", "Cache-Control: only-if-cached");
    assert_eq!(answer.status, 504);
    assert_eq!(origin.requests().len(), 1);
}

#[test]
fn max_stale_takes_a_stale_answer_unless_the_origin_forbids() {
    let stale = "Cache-Control: max-age=90\nAge: 100\nETag: \"one\"";
    for (more, limit, hit) in [
        ("", "max-stale", true),
        ("", "max-stale=1000", true),
        ("", "max-stale=5", false),
        ("", "max-stale=10x", false),
        ("Cache-Control: must-revalidate", "max-stale", false),
        ("Cache-Control: proxy-revalidate", "max-stale", false),
        ("Cache-Control: s-maxage=90", "max-stale", false),
        ("Cache-Control: no-cache", "max-stale", false),
    ] {
        let origin = Origin::start();
        origin.on("*").reply(ok(&format!("{stale}\n{more}"), "x"));
        let fleetfoot = cached(&origin);
        fleetfoot.get("/");
        fleetfoot.get_with("/", &format!("Cache-Control: {limit}"));
        assert_eq!(origin.requests().len(), if hit { 1 } else { 2 }, "{more:?} {limit}");
    }
}

#[test]
fn a_reload_refreshes_the_cache_for_all() {
    let origin = Origin::start();
    let fields = "Cache-Control: max-age=600";
    origin.on("*").replies([ok(fields, "old"), ok(fields, "new")]);
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    assert_eq!(fleetfoot.get_with("/", "Cache-Control: no-cache").text(), "new");
    let hit = fleetfoot.get("/");
    assert!(hit.is_hit() && hit.text() == "new", "{hit:?}");
}
