//! What one instance fetched, the others have: byte for byte, in its variants, for as long as it is of use.

use std::time::Duration;

use testkit::{Origin, RedisServer, SlowLink, not_modified, ok};

use super::instances::{config, counting, joined, two, until_it_hears, until_written};
use crate::setup::each;

#[test]
fn what_one_fetched_the_other_has_byte_for_byte() {
    let origin = Origin::start();
    let bodies: [Vec<u8>; 5] = [
        Vec::new(),
        b"{}".to_vec(),
        b"{\"game\":\"a\"},".repeat(2000),
        (0..100_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect(),
        vec![b'x'; 1024 * 1024],
    ];
    for (number, body) in bodies.iter().enumerate() {
        let fields =
            "Content-Type: application/json\nETag: \"e\"\nX-Twice: 1\nX-Twice: 2\nX-Empty:\nX-Obs: \u{e4}";
        origin.on(&format!("/{number}")).reply(ok(fields, body));
    }
    let (redis, mut one, other) = two(&origin, "stale: 1m");
    for (number, body) in bodies.iter().enumerate() {
        let target = format!("/{number}");
        let first = one.get(&target);
        until_written(&mut one, number as u64 + 1);
        let second = other.get(&target);
        assert!(second.is_hit() && second.body == *body, "{target}: {:?}", second.head);
        let lasting = |answer: &testkit::Answer| {
            let mut fields = answer.head.fields.clone();
            fields.retain(|(name, _)| {
                !["age", "cache-status", "x-request-id"].contains(&name.to_lowercase().as_str())
            });
            fields.sort();
            fields
        };
        assert_eq!(lasting(&first), lasting(&second));
        assert!(other.get(&target).is_hit(), "from memory now");
        assert_eq!(origin.count(&format!("GET {target}")), 1);
    }
    let asked = |method: &str, fields: &str| other.send(method, "/2", fields);
    assert_eq!(asked("GET", "If-None-Match: \"e\"").status, 304);
    assert_eq!(asked("HEAD", "").field("Content-Length"), Some("26000"));
    assert_eq!(asked("GET", "Range: bytes=0-9").status, 206);
    let stored = redis.command(&["STRLEN", &redis.keys("fleetfoot:{*}")[0]]).int();
    assert!(stored > 0);
}

#[test]
fn what_says_nothing_twice_is_small_there() {
    let origin = Origin::start();
    origin.on("/").reply(ok("", b"{\"game\":\"a\"},".repeat(8000)));
    let (redis, mut one, _other) = two(&origin, "");
    one.get("/");
    until_written(&mut one, 1);
    let keys = redis.keys("fleetfoot:{????????????????????????????????}");
    assert_eq!(keys.len(), 1, "{keys:?}");
    let length = redis.command(&["STRLEN", &keys[0]]).int();
    assert!(length < 2000, "{length} bytes of 104,000");
}

#[test]
fn it_is_there_for_its_lifetime_and_the_longest_stale_window() {
    let origin = Origin::start();
    origin.on("/").reply(ok("Cache-Control: max-age=100", "x"));
    let (redis, mut one, _other) = two(&origin, "stale: 30s, if_error: 200s");
    one.get("/");
    until_written(&mut one, 1);
    let key = &redis.keys("fleetfoot:{????????????????????????????????}")[0];
    let left = redis.command(&["PTTL", key]).int();
    assert!((290_000..=300_000).contains(&left), "{left}");
}

#[test]
fn variants_are_found_by_what_the_request_says() {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let language = request.field("Accept-Language").unwrap_or("none").to_owned();
        ok("Vary: Accept-Language", format!("{} in {language}", request.target))
    });
    let (_redis, mut one, other) = two(&origin, "");
    let mut written = 0;
    for target in ["/a", "/b"] {
        for language in ["de", "fr"] {
            let field = format!("Accept-Language: {language}");
            one.get_with(target, &field);
            written += 1;
            until_written(&mut one, written);
            let answer = other.get_with(target, &field);
            assert_eq!(answer.text(), format!("{target} in {language}"));
            assert!(answer.is_hit(), "{target} {language}: {:?}", answer.head);
        }
    }
    assert_eq!(other.get_with("/a", "Accept-Language: it").text(), "/a in it");
    assert_eq!(origin.requests().len(), 5);
}

#[test]
fn a_lookup_is_one_round_trip() {
    let origin = counting("");
    let (redis, mut one, other) = two(&origin, "");
    for number in 0..10 {
        one.get(&format!("/{number}"));
    }
    until_written(&mut one, 10);
    let asked = || {
        redis
            .info("cmdstat_mget")
            .split(['=', ','])
            .nth(1)
            .and_then(|calls| calls.parse::<u64>().ok())
            .unwrap_or(0)
    };
    let before = asked();
    for number in 0..10 {
        assert!(other.get(&format!("/{number}")).is_hit());
    }
    assert_eq!(asked() - before, 10);
}

#[test]
fn what_is_not_for_sharing_stays_where_it_is() {
    each(
        [
            ("private", ("Cache-Control: private, max-age=60", "")),
            ("no-store", ("Cache-Control: no-store", "")),
            ("a cookie", ("Set-Cookie: a=1", "")),
            ("logged in", ("", "Cookie: idToken=1")),
            ("authorized", ("", "Authorization: Bearer x")),
        ],
        |_, (answer, request)| {
            let origin = Origin::start();
            origin.on("/").reply(ok(answer, "mine"));
            let (redis, one, other) = two(&origin, "skip_for: [{ cookie: idToken }]");
            one.get_with("/", request);
            one.get_with("/", request);
            other.get_with("/", request);
            assert_eq!(origin.count("GET /"), 3);
            let stored = redis.keys("fleetfoot:{????????????????????????????????}");
            assert!(stored.is_empty(), "{stored:?}");
        },
    );
}

