//! Values held in process: a hit while nothing changes, another value as soon as something does.

use std::time::Duration;

use testkit::{Http2Client, RedisSentinel, RedisServer};

use super::support::{GET, figure, hold, of_source, reading, tell, time_until, tracks, until_it_tells};
use crate::setup::each;

/// From a change in Redis until it is seen here, on a machine that does much else.
const SOON: Duration = Duration::from_millis(100);

#[test]
fn what_is_held_costs_redis_nothing() {
    let (redis, mut fleetfoot) = reading("mode: tracked", &[GET]);
    until_it_tells(&mut fleetfoot);
    tell(&redis, &["SET", "a", "one"]);
    let first = fleetfoot.get("/get/a");
    assert!(first.cache_status().starts_with("fleetfoot; fwd=uri-miss; "), "{first:?}");
    hold(&mut fleetfoot, "/get/a");
    let asked = redis.info("cmdstat_get");
    for _ in 0..20 {
        let answer = fleetfoot.get("/get/a");
        assert_eq!((answer.text().as_str(), answer.cache_status().as_str()), ("one", "fleetfoot; hit"));
    }
    assert_eq!(redis.info("cmdstat_get"), asked);
    tell(&redis, &["SET", "b", "two", "EX", "100"]);
    hold(&mut fleetfoot, "/get/b");
    let held = fleetfoot.get("/get/b");
    assert!(held.is_hit() && held.ttl().is_some_and(|ttl| (90..=100).contains(&ttl)), "{held:?}");
}

#[test]
fn whatever_changes_a_key_is_seen_at_once() {
    let (redis, mut fleetfoot) = reading("mode: tracked", &[GET]);
    until_it_tells(&mut fleetfoot);
    let changes: &[(&str, &[&str], &str)] = &[
        ("SET", &["SET", "a", "two"], "two"),
        ("APPEND", &["APPEND", "a", "more"], "onemore"),
        ("INCR", &["INCR", "number"], "8"),
        ("DEL", &["DEL", "a"], ""),
        ("UNLINK", &["UNLINK", "a"], ""),
        ("RENAME from it", &["RENAME", "a", "other"], ""),
        ("RENAME to it", &["RENAME", "source", "a"], "renamed"),
        ("PEXPIRE", &["PEXPIRE", "a", "1"], ""),
        ("FLUSHALL", &["FLUSHALL"], ""),
        ("FLUSHDB ASYNC", &["FLUSHDB", "ASYNC"], ""),
        ("EVAL", &["EVAL", "return redis.call('SET', 'a', 'by script')", "0"], "by script"),
    ];
    each(changes.iter().map(|change| (change.0, change)), |_, (name, command, text)| {
        tell(&redis, &["MSET", "a", "one", "number", "7", "source", "renamed"]);
        let target = if *name == "INCR" { "/get/number" } else { "/get/a" };
        time_until(&fleetfoot, target, if *name == "INCR" { "7" } else { "one" });
        while !fleetfoot.get(target).is_hit() {}
        tell(&redis, command);
        let begun = std::time::Instant::now();
        loop {
            let answer = fleetfoot.get(target);
            let is_seen = if text.is_empty() { answer.status == 404 } else { answer.text() == *text };
            if is_seen {
                break;
            }
            assert!(begun.elapsed() < SOON, "{answer:?}");
        }
    });
}

