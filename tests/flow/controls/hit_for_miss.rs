//! Keys whose answers are not for sharing: remembered, so that nobody waits there for anybody, and forgotten as soon as
//! an answer is for sharing again.

use testkit::{Fleetfoot, Gate, Origin, Script, ok, status};

use super::ways::{Way, each_way};
use crate::setup::{cached, cached_with, each};

/// Asks this often at the same time; the answers are let go once all of them are at the origin.
fn all_at_once(way: Way, origin: &Origin, fleetfoot: &Fleetfoot, answer: &Script, count: usize) {
    let gate = Gate::new();
    let before = origin.count("GET /");
    origin.on("GET /").reply(Script::new().wait(&gate).then(answer.clone()));
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..count).map(|_| scope.spawn(|| way.get(fleetfoot, "/", "").text())).collect();
        origin.wait_for(before + count, "GET /");
        gate.open();
        assert!(asking.into_iter().all(|answer| answer.join().expect("an answer") == "x"));
    });
}

#[test]
fn whatever_is_not_for_sharing_is_asked_for_all_at_once() {
    let rows = [
        ("no-store", "ttl: origin", ok("Cache-Control: no-store", "x")),
        ("private", "ttl: origin", ok("Cache-Control: private, max-age=600", "x")),
        ("without a lifetime", "ttl: origin", ok("", "x")),
        ("with a cookie", "ttl: 1m", ok("Set-Cookie: a=b", "x")),
        ("Vary: *", "ttl: 1m", ok("Vary: *", "x")),
        ("of a status not named", "ttl: 1m", status("403 Forbidden", "", "x")),
        ("not static", "mode: static, ttl: 1m", ok("Content-Type: text/html", "x")),
    ];
    each_way(|way| {
        each(rows.iter().map(|row| (row.0, row)), |_, (_, cache, answer)| {
            let origin = Origin::start();
            origin.on("GET /").reply(answer.clone());
            let fleetfoot = cached_with(&origin, cache);
            way.get(&fleetfoot, "/", "");
            all_at_once(way, &origin, &fleetfoot, answer, 10);
            // And again: what those brought is remembered as well.
            all_at_once(way, &origin, &fleetfoot, answer, 5);
        });
    });
}

#[test]
fn a_key_is_cached_again_as_soon_as_its_answers_may_be() {
    each_way(|way| {
        let origin = Origin::start();
        let shared = ok("Cache-Control: max-age=600", "shared");
        origin.on("GET /").replies([ok("Cache-Control: no-store", "x"), shared]);
        let fleetfoot = cached(&origin);
        assert!(!way.get(&fleetfoot, "/", "").is_hit());
        let second = way.get(&fleetfoot, "/", "");
        assert!(second.cache_status().contains("stored"), "{second:?}");
        for _ in 0..3 {
            let answer = way.get(&fleetfoot, "/", "");
            assert!(answer.is_hit() && answer.text() == "shared", "{answer:?}");
        }
        assert_eq!(origin.count("GET /"), 2);
    });
}

#[test]
fn a_stored_answer_gives_way_to_one_that_is_not_for_sharing() {
    each_way(|way| {
        let origin = Origin::start();
        let old = ok("Cache-Control: max-age=90\nAge: 100\nETag: \"one\"", "old");
        origin.on("GET /").replies([old, ok("Cache-Control: no-store", "x")]);
        let fleetfoot = cached(&origin);
        way.get(&fleetfoot, "/", "");
        assert_eq!(way.get(&fleetfoot, "/", "").text(), "x");
        all_at_once(way, &origin, &fleetfoot, &ok("Cache-Control: no-store", "x"), 5);
    });
}

#[test]
fn another_key_is_another_matter() {
    each_way(|way| {
        let origin = Origin::start();
        origin.on("/").reply(ok("Cache-Control: no-store", "x"));
        origin.on("/?a").reply(ok("Cache-Control: max-age=600", "y"));
        let fleetfoot = cached(&origin);
        way.get(&fleetfoot, "/", "");
        way.get(&fleetfoot, "/?a", "");
        assert!(way.get(&fleetfoot, "/?a", "").is_hit());
    });
}

#[test]
fn one_users_request_does_not_make_a_key_uncacheable_for_all() {
    each_way(|way| {
        let origin = Origin::start();
        origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
        let fleetfoot = cached(&origin);
        for fields in ["Cookie: a=b", "Authorization: Bearer a", "Cache-Control: no-store"] {
            way.get(&fleetfoot, "/", fields);
        }
        let gate = Gate::new();
        origin.on("*").reply(Script::new().wait(&gate).then(ok("Cache-Control: max-age=600", "x")));
        let before = origin.count("GET /");
        std::thread::scope(|scope| {
            let asking: Vec<_> = (0..10).map(|_| scope.spawn(|| way.get(&fleetfoot, "/", ""))).collect();
            origin.wait_for(before + 1, "GET /");
            gate.open();
            assert!(asking.into_iter().all(|answer| answer.join().expect("an answer").text() == "x"));
        });
        assert_eq!(origin.count("GET /"), before + 1, "they still share one fetch");
    });
}
