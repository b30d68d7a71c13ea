//! A replica beside us: read from while it is in step, and only then.

use std::time::{Duration, Instant};

use testkit::{Fleetfoot, RedisServer, SlowLink, wait_until};

use super::support::{GET, config, figure, tell};

struct Pair {
    master: RedisServer,
    replica: RedisServer,
}

fn pair(source: &str) -> (Pair, Fleetfoot) {
    let master = RedisServer::start();
    let replica = RedisServer::options().replica_of(&master).start();
    replica.wait_until_replicated();
    let source = format!("mode: replica, replica: \"{}\", {source}", replica.url());
    let pair = Pair { master, replica };
    // A master sends nothing to a new replica before it has heard of it again, which takes up to a second.
    pair.set("first", "x");
    let mut fleetfoot = Fleetfoot::start(&config(&pair.master, &source, &[GET]));
    until_in_step(&mut fleetfoot, true);
    (pair, fleetfoot)
}

impl Pair {
    /// Sets a key, and comes back when both have it.
    fn set(&self, key: &str, value: &str) {
        tell(&self.master, &["SET", key, value]);
        wait_until("replicated", || self.replica.command(&["GET", key]).text() == value);
    }
}

fn until_in_step(fleetfoot: &mut Fleetfoot, wanted: bool) {
    let wanted = u64::from(wanted);
    fleetfoot.wait_for_metrics("in step", |metrics| {
        figure(metrics, "fleetfoot_redis_replica_in_step", &[]) == wanted
    });
}

/// How often a server was asked to `GET`.
fn gets(server: &RedisServer) -> u64 {
    let told = server.info("cmdstat_get");
    let calls = told.strip_prefix("calls=").and_then(|rest| rest.split(',').next());
    calls.map_or(0, |calls| calls.parse().expect("calls are a number"))
}

#[test]
fn in_step_it_is_read_and_the_master_is_not() {
    let (pair, fleetfoot) = pair("max_lag: 10s");
    pair.set("a", "one");
    let before = gets(&pair.replica);
    for _ in 0..20 {
        assert_eq!(fleetfoot.get("/get/a").text(), "one");
    }
    assert_eq!((gets(&pair.replica) - before, gets(&pair.master)), (20, 0));
}

#[test]
fn out_of_step_the_master_is_read() {
    let (pair, mut fleetfoot) = pair("max_lag: 500ms, timeout: 200ms");
    pair.set("a", "one");

    pair.replica.pause();
    for _ in 0..5 {
        assert_eq!(fleetfoot.get("/get/a").text(), "one", "no request fails");
    }
    until_in_step(&mut fleetfoot, false);
    tell(&pair.master, &["SET", "a", "two"]);
    assert_eq!(fleetfoot.get("/get/a").text(), "two");
    pair.replica.resume();
    until_in_step(&mut fleetfoot, true);

    tell(&pair.replica, &["REPLICAOF", "NO", "ONE"]);
    tell(&pair.replica, &["SET", "a", "its own"]);
    until_in_step(&mut fleetfoot, false);
    assert_eq!(fleetfoot.get("/get/a").text(), "two", "it is a master of its own now");

    let port = pair.master.port().to_string();
    tell(&pair.replica, &["REPLICAOF", "127.0.0.1", &port]);
    until_in_step(&mut fleetfoot, true);
    assert_eq!(fleetfoot.get("/get/a").text(), "two");
}

/// The link is up, as far as the replica can see, but all comes late.
#[test]
fn a_replica_that_lags_is_found_out() {
    let (pair, mut fleetfoot) = pair("max_lag: 300ms");
    let link = SlowLink::to(pair.master.port());
    tell(&pair.replica, &["REPLICAOF", "127.0.0.1", &link.port().to_string()]);
    pair.replica.wait_until_replicated();
    pair.set("first", "y");
    until_in_step(&mut fleetfoot, true);
    for round in 0..3 {
        link.set_delay(Duration::from_secs(2));
        let value = format!("{round}");
        tell(&pair.master, &["SET", "a", &value]);
        let begun = Instant::now();
        let mut seen = false;
        while begun.elapsed() < Duration::from_secs(1) {
            let text = fleetfoot.get("/get/a").text();
            let after = begun.elapsed();
            assert!(
                text == value || (after < Duration::from_millis(500) && !seen),
                "{text:?} after {after:?}"
            );
            seen = text == value;
        }
        assert_eq!(pair.replica.info("master_link_status"), "up");
        link.set_delay(Duration::ZERO);
        until_in_step(&mut fleetfoot, true);
        let before = gets(&pair.replica);
        assert_eq!(fleetfoot.get("/get/a").text(), value);
        assert_eq!(gets(&pair.replica) - before, 1);
    }
}

#[test]
fn a_replica_stands_in_for_a_master_that_is_gone() {
    let (pair, mut fleetfoot) = pair("max_lag: 300ms, max_stale: 3s, timeout: 200ms");
    pair.set("a", "one");
    pair.set("b", "two");
    pair.master.kill();
    until_in_step(&mut fleetfoot, false);
    let stale = fleetfoot.get("/get/b");
    assert_eq!((stale.status, stale.text().as_str()), (200, "two"), "never read before: {stale:?}");
    assert!(stale.age().is_some() && stale.ttl().is_some_and(|ttl| ttl < 0), "{stale:?}");
    fleetfoot.wait_until("too old", |fleetfoot| fleetfoot.get("/get/a").status == 503);
}
