//! What each way of purging forgets, and what it leaves: URL, prefix, host, tag, everything.

use serde_json::{Value, json};
use testkit::{Fleetfoot, Origin, ok};

use super::port::{counting, post, purge, read, visit};
use crate::setup::{cached, cached_with, each};

const STORED: [&str; 9] = [
    "http://one.test/news",
    "http://one.test/news?page=2",
    "http://one.test/news/today",
    "http://one.test/news/today?page=2",
    "http://one.test/newspaper",
    "http://one.test/",
    "http://two.test/news",
    "http://two.test/news/today",
    "http://two.test:8080/news",
];

/// Purges so, and gives the numbers of those that are gone.
fn gone(call: &Value) -> Vec<usize> {
    let origin = counting("");
    let fleetfoot = cached(&origin);
    for url in STORED {
        visit(&fleetfoot, url, "");
        assert!(visit(&fleetfoot, url, "").is_hit(), "{url}");
    }
    let done = purge(&fleetfoot, call);
    assert_eq!(
        (&done["in_force"], &done["soft"], &done["refreshing"]),
        (&json!(true), &json!(false), &json!(0))
    );
    (0..STORED.len()).filter(|&number| !visit(&fleetfoot, STORED[number], "").is_hit()).collect()
}

#[test]
fn a_purge_forgets_what_it_names_and_nothing_else() {
    let rows = [
        (json!({"url": "http://one.test/news"}), vec![0, 1]),
        (json!({"url": "http://ONE.test:80/news?any"}), vec![0, 1]),
        (json!({"url": "http://one.test/news", "exact": true}), vec![0]),
        (json!({"url": "http://one.test/news?page=2", "exact": true}), vec![1]),
        (json!({"url": "http://one.test/news?page=3", "exact": true}), vec![]),
        (json!({"url": "http://one.test"}), vec![5]),
        (json!({"url": "http://two.test:8080/news"}), vec![8]),
        (json!({"url": "http://nobody.test/news"}), vec![]),
        (json!({"prefix": "http://one.test/news"}), vec![0, 1, 2, 3, 4]),
        (json!({"prefix": "http://one.test/news/"}), vec![2, 3]),
        (json!({"prefix": "/news/"}), vec![2, 3, 7]),
        (json!({"prefix": "/"}), (0..9).collect()),
        (json!({"host": "two.test"}), vec![6, 7]),
        (json!({"host": "TWO.test:8080"}), vec![8]),
        (json!({"host": "two.tes"}), vec![]),
        (json!({"everything": true}), (0..9).collect()),
    ];
    each(rows.map(|(call, expected)| (call.to_string(), (call, expected))), |_, (call, expected)| {
        assert_eq!(gone(&call), expected);
    });
}

#[test]
fn a_url_takes_all_its_variants() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600\nVary: Accept-Language", "x"));
    let fleetfoot = cached(&origin);
    let languages = ["Accept-Language: en", "Accept-Language: de", ""];
    for exact in [false, true] {
        for fields in languages {
            fleetfoot.get_with("/", fields);
            assert!(fleetfoot.get_with("/", fields).is_hit(), "{fields}");
        }
        purge(&fleetfoot, &json!({"url": "http://example.test/", "exact": exact}));
        for fields in languages {
            assert!(!fleetfoot.get_with("/", fields).is_hit(), "{fields}");
        }
    }
}

#[test]
fn an_exact_url_is_understood_as_its_route_keys_it() {
    let origin = counting("");
    let fleetfoot = cached_with(&origin, "ttl: origin, key: { query: { except: [utm_*] }, sort: true }");
    for exact in ["/?b=2&a=1&utm_source=x", "/?a=1&b=2", "/?utm_source=y&a=1&b=2"] {
        fleetfoot.get("/?a=1&b=2&utm_source=mail");
        fleetfoot.get("/?a=1");
        purge(&fleetfoot, &json!({"url": format!("http://example.test{exact}"), "exact": true}));
        assert!(!fleetfoot.get("/?b=2&a=1").is_hit(), "{exact}");
        assert!(fleetfoot.get("/?a=1").is_hit(), "{exact}");
    }
}

