//! What is stored, and how it gets there before anybody asks: `entries`, `entry` and `warm`.

use serde_json::{Value, json};
use testkit::{Fleetfoot, Origin, ok, status};

use super::port::{ask, get, post, read, visit};
use crate::setup::{cached, cached_with};

fn urls(listed: &Value) -> Vec<String> {
    let entries = listed["entries"].as_array().expect("a list");
    entries.iter().map(|entry| entry["url"].as_str().expect("a URL").to_owned()).collect()
}

fn library() -> (Origin, Fleetfoot) {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600\nCache-Tag: all", "x"));
    origin.on("/b").reply(ok("Cache-Control: max-age=600\nCache-Tag: all, some", "xyz"));
    let fleetfoot = cached_with(&origin, "ttl: origin, tags: [Cache-Tag]");
    for (url, uses) in [
        ("http://one.test/a", 2),
        ("http://one.test/b", 9),
        ("http://one.test/b?c", 1),
        ("http://two.test/b", 5),
    ] {
        (0..=uses).for_each(|_| drop(visit(&fleetfoot, url, "")));
    }
    (origin, fleetfoot)
}

#[test]
fn what_is_stored_is_listed_by_use() {
    let (_origin, fleetfoot) = library();
    let all = get(&fleetfoot, "/cache/entries");
    assert_eq!(urls(&all)[..2], ["http://one.test/b", "http://two.test/b"]);
    assert_eq!((urls(&all).len(), &all["more"]), (4, &json!(false)));
    let first = &all["entries"][0];
    assert_eq!(
        (&first["status"], &first["length"], &first["tags"]),
        (&json!(200), &json!(3), &json!(["all", "some"]))
    );
    assert!(first["fresh_for"].as_i64().unwrap() > 500 && first["age"].as_i64().unwrap() < 100, "{first}");
    assert!(first.get("fields").is_none(), "fields are for one entry: {first}");
    let limited = get(&fleetfoot, "/cache/entries?limit=1");
    assert_eq!((urls(&limited), &limited["more"]), (vec!["http://one.test/b".to_owned()], &json!(true)));
}

#[test]
fn a_list_can_be_of_one_scope() {
    let (_origin, fleetfoot) = library();
    for (query, expected) in [
        ("host=two.test", &["http://two.test/b"][..]),
        ("tag=some", &["http://one.test/b", "http://two.test/b", "http://one.test/b?c"]),
        ("tag=none", &[]),
        ("url=http://one.test/b", &["http://one.test/b", "http://one.test/b?c"]),
        ("url=http://one.test/b&exact=true", &["http://one.test/b"]),
        ("prefix=/a", &["http://one.test/a"]),
        ("prefix=http://one.test/", &["http://one.test/b", "http://one.test/a", "http://one.test/b?c"]),
    ] {
        let listed = urls(&get(&fleetfoot, &format!("/cache/entries?{query}")));
        assert_eq!(listed, expected, "{query}");
    }
    for wrong in
        ["limit=0", "limit=x", "limit=100001", "colour=red", "host=a&prefix=/", "url=/b", "host=a&host=b"]
    {
        let fault = read(&ask(&fleetfoot, "GET", &format!("/cache/entries?{wrong}"), "", ""), 400);
        assert!(fault["detail"].is_string(), "{wrong}: {fault}");
    }
}

#[test]
fn one_entry_is_shown_with_its_variants_and_fields_and_without_secrets() {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let fields =
            "Cache-Control: public, max-age=600\nVary: Accept-Language, Cookie\nETag: \"7\"\nX-Made: here";
        ok(fields, request.field("Accept-Language").unwrap_or("-"))
    });
    let fleetfoot = cached(&origin);
    fleetfoot.get_with("/", "Accept-Language: de");
    fleetfoot.get_with("/", "Accept-Language: en\nCookie: id=SECRET-7731");
    let shown = get(&fleetfoot, "/cache/entry?url=http://example.test/");
    let entries = shown["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 2);
    let text = shown.to_string();
    for part in ["\"7\\\"", "x-made", "accept-language", "de", "max-age=600"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("SECRET-7731"), "{text}");
    let none = read(&ask(&fleetfoot, "GET", "/cache/entry?url=http://example.test/none", "", ""), 404);
    assert!(none["detail"].as_str().unwrap().contains("explain"), "{none}");
    read(&ask(&fleetfoot, "GET", "/cache/entry", "", ""), 400);
}

#[test]
fn warming_fetches_as_clients_would() {
    let origin = Origin::start();
    origin.on("/a").reply(ok("Cache-Control: max-age=600", "12345"));
    origin.on("/live").reply(ok("Cache-Control: no-store", "x"));
    origin.on("/gone").reply(status("404 Not Found", "Cache-Control: no-store", ""));
    origin.on("/broken").reply("garbage\r\n\r\n");
    let fleetfoot = cached(&origin);
    let urls = ["/a", "/a", "/live", "/gone", "/broken"].map(|path| format!("http://example.test{path}"));
    let told = read(&post(&fleetfoot, "/cache/warm", &json!({"urls": urls, "rate": 1000})), 200);
    let warmed = told["warmed"].as_array().unwrap();
    assert_eq!(warmed.len(), 5);
    for (fetched, url) in warmed.iter().zip(&urls) {
        assert_eq!(fetched["url"], json!(url));
    }
    assert_eq!(
        (&warmed[0]["status"], &warmed[0]["stored"], &warmed[0]["bytes"]),
        (&json!(200), &json!(true), &json!(5))
    );
    assert_eq!((&warmed[2]["status"], &warmed[2]["stored"]), (&json!(200), &json!(false)));
    assert_eq!(warmed[3]["status"], json!(404));
    assert_eq!(warmed[4]["status"], json!(502));
    assert!(warmed[4]["error"].is_string(), "{told}");
    assert_eq!(origin.count("GET /a"), 1);
    assert!(fleetfoot.get("/a").is_hit());
}

#[test]
fn warming_reaches_only_what_routes_name() {
    let (origin, other) = (Origin::start(), Origin::start());
    origin.on("*").reply(ok("Cache-Control: max-age=600", "mine"));
    let fleetfoot = cached(&origin);
    let url = format!("{}/x", other.url());
    let told = read(&post(&fleetfoot, "/cache/warm", &json!({"urls": [url]})), 200);
    assert_eq!(told["warmed"][0]["status"], json!(200));
    assert_eq!((other.connections(), origin.requests().len()), (0, 1));
    for wrong in [
        json!({"urls": []}),
        json!({"urls": ["/x"]}),
        json!({"urls": ["ftp://a/"]}),
        json!({"urls": ["http://a/"], "rate": 0}),
        json!({"urls": vec!["http://a/"; 10_001]}),
        json!({}),
    ] {
        read(&post(&fleetfoot, "/cache/warm", &wrong), 400);
    }
}
