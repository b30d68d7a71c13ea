//! What an answer says of itself, and to whom: conditions, methods, lifetimes, bounds.

use std::time::Duration;

use super::support::{GET, hold, reading, tell, until_it_tells};

const MODES: [&str; 2] = ["mode: central", "mode: tracked"];

#[test]
fn whoever_has_it_gets_a_304() {
    for mode in MODES {
        let (redis, mut fleetfoot) = reading(mode, &[GET]);
        tell(&redis, &["SET", "a", "one"]);
        if mode == MODES[1] {
            until_it_tells(&mut fleetfoot);
            hold(&mut fleetfoot, "/get/a");
        }
        let tag = fleetfoot.get("/get/a").joined("etag");
        assert_eq!(tag.len(), 34, "a strong tag of 128 bits: {tag}");
        for condition in [tag.clone(), format!("W/{tag}"), format!("\"x\", {tag}"), "*".to_owned()] {
            let answer = fleetfoot.get_with("/get/a", &format!("If-None-Match: {condition}"));
            assert_eq!((answer.status, answer.text()), (304, String::new()), "{condition}");
            assert_eq!(answer.joined("etag"), tag);
            assert_eq!(answer.field("cache-control"), Some("no-cache"));
            assert!(!answer.has("content-type"));
        }
        let other = fleetfoot.get_with("/get/a", "If-None-Match: \"x\"");
        assert_eq!((other.status, other.text().as_str()), (200, "one"));
        tell(&redis, &["SET", "a", "two"]);
        fleetfoot.wait_until("changed", |fleetfoot| {
            let answer = fleetfoot.get_with("/get/a", &format!("If-None-Match: {tag}"));
            answer.status == 200 && answer.text() == "two"
        });
        tell(&redis, &["SET", "a", "one"]);
        fleetfoot.wait_until("the same content has the same tag", |fleetfoot| {
            fleetfoot.get("/get/a").joined("etag") == tag
        });
    }
}

#[test]
fn a_head_says_how_long_it_would_be() {
    for mode in MODES {
        let (redis, mut fleetfoot) = reading(mode, &[GET]);
        tell(&redis, &["SET", "a", "12345"]);
        if mode == MODES[1] {
            until_it_tells(&mut fleetfoot);
            hold(&mut fleetfoot, "/get/a");
        }
        for (target, status, length) in [("/get/a", 200, Some("5")), ("/get/none", 404, None)] {
            for _ in 0..2 {
                let (whole, head) = (fleetfoot.get(target), fleetfoot.send("HEAD", target, ""));
                assert_eq!((head.status, head.text()), (status, String::new()));
                assert_eq!(head.field("content-length"), whole.field("content-length"));
                assert!(length.is_none() || head.field("content-length") == length);
                assert_eq!(head.joined("etag"), whole.joined("etag"));
            }
        }
    }
}

#[test]
fn nothing_is_told_in_the_form_that_the_client_accepts() {
    for mode in MODES {
        let (_redis, mut fleetfoot) = reading(mode, &[GET]);
        if mode == MODES[1] {
            until_it_tells(&mut fleetfoot);
        }
        for _ in 0..2 {
            let plain = fleetfoot.get("/get/none");
            assert_eq!((plain.status, plain.text().as_str()), (404, "nothing was found for this request\n"));
            assert_eq!(plain.field("content-type"), Some("text/plain; charset=utf-8"));
            let problem = fleetfoot.get_with("/get/none", "Accept: application/json");
            assert_eq!((problem.status, problem.field("fleetfoot-error")), (404, Some("missing")));
            assert_eq!(problem.field("content-type"), Some("application/problem+json"));
            let told: serde_json::Value = serde_json::from_str(&problem.text()).expect("JSON");
            assert_eq!((&told["title"], &told["status"]), (&"Not Found".into(), &404.into()));
            let head = fleetfoot.send("HEAD", "/get/none", "Accept: application/json");
            assert_eq!((head.status, head.text()), (404, String::new()));
            assert_eq!(head.field("content-length"), problem.field("content-length"));
            assert_eq!(head.field("content-type"), problem.field("content-type"));
        }
    }
}

#[test]
fn only_what_reads_is_allowed() {
    let any = GET.replace("GET /get", "/get");
    let (redis, fleetfoot) = reading("mode: tracked", &[&any]);
    tell(&redis, &["SET", "a", "one"]);
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let answer = fleetfoot.send(method, "/get/a", "Content-Length: 0");
        assert_eq!(answer.status, 405, "{method}");
        assert_eq!(answer.field("allow"), Some("GET, HEAD"));
    }
    assert_eq!(fleetfoot.get("/get/a").text(), "one");
}

#[test]
fn a_lifetime_in_redis_is_one_in_http() {
    let many = r#"match: GET /many, read: { redis: "MGET a b c", as: json }"#;
    for mode in MODES {
        let (redis, mut fleetfoot) = reading(mode, &[GET, many]);
        if mode == MODES[1] {
            until_it_tells(&mut fleetfoot);
        }
        tell(&redis, &["SET", "a", "one", "PX", "99900"]);
        tell(&redis, &["SET", "b", "two", "EX", "5000"]);
        tell(&redis, &["SET", "c", "three"]);
        let max_age = |target: &str| -> u64 {
            let said = fleetfoot.get(target).joined("cache-control");
            said.strip_prefix("max-age=").unwrap_or_else(|| panic!("{said}")).parse().unwrap()
        };
        for _ in 0..2 {
            assert!((90..=99).contains(&max_age("/get/a")), "rounded down");
            assert!((4900..=5000).contains(&max_age("/get/b")));
            assert!((90..=99).contains(&max_age("/many")), "that of the first key to end");
            assert_eq!(fleetfoot.get("/get/c").field("cache-control"), Some("no-cache"));
        }
    }
}

#[test]
fn a_key_that_has_ended_is_not_there_any_more() {
    let (redis, mut fleetfoot) = reading("mode: tracked, max_stale: 1m", &[GET]);
    until_it_tells(&mut fleetfoot);
    tell(&redis, &["SET", "a", "one", "PX", "400"]);
    assert_eq!(fleetfoot.get("/get/a").text(), "one");
    let begun = std::time::Instant::now();
    fleetfoot.wait_until("ended", |fleetfoot| fleetfoot.get("/get/a").status == 404);
    assert!(begun.elapsed() < Duration::from_millis(900), "{:?}", begun.elapsed());
}

#[test]
fn bytes_and_bounds() {
    let raw = r#"match: "GET /raw/{key}", read: { redis: "GET ${path.key}", as: raw, type: image/png }"#;
    let (redis, fleetfoot) = reading("mode: central", &[GET, raw]);
    tell(&redis, &["SETBIT", "bytes", "0", "1"]);
    let answer = fleetfoot.get("/raw/bytes");
    assert_eq!((answer.status, &*answer.body), (200, &b"\x80"[..]));
    assert_eq!(answer.field("content-type"), Some("image/png"));
    assert_eq!(fleetfoot.get("/get/bytes").status, 502, "it is no text");
    tell(&redis, &["SETRANGE", "long", &(8 * 1024 * 1024).to_string(), "x"]);
    assert_eq!(fleetfoot.get("/raw/long").status, 502, "longer than 8 MiB");
    tell(&redis, &["SETRANGE", "large", &(1024 * 1024).to_string(), "x"]);
    let large = fleetfoot.get("/raw/large");
    assert_eq!((large.status, large.body.len()), (200, 1024 * 1024 + 1));
    let part = fleetfoot.get_with("/raw/large", "Range: bytes=0-9");
    assert_eq!((part.status, part.body.len()), (206, 10));
}
