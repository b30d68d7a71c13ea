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

/// The line that tells what changes is back before anybody has probed the other connections.
#[test]
fn nobody_is_refused_while_a_tracked_redis_comes_back_nor_afterwards() {
    let redis = testkit::RedisServer::start();
    let line = testkit::SlowLink::to(redis.port());
    tell(&redis, &["SET", "a", "one"]);
    let source = format!(
        "{{ redis: \"redis://{}\", public: true, mode: tracked, timeout: 200ms, max_stale: 1m, rest: 30s }}",
        line.address()
    );
    let mut fleetfoot = testkit::Fleetfoot::start(&super::support::of_source(&source, &[GET]));
    super::support::until_it_tells(&mut fleetfoot);
    super::support::hold(&mut fleetfoot, "/get/a");
    for _ in 0..3 {
        line.cut();
        fleetfoot.wait_until("left alone", |fleetfoot| {
            assert_eq!(fleetfoot.get("/get/a").status, 200);
            figure(&fleetfoot.metrics(), "fleetfoot_redis_up", &[]) == 0
        });
        line.restore();
        fleetfoot.wait_until("back", |fleetfoot| {
            let answer = fleetfoot.get("/get/a");
            assert_eq!((answer.status, answer.text().as_str()), (200, "one"), "{answer:?}");
            super::support::tracks(&fleetfoot.metrics())
        });
        // The breaker would have rested for much longer.
        super::support::hold(&mut fleetfoot, "/get/a");
        assert_eq!(figure(&fleetfoot.metrics(), "fleetfoot_redis_up", &[]), 1);
    }
}

#[test]
fn what_changed_shortly_before_it_was_gone_is_given_as_it_was() {
    let (redis, mut fleetfoot) = reading("mode: tracked, max_stale: 1m", &[GET]);
    super::support::until_it_tells(&mut fleetfoot);
    tell(&redis, &["SET", "a", "one"]);
    super::support::hold(&mut fleetfoot, "/get/a");
    tell(&redis, &["SET", "a", "two"]);
    fleetfoot
        .wait_for_metrics("told", |metrics| figure(metrics, "fleetfoot_redis_invalidations_total", &[]) >= 2);
    redis.kill();
    let stale = fleetfoot.get("/get/a");
    assert_eq!((stale.status, stale.text().as_str()), (200, "one"), "{stale:?}");
    assert!(stale.cache_status().ends_with("; detail=redis-gone"), "{stale:?}");
}

/// As where the user may not track: each read asks, and what it brought stands in.
#[test]
fn what_was_read_while_redis_did_not_tell_stands_in_too() {
    let redis = testkit::RedisServer::options()
        .acl("user reader on >a-secret-word ~* resetchannels -@all +@read +@connection -client|tracking")
        .start();
    tell(&redis, &["SET", "a", "one"]);
    let source = "mode: tracked, max_stale: 1m, user: reader, password: a-secret-word";
    let fleetfoot = testkit::Fleetfoot::start(&config(&redis, source, &[GET]));
    assert_eq!(fleetfoot.get("/get/a").text(), "one");
    redis.kill();
    assert_eq!(fleetfoot.get("/get/a").text(), "one");
}

#[test]
fn what_the_user_may_not_read_is_logged_and_counted() {
    let redis = testkit::RedisServer::options()
        .acl("user reader on >a-secret-word ~public:* resetchannels -@all +@read +@connection")
        .start();
    let source = "user: reader, password: a-secret-word";
    let mut fleetfoot = testkit::Fleetfoot::start(&config(&redis, source, &[GET]));
    for _ in 0..3 {
        assert_eq!(fleetfoot.get("/get/secret").status, 502);
    }
    assert_eq!(fleetfoot.get("/get/public:a").status, 404);
    fleetfoot.wait_for_metrics("counted", |metrics| {
        figure(metrics, "fleetfoot_redis_denied_total", &["source=\"redis\""]) == 3
    });
    let told = fleetfoot.stderr().wait_for("NOPERM").unwrap();
    assert!(told.contains("source redis: ") && told.contains("give the user the right"), "{told}");
    let lines = fleetfoot.stderr().all();
    assert_eq!(lines.iter().filter(|line| line.contains("give the user the right")).count(), 1, "{lines:?}");
}
