//! `cache_status` and `location`: how answers say what the cache did, down to the words of the two transcripts that this
//! product began with.

use std::collections::BTreeSet;

use testkit::{Answer, Fleetfoot, Origin, Script, not_modified, ok, status};

use super::ways::{Asked, Way, each_way};
use crate::setup::{cached_with, config_with};

/// The API of the transcripts: its root may not be stored, `/cache` may for five seconds.
fn demo() -> Origin {
    let origin = Origin::start();
    let json = "Content-Type: application/json";
    origin.on("/").reply(ok(&format!("{json}\nCache-Control: no-store"), "{\"result\":\"ok\"}"));
    origin
        .on("/cache")
        .reply(ok(&format!("{json}\nCache-Control: public, max-age=5"), "{\"result\":\"ok\"}"));
    origin
}

/// In front of it, as the transcripts' CDN was set up: words, a bypass by field, and the name of its location.
fn transcribed(origin: &Origin) -> Fleetfoot {
    let cache = "ttl: origin, cache_status: word, bypass: Bypass-Cache";
    Fleetfoot::start(&config_with(origin.address(), cache, "location: KUL"))
}

/// These fields, each once, and besides them only what every answer has.
fn check_fields(answer: &Answer, expected: &[(&str, &str)]) {
    assert_eq!((answer.status, answer.text().as_str()), (200, "{\"result\":\"ok\"}"));
    for (name, value) in expected {
        assert_eq!(answer.head.all(name).collect::<Vec<_>>(), [*value], "{name} in {answer:?}");
    }
    check_id(answer, "KUL");
    let ours = ["cache-id", "date", "x-request-id", "age"];
    let known =
        |name: &str| ours.contains(&name) || expected.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    for (name, _) in &answer.head.fields {
        assert!(known(&name.to_ascii_lowercase()), "{name} in {answer:?}");
    }
}

/// `<location>-<8 hex>`, once; gives it.
fn check_id(answer: &Answer, location: &str) -> String {
    let ids: Vec<&str> = answer.head.all("Cache-ID").collect();
    assert_eq!(ids.len(), 1, "not one Cache-ID in {answer:?}");
    let id = ids[0];
    let digits = id.strip_prefix(location).and_then(|rest| rest.strip_prefix('-')).expect(id);
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    assert!(digits.len() == 8 && digits.bytes().all(is_hex), "{id}");
    id.to_owned()
}

#[test]
fn the_first_transcript_a_miss_where_nothing_may_be_stored() {
    each_way(|way| {
        let origin = demo();
        let fleetfoot = transcribed(&origin);
        for _ in 0..3 {
            check_fields(
                &way.get(&fleetfoot, "/", ""),
                &[
                    ("Content-Type", "application/json"),
                    ("Content-Length", "15"),
                    ("Cache-Control", "no-store"),
                    ("Cache-Status", "miss"),
                ],
            );
        }
        assert_eq!(origin.count("GET /"), 3);
    });
}

#[test]
fn the_second_transcript_uncacheable_with_the_field_and_a_hit_without() {
    each_way(|way| {
        let origin = demo();
        let fleetfoot = transcribed(&origin);
        let with = |word| {
            [
                ("Content-Type", "application/json"),
                ("Content-Length", "15"),
                ("Cache-Control", "public, max-age=5"),
                ("Cache-Status", word),
            ]
        };
        for _ in 0..2 {
            check_fields(&way.get(&fleetfoot, "/cache", "Bypass-Cache: 1"), &with("uncacheable"));
        }
        check_fields(&way.get(&fleetfoot, "/cache", ""), &with("miss"));
        check_fields(&way.get(&fleetfoot, "/cache", ""), &with("hit"));
        check_fields(&way.get(&fleetfoot, "/cache", "Bypass-Cache: 1"), &with("uncacheable"));
        check_fields(&way.get(&fleetfoot, "/cache", ""), &with("hit"));
    });
}

fn word(answer: &Answer) -> String {
    answer.head.all("Cache-Status").collect::<Vec<_>>().join(", ")
}

#[test]
fn each_outcome_has_its_word() {
    each_way(|way| {
        let origin = Origin::start();
        let cache = "ttl: origin, cache_status: word, if_error: 1h, skip_for: { cookie: session }";
        let fleetfoot = cached_with(&origin, cache);
        let old = "Cache-Control: max-age=90\nAge: 100\nETag: \"one\"";
        let fresh = not_modified("Cache-Control: max-age=600\nETag: \"one\"");
        origin.on("/confirmed").replies([ok(old, "x"), fresh]);
        origin.on("/replaced").replies([ok(old, "x"), ok("Cache-Control: max-age=600", "y")]);
        origin.on("/failing").replies([ok(old, "x"), status("503 Service Unavailable", "", "busy")]);
        origin.on("/behind").reply(ok(&format!("{old}\nCache-Control: stale-while-revalidate=600"), "x"));
        origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
        for (target, words) in [
            ("/", ["miss", "hit", "hit"]),
            ("/confirmed", ["miss", "revalidated", "hit"]),
            ("/replaced", ["miss", "miss", "hit"]),
            ("/failing", ["miss", "stale", "stale"]),
        ] {
            assert_eq!(words.map(|_| word(&way.get(&fleetfoot, target, ""))), words, "{target}");
        }
        assert_eq!(word(&way.get(&fleetfoot, "/behind", "")), "miss");
        assert_eq!(word(&way.get(&fleetfoot, "/behind", "")), "stale");
        for (method, fields, expected) in [
            ("POST", "", "uncacheable"),
            ("OPTIONS", "", "uncacheable"),
            ("HEAD", "", "hit"),
            ("GET", "Cookie: session=1", "uncacheable"),
            ("GET", "If-Match: \"one\"", "uncacheable"),
            ("GET", "Cache-Control: no-store", "hit"),
        ] {
            let answer = way.ask(&fleetfoot, &Asked { method, ..Asked::get("/words", fields) });
            if expected == "hit" {
                assert_eq!(word(&way.get(&fleetfoot, "/", fields)), expected, "{method} {fields}");
            } else {
                assert_eq!(word(&answer), expected, "{method} {fields}");
            }
        }
    });
}