#[test]
fn what_is_too_large_stays_where_it_is() {
    let origin = Origin::start();
    origin.on("/").reply(ok("", "x".repeat(3000)));
    let redis = RedisServer::start();
    let source = format!("redis: {}, tier: {{ largest: 2KiB }}", redis.url());
    let (mut one, other) = (joined(&origin, &source, ""), joined(&origin, &source, ""));
    one.get("/");
    until_written(&mut one, 1);
    assert!(one.get("/").is_hit());
    other.get("/");
    assert_eq!(origin.count("GET /"), 2);
}

#[test]
fn what_a_head_showed_to_be_outdated_does_not_come_back() {
    let origin = Origin::start();
    origin.on("GET /").replies([ok("ETag: \"1\"", "old"), ok("ETag: \"2\"", "new")]);
    origin.on("HEAD /").reply(ok("ETag: \"2\"", ""));
    let (redis, mut one, other) = two(&origin, "");
    one.get("/");
    until_written(&mut one, 1);
    assert_eq!(one.send("HEAD", "/", "Cache-Control: no-cache").status, 200);
    testkit::wait_until("forgotten", || {
        redis.keys("fleetfoot:{????????????????????????????????}").is_empty()
    });
    assert_eq!((one.get("/").text(), other.get("/").text()), ("new".to_owned(), "new".to_owned()));
}

#[test]
fn deployments_do_not_see_each_other() {
    let origin = counting("");
    let redis = RedisServer::start();
    let source = |prefix| format!("redis: {}, tier: {{ prefix: {prefix} }}", redis.url());
    let (mut blue, green) = (joined(&origin, &source("blue"), ""), joined(&origin, &source("green"), ""));
    blue.get("/");
    until_written(&mut blue, 1);
    assert_eq!(green.get("/").text(), "/ 2");
}

/// Somebody else writes to that Redis, or a disk there fails.
#[test]
fn what_was_tampered_with_is_fetched_anew() {
    let origin = counting("");
    let (redis, mut one, mut other) = two(&origin, "");
    let tamperings: [&dyn Fn(&str); 5] = [
        &|key| drop(redis.command(&["SETRANGE", key, "60", "x"])),
        &|key| drop(redis.command(&["SET", key, ""])),
        &|key| drop(redis.command(&["APPEND", key, "x"])),
        &|key| drop(redis.command(&["SET", key, &"9".repeat(300)])),
        &|key| {
            redis.command(&["DEL", key]);
            redis.command(&["LPUSH", key, "x"]);
        },
    ];
    for (number, tamper) in tamperings.iter().enumerate() {
        let target = format!("/{number}");
        redis.command(&["DEL", "none"]);
        for key in redis.keys("fleetfoot:{????????????????????????????????}") {
            redis.command(&["DEL", &key]);
        }
        one.get(&target);
        until_written(&mut one, number as u64 + 1);
        let keys = redis.keys("fleetfoot:{????????????????????????????????}");
        assert_eq!(keys.len(), 1, "{keys:?}");
        tamper(&keys[0]);
        let answer = other.get(&target);
        assert_eq!((answer.status, answer.text()), (200, format!("{target} 2")), "{number}");
        until_written(&mut other, number as u64 + 1);
    }
}

/// Values of one key at the other end of a slow line: the request waits for the look-up, but not for the writing.
#[test]
fn writing_is_off_the_requests_way() {
    let origin = counting("");
    let redis = RedisServer::start();
    let link = SlowLink::to(redis.port());
    let source = format!("redis: redis://{}, timeout: 5s", link.address());
    let mut one = joined(&origin, &source, "");
    let before = std::time::Instant::now();
    one.get("/warm");
    let quick = before.elapsed();
    link.set_delay(Duration::from_millis(100));
    let before = std::time::Instant::now();
    one.get("/slow");
    let slow = before.elapsed();
    // Looked up, and claimed: twice there and back.
    assert!(slow < quick + Duration::from_millis(550), "{slow:?}");
    until_written(&mut one, 2);
}

#[test]
fn an_instance_that_starts_later_finds_it_all() {
    let origin = counting("");
    let (redis, mut one, _other) = two(&origin, "");
    for number in 0..5 {
        one.get(&format!("/{number}"));
    }
    until_written(&mut one, 5);
    let mut late = testkit::Fleetfoot::start(&config(&origin, &format!("redis: {}", redis.url()), ""));
    until_it_hears(&mut late);
    for number in 0..5 {
        assert!(late.get(&format!("/{number}")).is_hit());
    }
    assert_eq!(origin.requests().len(), 5);
}

#[test]
fn what_the_origin_can_confirm_is_kept_for_asking() {
    let origin = Origin::start();
    origin.on("/").replies([
        ok("Cache-Control: no-cache\nETag: \"one\"", "kept"),
        not_modified("Cache-Control: no-cache\nETag: \"one\""),
    ]);
    let (_redis, mut one, other) = two(&origin, "");
    one.get("/");
    until_written(&mut one, 1);
    let answer = other.get("/");
    assert_eq!((answer.status, answer.text().as_str()), (200, "kept"));
    assert!(answer.cache_status().contains("fwd-status=304"), "{answer:?}");
}