fn tagged() -> Origin {
    let origin = Origin::start();
    for (path, fields) in [
        ("/a", "Cache-Tag: red, round"),
        ("/b", "Cache-Tag: red"),
        ("/c", "Surrogate-Key: round heavy"),
        ("/d", "Cache-Groups: \"red\", \"group\""),
        ("/e", ""),
    ] {
        origin.on(path).reply(ok(&format!("Cache-Control: max-age=600\n{fields}"), path));
    }
    origin
}

const TAGGED: [&str; 5] = ["/a", "/b", "/c", "/d", "/e"];

/// Which of those are hits.
fn kept(fleetfoot: &Fleetfoot) -> String {
    TAGGED.into_iter().filter(|path| fleetfoot.get(path).is_hit()).map(|path| &path[1..]).collect()
}

#[test]
fn a_tag_takes_all_that_carry_it_in_whichever_field() {
    let rows = [
        (json!({"tag": "red"}), "ce"),
        (json!({"tag": "round"}), "bde"),
        (json!({"tag": "heavy"}), "abde"),
        (json!({"tag": "group"}), "abce"),
        (json!({"tag": "re"}), "abcde"),
        (json!({"tag": "RED"}), "abcde"),
        (json!({"tags": ["heavy", "group", "unknown"]}), "abe"),
        (json!({"tags": ["red", "round"]}), "e"),
    ];
    each(rows.map(|(call, expected)| (call.to_string(), (call, expected))), |_, (call, expected)| {
        let origin = tagged();
        let fleetfoot = cached_with(&origin, "ttl: origin, tags: [Cache-Tag, Surrogate-Key]");
        for path in TAGGED {
            let first = fleetfoot.get(path);
            assert!(!first.has("Cache-Tag") && !first.has("Surrogate-Key"), "{first:?}");
            assert_eq!(first.has("Cache-Groups"), path == "/d", "{first:?}");
        }
        assert_eq!(kept(&fleetfoot), "abcde");
        purge(&fleetfoot, &call);
        assert_eq!(kept(&fleetfoot), expected);
    });
}

#[test]
fn what_was_stored_after_a_purge_stays() {
    let origin = counting("Cache-Tag: t");
    let fleetfoot = cached_with(&origin, "ttl: origin, tags: [Cache-Tag]");
    for round in 1..=5 {
        for call in [json!({"tag": "t"}), json!({"everything": true}), json!({"url": "http://example.test/"})]
        {
            purge(&fleetfoot, &call);
        }
        assert_eq!(fleetfoot.get("/").text(), round.to_string());
        assert!(fleetfoot.get("/").is_hit());
    }
}

#[test]
fn a_call_that_is_not_clear_changes_nothing_and_says_why() {
    let origin = counting("");
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    let rows = [
        (json!({}), "exactly one of"),
        (json!({"url": "http://example.test/", "everything": true}), "exactly one of"),
        (json!({"host": "example.test", "prefix": "/"}), "exactly one of"),
        (json!({"everything": false}), "exactly one of"),
        (json!({"everything": true, "exact": true}), "`exact`"),
        (json!({"url": "/"}), "http://example.com/path"),
        (json!({"url": "example.test/"}), "http://example.com/path"),
        (json!({"prefix": "/?a"}), "without a query"),
        (json!({"prefix": "news"}), "is not a prefix"),
        (json!({"host": "exa mple"}), "is not a host"),
        (json!({"tag": "a b"}), "is not a tag"),
        (json!({"tag": ""}), "is not a tag"),
        (json!({"tag": "x".repeat(257)}), "is not a tag"),
        (json!({"tags": []}), "list of 1 to"),
        (json!({"tag": "a", "tags": ["b"]}), "either"),
        (json!({"everything": true, "refresh": 1_000_000}), "at most"),
        (json!({"everything": true, "rate": 0}), "rate"),
        (json!({"evrything": true}), "evrything"),
        (json!({"everything": "yes"}), "boolean"),
        (json!("everything"), "the content"),
    ];
    each(rows.map(|(call, said)| (call.to_string(), (call, said))), |_, (call, said)| {
        let fault = read(&post(&fleetfoot, "/cache/purge", &call), 400);
        let detail = fault["detail"].as_str().unwrap();
        assert!(detail.contains(said), "{detail}");
    });
    assert!(fleetfoot.get("/").is_hit());
}