#[test]
fn what_was_not_there_is_seen_when_it_comes() {
    let check = r#"match: "GET /token/{key}", read: { redis: "EXISTS ${path.key}" }"#;
    let (redis, mut fleetfoot) = reading("mode: tracked", &[check]);
    until_it_tells(&mut fleetfoot);
    hold(&mut fleetfoot, "/token/a");
    assert_eq!(fleetfoot.get("/token/a").status, 401);
    tell(&redis, &["SET", "a", "x"]);
    assert!(time_until(&fleetfoot, "/token/a", "true") < SOON);
    tell(&redis, &["DEL", "a"]);
    let begun = std::time::Instant::now();
    fleetfoot.wait_until("revoked", |fleetfoot| fleetfoot.get("/token/a").status == 401);
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[test]
fn hashes_lists_and_several_keys_are_held_too() {
    let (redis, mut fleetfoot) = reading(
        "mode: tracked",
        &[
            r#"match: GET /hash, read: { redis: "HGETALL h" }"#,
            r#"match: GET /list, read: { redis: "LRANGE l 0 -1" }"#,
            r#"match: GET /many, read: { redis: "MGET a b" }"#,
            r#"match: GET /top, read: { redis: "ZREVRANGE z 0 0" }"#,
        ],
    );
    until_it_tells(&mut fleetfoot);
    let fill = [
        &["HSET", "h", "f", "1"][..],
        &["RPUSH", "l", "1"],
        &["MSET", "a", "1", "b", "2"],
        &["ZADD", "z", "1", "1"],
    ];
    for command in fill {
        tell(&redis, command);
    }
    for (target, command, text) in [
        ("/hash", &["HSET", "h", "f", "2"][..], r#"{"f":2}"#),
        ("/list", &["RPUSH", "l", "2"], "[1,2]"),
        ("/many", &["SET", "b", "3"], "[1,3]"),
        ("/top", &["ZADD", "z", "2", "5"], "[5]"),
    ] {
        hold(&mut fleetfoot, target);
        tell(&redis, command);
        assert!(time_until(&fleetfoot, target, text) < SOON, "{target}");
    }
}

#[test]
fn keys_that_redis_does_not_tell_about_are_not_held() {
    let (redis, mut fleetfoot) = reading("mode: tracked, track: [\"user:\", \"t:\"]", &[GET]);
    until_it_tells(&mut fleetfoot);
    tell(&redis, &["MSET", "user:1", "ann", "other", "x"]);
    hold(&mut fleetfoot, "/get/user:1");
    for value in ["x", "y", "z"] {
        tell(&redis, &["SET", "other", value]);
        let answer = fleetfoot.get("/get/other");
        assert_eq!((answer.text().as_str(), answer.has("cache-status")), (value, false), "asked each time");
    }
}

/// Whoever hears nothing does not know that nothing changed.
#[test]
fn a_silent_redis_is_not_believed() {
    let (redis, mut fleetfoot) = reading("mode: tracked, silence: 500ms, timeout: 100ms", &[GET]);
    until_it_tells(&mut fleetfoot);
    tell(&redis, &["SET", "a", "one"]);
    hold(&mut fleetfoot, "/get/a");
    redis.pause();
    let begun = std::time::Instant::now();
    fleetfoot.wait_until("given up", |fleetfoot| {
        let answer = fleetfoot.get("/get/a");
        let late = begun.elapsed() > Duration::from_millis(500);
        assert!(answer.status == 503 || !late || begun.elapsed() < Duration::from_millis(700), "{answer:?}");
        answer.status == 503
    });
    for _ in 0..5 {
        let answer = fleetfoot.get("/get/a");
        assert_eq!((answer.status, answer.field("retry-after")), (503, Some("1")));
        assert_eq!(answer.field("fleetfoot-error"), Some("read-unavailable"), "{answer:?}");
    }
    redis.resume();
    fleetfoot.wait_until("back", |fleetfoot| fleetfoot.get("/get/a").status == 200);
    until_it_tells(&mut fleetfoot);
    hold(&mut fleetfoot, "/get/a");
    tell(&redis, &["SET", "a", "two"]);
    assert!(time_until(&fleetfoot, "/get/a", "two") < SOON);
}

#[test]
fn a_redis_that_is_gone_is_stood_in_for_until_what_is_held_is_too_old() {
    let (redis, mut fleetfoot) =
        reading("mode: tracked, silence: 300ms, timeout: 100ms, max_stale: 2s", &[GET]);
    until_it_tells(&mut fleetfoot);
    tell(&redis, &["MSET", "a", "one", "b", "two"]);
    hold(&mut fleetfoot, "/get/a");
    redis.pause();
    fleetfoot.wait_until("stale", |fleetfoot| {
        let answer = fleetfoot.get("/get/a");
        assert_eq!((answer.status, answer.text().as_str()), (200, "one"), "{answer:?}");
        answer.ttl().is_some_and(|ttl| ttl < 0)
    });
    let stale = fleetfoot.get("/get/a");
    assert_eq!(stale.field("cache-control"), Some("no-cache"));
    assert!(stale.age().is_some(), "{stale:?}");
    assert!(stale.cache_status().ends_with("; detail=redis-gone"), "{stale:?}");
    assert_eq!(fleetfoot.get("/get/b").status, 503, "nobody has read it");
    fleetfoot.wait_until("too old", |fleetfoot| fleetfoot.get("/get/a").status == 503);
    redis.resume();
    fleetfoot.wait_until("back", |fleetfoot| fleetfoot.get("/get/b").text() == "two");
}

#[test]
fn a_redis_that_comes_back_is_read_anew() {
    let (redis, mut fleetfoot) = reading("mode: tracked", &[GET]);
    until_it_tells(&mut fleetfoot);
    tell(&redis, &["SET", "a", "one"]);
    hold(&mut fleetfoot, "/get/a");
    redis.kill();
    fleetfoot.wait_until("gone", |fleetfoot| fleetfoot.get("/get/a").status == 503);
    assert_eq!(fleetfoot.get_admin("/readyz").status, 200, "others have no other Redis");
    redis.restart();
    tell(&redis, &["SET", "a", "two"]);
    time_until(&fleetfoot, "/get/a", "two");
    fleetfoot.wait_for_metrics("told again", |metrics| {
        tracks(metrics) && figure(metrics, "fleetfoot_redis_tracking_lives_total", &[]) == 2
    });
    hold(&mut fleetfoot, "/get/a");
    tell(&redis, &["SET", "a", "three"]);
    assert!(time_until(&fleetfoot, "/get/a", "three") < SOON);
}

/// Somebody cuts the line alone: what changed meanwhile was told to nobody.
#[test]
fn a_line_that_is_cut_is_made_anew_and_nothing_old_is_held() {
    let (redis, mut fleetfoot) = reading("mode: tracked", &[GET]);
    until_it_tells(&mut fleetfoot);
    for round in 0..10 {
        tell(&redis, &["SET", "a", &format!("{round}")]);
        time_until(&fleetfoot, "/get/a", &format!("{round}"));
        tell(&redis, &["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        tell(&redis, &["SET", "a", &format!("{round} and on")]);
        time_until(&fleetfoot, "/get/a", &format!("{round} and on"));
        until_it_tells(&mut fleetfoot);
    }
}

#[test]
fn where_sentinels_say_who_is_the_master_the_new_one_tells() {
    let sentinel = RedisSentinel::start();
    let sentinels: Vec<_> =
        sentinel.sentinels().iter().map(|server| format!("\"{}\"", server.url())).collect();
    let source = format!(
        "{{ redis: [{}], topology: sentinel, master: {}, mode: tracked, silence: 500ms, public: true }}",
        sentinels.join(", "),
        sentinel.name()
    );
    let mut fleetfoot = testkit::Fleetfoot::start(&of_source(&source, &[GET]));
    until_it_tells(&mut fleetfoot);
    tell(sentinel.master(), &["SET", "a", "one"]);
    hold(&mut fleetfoot, "/get/a");
    let master: &RedisServer = sentinel.switch_over();
    tell(master, &["SET", "a", "two"]);
    time_until(&fleetfoot, "/get/a", "two");
    fleetfoot.wait_until("held again", |fleetfoot| fleetfoot.get("/get/a").is_hit());
    tell(master, &["SET", "a", "three"]);
    time_until(&fleetfoot, "/get/a", "three");
}

#[test]
fn what_is_held_is_bounded() {
    let (redis, mut fleetfoot) = reading("mode: tracked, memory: 1MiB", &[GET]);
    until_it_tells(&mut fleetfoot);
    let value = "x".repeat(10_000);
    for number in 0..300 {
        tell(&redis, &["SET", &format!("k{number}"), &value]);
        assert_eq!(fleetfoot.get(&format!("/get/k{number}")).body.len(), value.len());
    }
    let metrics = fleetfoot.metrics();
    assert!(figure(&metrics, "fleetfoot_redis_held_bytes", &[]) <= 1024 * 1024);
    assert!(figure(&metrics, "fleetfoot_redis_evicted_total", &[]) > 100);
}

/// Over HTTP/2 requests take the longer way, and find the same.
#[test]
fn what_is_held_is_held_for_every_protocol() {
    let (redis, mut fleetfoot) = reading("mode: tracked", &[GET]);
    until_it_tells(&mut fleetfoot);
    tell(&redis, &["SET", "a", "one"]);
    hold(&mut fleetfoot, "/get/a");
    let asked = redis.info("cmdstat_get");
    let answer = Http2Client::connect(fleetfoot.address()).get("/get/a");
    assert_eq!((answer.status, answer.text().as_str(), answer.is_hit()), (200, "one", true), "{answer:?}");
    assert_eq!(redis.info("cmdstat_get"), asked);
}
