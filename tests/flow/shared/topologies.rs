//! Sentinels, clusters, TLS, users and sockets: wherever Redis is, instances share through it, and a failover in the
//! middle of load fails no request.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Certificate, Fleetfoot, RedisCluster, RedisSentinel, RedisServer, wait_until};

use super::instances::{counting, joined, until_it_hears, until_written};
use crate::control_port::port::purge;
use crate::load::{Load, meanwhile, telling_the_time};

/// Two instances share answers and purges through what this source says.
fn is_shared_through(source: &str) {
    let origin = counting("");
    let (mut one, other) = (joined(&origin, source, ""), joined(&origin, source, ""));
    for number in 0..20 {
        one.get(&format!("/{number}"));
    }
    until_written(&mut one, 20);
    for number in 0..20 {
        let answer = other.get(&format!("/{number}"));
        assert!(answer.is_hit() && answer.text() == format!("/{number} 1"), "{number}: {:?}", answer.head);
    }
    purge(&other, &json!({ "url": "http://example.test/7" }));
    wait_until("forgotten", || one.get("/7").text() == "/7 2");
    assert_eq!(one.get("/8").text(), "/8 1");
}

#[test]
fn a_socket_of_this_machine() {
    let redis = RedisServer::options().unix_socket().start();
    is_shared_through(&format!("redis: \"unix:{}\"", redis.socket_path().display()));
}

#[test]
fn a_user_who_may_do_no_more_than_it_needs() {
    let redis = RedisServer::options()
        .acl("user cache on >a-secret-word ~shop:* resetchannels -@all +@connection +@read +@string +@scripting +@stream +del +exists +time +pttl +info +role")
        .start();
    is_shared_through(&format!(
        "redis: {}, user: cache, password: a-secret-word, tier: {{ prefix: shop }}",
        redis.url()
    ));
}

#[test]
fn over_tls() {
    let certificate = Certificate::new();
    let redis = RedisServer::options().tls(&certificate).start();
    is_shared_through(&format!(
        "redis: \"rediss://localhost:{}\", tls: {{ authorities: {} }}",
        redis.port(),
        certificate.file().display()
    ));
}

#[test]
fn a_cluster() {
    let cluster = RedisCluster::start(3);
    let nodes: Vec<_> = cluster.nodes().iter().map(RedisServer::url).collect();
    is_shared_through(&format!("redis: [{}], topology: cluster", nodes.join(", ")));
    let with_answers = cluster
        .nodes()
        .iter()
        .filter(|node| !node.keys("fleetfoot:{????????????????????????????????}").is_empty());
    assert!(with_answers.count() > 1, "they are spread");
}

#[test]
fn a_master_that_sentinels_know() {
    let sentinel = RedisSentinel::start();
    let sentinels: Vec<_> = sentinel.sentinels().iter().map(RedisServer::url).collect();
    is_shared_through(&format!(
        "redis: [{}], topology: sentinel, master: {}",
        sentinels.join(", "),
        sentinel.name()
    ));
}

const FRESH: &str = "Cache-Control: max-age=1, stale-while-revalidate=1";

fn under_load(source: &str, trouble: impl FnOnce()) {
    let begun = Instant::now();
    let origin = telling_the_time(begun, FRESH);
    let mut instances: [Fleetfoot; 2] = [0; 2].map(|_| joined(&origin, source, ""));
    let load = Load::on(&[&instances[0], &instances[1]], begun);
    meanwhile(300);
    trouble();
    meanwhile(500);
    load.stop().is_fine(source, Duration::from_millis(3500));
    instances.iter_mut().for_each(until_it_hears);
    // Purges go through what is left.
    let [one, other] = &instances;
    other.get("/0");
    purge(one, &json!({ "everything": true }));
    wait_until("heard", || other.metrics().count("fleetfoot_purges_heard_total") >= 1);
}

#[test]
fn a_failover_in_the_middle_of_load_fails_no_request() {
    let sentinel = RedisSentinel::start();
    let sentinels: Vec<_> = sentinel.sentinels().iter().map(RedisServer::url).collect();
    let source =
        format!("redis: [{}], topology: sentinel, master: {}", sentinels.join(", "), sentinel.name());
    under_load(&source, || {
        sentinel.fail_over();
    });
}

#[test]
fn a_dead_node_of_a_cluster_in_the_middle_of_load_fails_no_request() {
    let cluster = RedisCluster::with_replicas(3);
    let nodes: Vec<_> = cluster.nodes().iter().map(RedisServer::url).collect();
    let source = format!("redis: [{}], topology: cluster", nodes.join(", "));
    under_load(&source, || {
        cluster.fail_over("fleetfoot:{purges}");
    });
}
