//! A Redis that fails by halves: it reads and does not write, or one instance alone is cut off from it. A purge is told when
//! Redis has taken it and not before; who cannot tell says so; and the others doubt what they hold within `unheard`.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Fleetfoot, Gate, Origin, RedisServer, Script, SlowLink, ok, wait_until};

use super::instances::{config, counting, joined, until_it_hears, until_written};
use super::purges::doubts;
use crate::control_port::port::{get, purge};

/// How Redis comes to refuse what is written, what it says then, and how that ends.
type Refusal = (&'static str, &'static [&'static [&'static str]], &'static [&'static [&'static str]]);

const REFUSALS: [Refusal; 5] = [
    ("OOM", &[&["CONFIG", "SET", "maxmemory", "1"]], &[&["CONFIG", "SET", "maxmemory", "0"]]),
    (
        "NOREPLICAS",
        &[&["CONFIG", "SET", "min-replicas-to-write", "1"]],
        &[&["CONFIG", "SET", "min-replicas-to-write", "0"]],
    ),
    (
        "can't run this command",
        &[&["ACL", "SETUSER", "default", "-xadd"]],
        &[&["ACL", "SETUSER", "default", "+xadd"]],
    ),
    ("MISCONF", &[&["CONFIG", "SET", "save", "3600 1"], &["BGSAVE"]], &[&["CONFIG", "SET", "save", ""]]),
    ("READONLY", &[&["REPLICAOF", "127.0.0.1", "1"]], &[&["REPLICAOF", "NO", "ONE"]]),
];

fn tells(fleetfoot: &mut Fleetfoot, tells: u64) {
    fleetfoot.wait_for_metrics("telling", |metrics| metrics.count("fleetfoot_shared_tells") == tells);
}

#[test]
fn what_redis_does_not_take_is_not_told_and_the_others_doubt() {
    for (why, refuse, accept) in REFUSALS {
        let origin = counting("");
        let redis = RedisServer::start();
        let source = format!("redis: {}, tier: {{ unheard: 2s }}", redis.url());
        let [mut one, mut other] = [0; 2].map(|_| joined(&origin, &source, ""));
        one.get("/");
        until_written(&mut one, 1);
        assert!(other.get("/").is_hit());
        // Where it saves what it holds a folder is in the way, so it can save nothing.
        let folder = redis.command(&["CONFIG", "GET", "dir"]).texts()[1].clone();
        std::fs::create_dir_all(Path::new(&folder).join("dump.rdb/in-the-way")).unwrap();
        for command in refuse {
            drop(redis.command(command).or_panic());
        }
        if why == "MISCONF" {
            wait_until("refusing", || redis.command(&["SET", "any", "thing"]).error().is_some());
        }
        let told = purge(&one, &json!({ "url": "http://example.test/" }));
        let others = told["other_instances"].as_str().unwrap();
        assert!(told["in_force"] == true && others.starts_with("not told yet: "), "{why}: {others}");
        tells(&mut one, 0);
        assert_eq!(one.metrics().count("fleetfoot_purges_untold"), 1, "{why}");
        let ready = get(&one, "/readyz");
        assert_eq!(
            (&ready["ready"], &ready["degraded"][0]["check"]),
            (&json!(true), &json!("tier shared")),
            "{why}"
        );
        assert_eq!(one.get("/").text(), "/ 2", "{why}");
        wait_until("doubted", || other.get("/").text() != "/ 1");
        if why != "READONLY" {
            // There the server counts as one that is gone.
            let missing = ready["degraded"][0]["missing"].as_str().unwrap();
            assert!(missing.contains(why) && others.contains(why), "{why}: {missing}; {others}");
            let complaint = one.stderr().wait_for("so the others do not hear of it").unwrap();
            assert!(complaint.contains(why), "{complaint}");
            let complaints =
                one.stderr().all().iter().filter(|line| line.contains("so the others do not hear")).count();
            assert_eq!(complaints, 1, "{why}");
        }
        for command in accept {
            drop(redis.command(command).or_panic());
        }
        tells(&mut one, 1);
        wait_until("told", || one.metrics().count("fleetfoot_purges_untold") == 0);
        wait_until("heard", || other.metrics().count("fleetfoot_purges_heard_total") == 1);
        until_it_hears(&mut other);
        assert_eq!(purge(&one, &json!({ "tag": "t" }))["other_instances"], "told", "{why}");
    }
}

#[test]
fn who_is_cut_off_alone_is_missed_by_the_others() {
    let origin = counting("");
    let redis = RedisServer::start();
    let line = SlowLink::to(redis.port());
    let source = |at| format!("redis: redis://{at}, tier: {{ unheard: 2s }}");
    let mut here = joined(&origin, &source(redis.address()), "");
    let mut there = joined(&origin, &source(line.address()), "");
    here.get("/");
    until_written(&mut here, 1);
    there.get("/");
    line.cut();
    let told = purge(&there, &json!({ "url": "http://example.test/" }));
    assert!(told["other_instances"].as_str().unwrap().starts_with("not told yet"), "{told}");
    // What lies in Redis has not seen the purge either.
    wait_until("doubted", || here.get("/").text() != "/ 1");
    here.wait_for_metrics("missing it", |metrics| metrics.count("fleetfoot_shared_missing") == 1);
    let ready = get(&here, "/readyz");
    assert!(ready["degraded"][0]["missing"].as_str().unwrap().contains("fallen silent"), "{ready}");
    let late = joined(&origin, &source(redis.address()), "");
    wait_until("missed by who came later", || late.metrics().count("fleetfoot_shared_missing") == 1);
    line.restore();
    until_it_hears(&mut there);
    here.wait_for_metrics("back", |metrics| {
        metrics.count("fleetfoot_shared_missing") == 0 && metrics.count("fleetfoot_purges_heard_total") == 1
    });
    assert!(get(&here, "/readyz")["degraded"].is_null());
}

#[test]
fn who_leaves_is_not_missed_and_who_is_killed_is() {
    let origin = counting("");
    let redis = RedisServer::start();
    let source = format!("redis: {}, tier: {{ unheard: 2s }}", redis.url());
    let [mut stays, mut leaves, dies] = [0; 3].map(|_| joined(&origin, &source, ""));
    leaves.terminate();
    assert!(leaves.wait_for_exit().success());
    drop(dies);
    stays.wait_for_metrics("missing", |metrics| metrics.count("fleetfoot_shared_missing") > 0);
    assert_eq!(stays.metrics().count("fleetfoot_shared_missing"), 1);
    wait_until("doubted", || doubts(&stays) >= 1);
    stays.stderr().wait_for("has not been heard of").unwrap();
}

#[test]
fn while_all_is_well_nobody_doubts() {
    let origin = counting("");
    let redis = RedisServer::start();
    let source = format!("redis: {}, tier: {{ unheard: 4s }}", redis.url());
    let [one, other] = [0; 2].map(|_| joined(&origin, &source, ""));
    let begun = Instant::now();
    wait_until("a while", || begun.elapsed() > Duration::from_secs(6));
    assert_eq!((doubts(&one), doubts(&other)), (0, 0));
}

/// The claim arrives, and its reply comes too late: nobody knows that the lock is taken.
#[test]
fn a_lock_whose_reply_was_lost_delays_nobody_for_as_long_as_a_lock_lasts() {
    const LOCK: Duration = Duration::from_mins(1);
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("/").replies([Script::new().wait(&gate).then(ok("", "slow")), ok("", "fast")]);
    let redis = RedisServer::start();
    let line = SlowLink::to(redis.port());
    let source = |at| format!("redis: redis://{at}, tier: {{ lock: {}s }}", LOCK.as_secs());
    let here = joined(&origin, &source(redis.address()), "");
    let there = joined(&origin, &source(line.address()), "");
    line.set_delay(Duration::from_millis(300));
    let mut slow = there.connect();
    slow.send("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n");
    origin.wait_for(1, "GET /");
    // The claim is on its way, or there.
    let begun = Instant::now();
    wait_until("there", || begun.elapsed() > Duration::from_millis(400));
    assert_eq!(here.get("/").text(), "fast");
    assert!(begun.elapsed() < LOCK / 2, "{:?}", begun.elapsed());
    gate.open();
    assert_eq!(slow.read_answer().text(), "slow");
}

/// Whatever it is that it may not do, it is told.
#[test]
fn without_the_rights_it_needs_it_says_so() {
    let origin = counting("");
    let redis = RedisServer::options()
        .acl("user cache on >a-secret-word ~fleetfoot:* resetchannels -@all +@connection +@read +@scripting +time +info")
        .start();
    let source = format!("redis: {}, user: cache, password: a-secret-word", redis.url());
    let fleetfoot = Fleetfoot::start(&config(&origin, &source, ""));
    assert_eq!(fleetfoot.get("/").status, 200);
    let told = fleetfoot.stderr().wait_for("can't run this command").unwrap();
    assert!(told.contains("source shared"), "{told}");
}
