//! Purges that Redis loses: by a failover to a server that had not got them, by an eviction, or while an instance with
//! answers on disk was not running. Nobody goes on as if there had been none.

use std::path::Path;

use serde_json::json;
use testkit::{Fleetfoot, Origin, RedisServer, wait_until};

use super::instances::{config, counting, joined, two, until_it_hears, until_written};
use super::purges::{doubts, with_a_line};
use crate::control_port::port::purge;

const STREAM: &str = "fleetfoot:{purges}";

#[test]
fn a_stream_that_alone_was_evicted_is_begun_anew() {
    let origin = counting("");
    let (redis, one, other) = two(&origin, "");
    redis.command(&["DEL", STREAM]);
    purge(&one, &json!({ "tag": "t" }));
    wait_until("heard", || other.metrics().count("fleetfoot_purges_heard_total") == 1);
}

#[test]
fn a_stream_that_was_emptied_can_be_joined() {
    let origin = counting("");
    let (redis, one, _other) = two(&origin, "");
    redis.command(&["XTRIM", STREAM, "MAXLEN", "0"]);
    let late = joined(&origin, &format!("redis: {}", redis.url()), "");
    purge(&one, &json!({ "tag": "t" }));
    wait_until("heard", || late.metrics().count("fleetfoot_purges_heard_total") == 1);
}

/// As after a failover: who heard of it knows that it is missing, who did not cannot.
#[test]
fn who_never_heard_of_a_purge_that_is_lost_asks_the_origin_again() {
    let origin = counting("");
    let (redis, line, mut here, mut there) = with_a_line(&origin, "unheard: 1h");
    here.get("/");
    until_written(&mut here, 1);
    assert!(there.get("/").is_hit());
    line.cut();
    there.wait_for_metrics("being cut off", |metrics| metrics.count("fleetfoot_shared_hears") == 0);
    purge(&here, &json!({ "url": "http://example.test/" }));
    wait_until("told", || here.metrics().count("fleetfoot_purges_told_total") == 1);
    let told = redis.command(&["XREVRANGE", STREAM, "+", "-", "COUNT", "1"]);
    let place = told.array()[0].array()[0].text();
    assert_eq!(redis.command(&["XDEL", STREAM, &place]).int(), 1);
    line.restore();
    wait_until("asked again", || there.get("/").text() != "/ 1");
    assert!(doubts(&there) >= 1);
}

fn with_disk(origin: &Origin, redis: &RedisServer, folder: &Path) -> Fleetfoot {
    let text = config(origin, &format!("redis: {}", redis.url()), "");
    let disk = format!("disk: {{ folder: \"{}\", size: 64MiB }}\nsources:", folder.display());
    Fleetfoot::start(&text.replace("sources:", &disk))
}

/// An instance that has two answers on disk and is stopped, and one that purges the first of them meanwhile.
fn purged_while_stopped() -> (Origin, RedisServer, tempfile::TempDir, Fleetfoot) {
    let (origin, folder, redis) =
        (counting(""), tempfile::tempdir().expect("a temporary directory"), RedisServer::start());
    let mut other = joined(&origin, &format!("redis: {}", redis.url()), "");
    let mut one = with_disk(&origin, &redis, folder.path());
    until_it_hears(&mut one);
    one.get("/a");
    one.get("/b");
    until_written(&mut one, 2);
    one.wait_for_metrics("on disk", |metrics| metrics.count("fleetfoot_disk_records") == 2);
    one.terminate();
    assert!(one.wait_for_exit().success());
    purge(&other, &json!({ "url": "http://example.test/a" }));
    other.wait_for_metrics("told", |metrics| metrics.count("fleetfoot_purges_told_total") == 1);
    (origin, redis, folder, other)
}

#[test]
fn what_lies_on_disk_is_compared_with_the_purges_of_meanwhile() {
    let (origin, redis, folder, _other) = purged_while_stopped();
    let mut one = with_disk(&origin, &redis, folder.path());
    assert_eq!(one.get("/a").text(), "/a 2", "also before it has heard of it");
    until_it_hears(&mut one);
    assert_eq!(one.get("/b").text(), "/b 1");
    assert_eq!(doubts(&one), 0, "all of them were told");
}

#[test]
fn what_lies_on_disk_is_stale_where_nobody_can_say_what_was_purged() {
    let (origin, redis, folder, other) = purged_while_stopped();
    redis.flush_all();
    wait_until("begun anew", || doubts(&other) >= 1);
    wait_until("heard", || other.metrics().count("fleetfoot_shared_hears") == 1);
    let mut one = with_disk(&origin, &redis, folder.path());
    until_it_hears(&mut one);
    assert_eq!(one.get("/a").text(), "/a 2");
}