#[test]
fn one_core_has_one_id_and_each_core_its_own() {
    let origin = demo();
    let one = transcribed(&origin);
    let ids: BTreeSet<String> = (0..10)
        .map(|n| {
            check_id(&Way::get(if n % 2 == 0 { Way::Http1 } else { Way::Http2 }, &one, "/cache", ""), "KUL")
        })
        .collect();
    assert_eq!(ids.len(), 1, "hits, misses and protocols alike: {ids:?}");
    let other = transcribed(&origin);
    assert!(!ids.contains(&check_id(&other.get("/cache"), "KUL")), "another process is another cache");

    let config =
        config_with(origin.address(), "ttl: origin, cache_status: word", "").replace("cores: 1", "cores: 4");
    let fleetfoot = Fleetfoot::start(&config);
    let mut ids = BTreeSet::new();
    for _ in 0..200 {
        ids.insert(check_id(&fleetfoot.get("/cache"), "LOCAL"));
    }
    assert!((1..=4).contains(&ids.len()), "{ids:?}");
    let mut kept = fleetfoot.connect();
    let on_one: BTreeSet<String> = (0..10)
        .map(|_| check_id(&kept.ask("GET /cache HTTP/1.1\r\nHost: example.test\r\n\r\n"), "LOCAL"))
        .collect();
    assert_eq!(on_one.len(), 1, "a connection stays with its core");
}

#[test]
fn a_word_stands_alone_whatever_the_origin_says() {
    each_way(|way| {
        let origin = Origin::start();
        let theirs = "Cache-Control: max-age=600\nCache-Status: inner; hit\nCache-ID: SFO-00000000";
        origin.on("*").reply(ok(theirs, "x"));
        let fleetfoot = cached_with(&origin, "ttl: origin, cache_status: word");
        for expected in ["miss", "hit", "hit"] {
            let answer = way.get(&fleetfoot, "/", "");
            assert_eq!(word(&answer), expected);
            check_id(&answer, "LOCAL");
        }
    });
}

#[test]
fn off_says_nothing_and_changes_nothing() {
    each_way(|way| {
        let origin = Origin::start();
        // Not even what a cache before us said.
        let theirs = "Cache-Control: max-age=600\nCache-Status: inner; hit\nCache-ID: SFO-00000000";
        origin.on("*").reply(ok(theirs, "x"));
        let fleetfoot = cached_with(&origin, "ttl: origin, cache_status: off");
        for _ in 0..3 {
            let answer = way.get(&fleetfoot, "/", "");
            assert!(!answer.has("Cache-Status") && !answer.has("Cache-ID"), "{answer:?}");
        }
        assert_eq!(origin.count("GET /"), 1);
    });
}

#[test]
fn the_field_needs_no_id() {
    each_way(|way| {
        let origin = Origin::start();
        origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
        let fleetfoot = cached_with(&origin, "ttl: origin, cache_status: field");
        assert_eq!(way.get(&fleetfoot, "/", "").cache_status(), "fleetfoot; fwd=uri-miss; stored");
        let hit = way.get(&fleetfoot, "/", "");
        assert!(hit.cache_status().starts_with("fleetfoot; hit; ttl="), "{hit:?}");
        assert!(!hit.has("Cache-ID"));
    });
}

#[test]
fn whatever_is_no_fresh_hit_has_an_id_to_ask_about() {
    each_way(|way| {
        let origin = Origin::start();
        origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
        origin.on("/gone").reply(Script::new().close());
        let fleetfoot = cached_with(&origin, "ttl: origin, bypass: Bypass-Cache");
        for (target, fields) in [("/", ""), ("/", "Bypass-Cache: 1"), ("/gone", "")] {
            let own = way.get(&fleetfoot, target, fields);
            let id = own.field("X-Request-Id").unwrap_or_else(|| panic!("no id in {own:?}"));
            assert!(id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        }
        for (sent, is_kept) in
            [("client-1.2_3", true), ("no spaces", false), (&*"x".repeat(65), false), ("a\"b", false)]
        {
            let answer = way.get(&fleetfoot, "/", &format!("Bypass-Cache: 1\nX-Request-Id: {sent}"));
            assert_eq!(answer.field("X-Request-Id") == Some(sent), is_kept, "{sent}: {answer:?}");
        }
    });
}
