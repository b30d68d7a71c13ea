//! Reads of a Redis that is gone, asked each time: what was read last, for as long as it may be given.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::support::{GET, config, figure, reading, tell};

#[test]
fn what_was_read_last_stands_in_and_then_nothing_does() {
    let (redis, mut fleetfoot) = reading("mode: central, timeout: 100ms, max_stale: 2s", &[GET]);
    tell(&redis, &["MSET", "a", "one", "b", "two"]);
    assert!(!fleetfoot.get("/get/a").has("cache-status"), "it was asked for");
    tell(&redis, &["SET", "a", "newer"]);
    assert_eq!(fleetfoot.get("/get/a").text(), "newer", "nothing is held while Redis is there");
    redis.kill();
    let stale = fleetfoot.get("/get/a");
    assert_eq!((stale.status, stale.text().as_str()), (200, "newer"), "{stale:?}");
    assert!(stale.age().is_some() && stale.ttl().is_some_and(|ttl| ttl < 0), "{stale:?}");
    assert_eq!(stale.field("cache-control"), Some("no-cache"));
    assert_eq!(fleetfoot.get("/get/b").status, 503, "nobody has read it");
    fleetfoot.wait_until("too old", |fleetfoot| fleetfoot.get("/get/a").status == 503);
    redis.restart();
    tell(&redis, &["SET", "a", "again"]);
    fleetfoot.wait_until("back", |fleetfoot| fleetfoot.get("/get/a").text() == "again");
    fleetfoot.stderr().wait_for("source redis: Redis answers again").unwrap();
}

#[test]
fn without_leave_to_be_stale_nothing_is() {
    let (redis, mut fleetfoot) = reading("mode: central", &[GET]);
    tell(&redis, &["SET", "a", "one"]);
    assert_eq!(fleetfoot.get("/get/a").text(), "one");
    redis.kill();
    let answer = fleetfoot.get("/get/a");
    assert_eq!((answer.status, answer.field("retry-after")), (503, Some("1")), "{answer:?}");
    assert!(!answer.text().contains(&redis.port().to_string()), "{}", answer.text());
    fleetfoot.wait_until("left alone", |fleetfoot| {
        fleetfoot.get("/get/a");
        figure(&fleetfoot.metrics(), "fleetfoot_redis_up", &[]) == 0
    });
    let told = fleetfoot.stderr().wait_for("left alone for a while").unwrap();
    assert!(told.contains("source redis: no connection to "), "{told}");
    fleetfoot.wait_for_metrics("told", |metrics| {
        figure(metrics, "fleetfoot_errors_total", &["kind=\"read-unavailable\""]) >= 1
            && figure(metrics, "fleetfoot_redis_failures_total", &["source=\"redis\""]) >= 1
    });
}

#[test]
fn what_has_ended_meanwhile_does_not_stand_in() {
    let (redis, mut fleetfoot) = reading("mode: central, max_stale: 1h", &[GET]);
    tell(&redis, &["SET", "a", "one", "PX", "500"]);
    assert_eq!(fleetfoot.get("/get/a").text(), "one");
    redis.kill();
    fleetfoot.wait_until("ended", |fleetfoot| fleetfoot.get("/get/a").status == 503);
}

/// Of these nothing is held, so they are as if nothing was tracked.
#[test]
fn what_redis_does_not_tell_about_is_remembered_too() {
    let (redis, mut fleetfoot) = reading("mode: tracked, track: user, timeout: 100ms, max_stale: 2s", &[GET]);
    super::support::until_it_tells(&mut fleetfoot);
    tell(&redis, &["MSET", "user", "one", "other", "two"]);
    super::support::hold(&mut fleetfoot, "/get/user");
    assert_eq!(fleetfoot.get("/get/other").text(), "two");
    redis.kill();
    for (target, text) in [("/get/user", "one"), ("/get/other", "two")] {
        fleetfoot.wait_until("stale", |fleetfoot| {
            let stale = fleetfoot.get(target);
            assert_eq!((stale.status, stale.text().as_str()), (200, text), "{stale:?}");
            stale.cache_status().ends_with("; detail=redis-gone")
        });
    }
    assert_eq!(figure(&fleetfoot.metrics(), "fleetfoot_redis_held", &[]), 2);
    fleetfoot.wait_until("too old", |fleetfoot| fleetfoot.get("/get/other").status == 503);
}

#[test]
fn a_redis_that_comes_late_is_waited_for_by_nobody() {
    let redis = testkit::RedisServer::start();
    redis.kill();
    let mut fleetfoot = testkit::Fleetfoot::start(&config(&redis, "mode: central", &[GET]));
    assert_eq!(fleetfoot.get("/get/a").status, 503);
    redis.restart();
    tell(&redis, &["SET", "a", "one"]);
    fleetfoot.wait_until("there", |fleetfoot| fleetfoot.get("/get/a").text() == "one");
}

/// Somebody cuts all connections, as a Sentinel does when it makes another the master. Redis itself is well.
#[test]
fn a_connection_that_is_cut_costs_nobody_an_answer() {
    for mode in ["mode: central", "mode: tracked"] {
        let redis = testkit::RedisServer::start();
        tell(&redis, &["SET", "a", "one"]);
        let fleetfoot = &mut testkit::Fleetfoot::start(&config(&redis, mode, &[GET]));
        let (address, is_over, answered) = (fleetfoot.address(), AtomicBool::new(false), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut client = testkit::RawClient::connect(address);
                    while !is_over.load(Relaxed) {
                        let answer = client.ask("GET /get/a HTTP/1.1\r\nHost: example.test\r\n\r\n");
                        if answer.status != 200 {
                            is_over.store(true, Relaxed);
                            panic!("{mode}: {answer:?}");
                        }
                        answered.fetch_add(1, Relaxed);
                    }
                });
            }
            for _ in 0..10 {
                let before = answered.load(Relaxed);
                fleetfoot.wait_until("answers", |_| {
                    is_over.load(Relaxed) || answered.load(Relaxed) > before + 200
                });
                tell(&redis, &["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
            }
            is_over.store(true, Relaxed);
        });
    }
}
