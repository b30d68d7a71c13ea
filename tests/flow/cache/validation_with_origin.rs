//! Asking the origin whether a stale answer still holds: RFC 9111 §4.3, and what a 304 changes (§3.2, §4.3.4).

use testkit::{Origin, http_date, not_modified, ok, status};

use crate::setup::cached;

/// Stale on arrival.
const STALE: &str = "Cache-Control: max-age=90\nAge: 100";

#[test]
fn a_stale_answer_is_confirmed_by_its_etag() {
    let origin = Origin::start();
    let stale = ok(&format!("{STALE}\nETag: \"one\""), "kept");
    origin.on("GET /").replies([stale, not_modified("Cache-Control: max-age=600\nETag: \"one\"")]);
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    let confirmed = fleetfoot.get("/");
    assert_eq!((confirmed.status, confirmed.text().as_str()), (200, "kept"));
    assert!(
        confirmed.cache_status().contains("fwd=stale") && confirmed.cache_status().contains("fwd-status=304")
    );
    assert_eq!(origin.last("GET /").field("If-None-Match"), Some("\"one\""));
    let hit = fleetfoot.get("/");
    assert!(hit.is_hit() && hit.text() == "kept", "{hit:?}");
    assert_eq!(hit.field("Cache-Control"), Some("max-age=600"), "the 304 says how long from now");
    assert!(hit.age().is_some_and(|age| age < 50), "the age begins anew: {hit:?}");
}

#[test]
fn a_stale_answer_is_confirmed_by_its_date() {
    let origin = Origin::start();
    let modified = http_date(-100_000);
    let stale = ok(&format!("{STALE}\nLast-Modified: {modified}"), "kept");
    origin.on("GET /").replies([stale, not_modified("Cache-Control: max-age=600")]);
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    assert_eq!(fleetfoot.get("/").text(), "kept");
    assert_eq!(origin.last("GET /").field("If-Modified-Since"), Some(modified.as_str()));
    assert!(fleetfoot.get("/").is_hit());
}

#[test]
fn a_304_updates_the_stored_fields() {
    let origin = Origin::start();
    let stale =
        ok(&format!("{STALE}\nETag: \"one\"\nX-Changed: old\nX-Stays: 1\nContent-Type: text/x"), "kept");
    let confirmed = not_modified(
        "Cache-Control: max-age=600\nETag: \"one\"\nX-Changed: new\nX-Added: 2\nContent-Length: 99\n\
         Content-Encoding: gzip\nContent-Range: bytes 0-1/2\nConnection: X-Hop\nX-Hop: 1",
    );
    origin.on("GET /").replies([stale, confirmed]);
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    for _ in 0..2 {
        let answer = fleetfoot.get("/");
        assert_eq!(answer.text(), "kept");
        assert_eq!((answer.joined("X-Changed"), answer.joined("X-Stays")), ("new".into(), "1".into()));
        assert_eq!((answer.joined("X-Added"), answer.joined("Content-Type")), ("2".into(), "text/x".into()));
        assert_eq!(answer.field("Content-Length"), Some("4"));
        assert!(
            !answer.has("Content-Encoding") && !answer.has("Content-Range") && !answer.has("X-Hop"),
            "{answer:?}"
        );
    }
}

#[test]
fn a_changed_answer_replaces_the_stale_one() {
    let origin = Origin::start();
    let stale = ok(&format!("{STALE}\nETag: \"one\"\nX-Old: 1"), "old");
    origin.on("GET /").replies([stale, ok("Cache-Control: max-age=600\nETag: \"two\"", "new")]);
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    let replaced = fleetfoot.get("/");
    assert_eq!((replaced.text().as_str(), replaced.has("X-Old")), ("new", false));
    let hit = fleetfoot.get("/");
    assert!(hit.is_hit() && hit.text() == "new", "{hit:?}");
}

#[test]
fn without_a_validator_the_answer_is_fetched_anew() {
    let origin = Origin::start();
    origin.on("GET /").replies([ok(STALE, "old"), ok("Cache-Control: max-age=600", "new")]);
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    assert_eq!(fleetfoot.get("/").text(), "new");
    let second = origin.last("GET /");
    assert_eq!((second.field("If-None-Match"), second.field("If-Modified-Since")), (None, None));
}

#[test]
fn a_weak_etag_confirms_too() {
    let origin = Origin::start();
    let stale = ok(&format!("{STALE}\nETag: W/\"one\""), "kept");
    origin.on("GET /").replies([stale, not_modified("Cache-Control: max-age=600\nETag: W/\"one\"")]);
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    assert_eq!(fleetfoot.get("/").text(), "kept");
    assert_eq!(origin.last("GET /").field("If-None-Match"), Some("W/\"one\""));
    assert!(fleetfoot.get("/").is_hit());
}

#[test]
fn the_clients_own_condition_is_answered_after_ours() {
    let origin = Origin::start();
    let stale = ok(&format!("{STALE}\nETag: \"one\""), "kept");
    origin.on("GET /").replies([stale, not_modified("Cache-Control: max-age=600\nETag: \"one\"")]);
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    let answer = fleetfoot.get_with("/", "If-None-Match: \"one\"");
    assert_eq!((answer.status, answer.body.len()), (304, 0));
    let other = fleetfoot.get_with("/", "If-None-Match: \"two\"");
    assert_eq!((other.status, other.text().as_str()), (200, "kept"));
}

#[test]
fn every_variant_is_validated_by_its_own_etag() {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let variant = request.field("X-A").unwrap_or_default().to_owned();
        let etag = format!("\"{variant}\"");
        if request.field("If-None-Match").is_some_and(|etags| etags.contains(&etag)) {
            return not_modified(&format!("Cache-Control: max-age=600\nVary: X-A\nETag: {etag}"));
        }
        ok(&format!("{STALE}\nVary: X-A\nETag: {etag}"), variant)
    });
    let fleetfoot = cached(&origin);
    for _ in 0..3 {
        for variant in ["a", "b"] {
            assert_eq!(fleetfoot.get_with("/", &format!("X-A: {variant}")).text(), variant);
        }
    }
    assert_eq!(origin.requests().len(), 4);
}

#[test]
fn an_error_instead_of_a_confirmation_is_passed_on() {
    let origin = Origin::start();
    let stale = ok(&format!("{STALE}\nCache-Control: must-revalidate\nETag: \"one\""), "kept");
    let gone = status("410 Gone", "Cache-Control: max-age=600", "gone");
    origin.on("GET /").replies([stale, gone]);
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    assert_eq!(fleetfoot.get("/").status, 410);
    let hit = fleetfoot.get("/");
    assert!(hit.status == 410 && hit.is_hit(), "{hit:?}");
}
