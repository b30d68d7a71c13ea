//! Clusters: each key at its server, and a dead server that takes only its own keys with it.

use std::time::{Duration, Instant};

use message::Kind;
use plan::{RedisSource, Topology};
use redis_link::{Value, cmd, code, pipe};
use testkit::{RedisCluster, RedisOptions, RedisServer};

use crate::{CONNECT_TIMEOUT, TIMEOUT, get, link, on_a_core, plan, set, tcp, text, until_ok};

/// Masters that go on when one of them is gone.
fn three_masters() -> RedisCluster {
    RedisCluster::start_with(3, false, &RedisOptions::new().line("cluster-require-full-coverage no"))
}

fn seeds(nodes: &[RedisServer]) -> RedisSource {
    plan(Topology::Cluster(nodes.iter().map(|node| tcp(node.port())).collect()))
}

/// One key of each master, in their order: `b` is in slot 3300, `c` in 7365, `a` in 15495.
const KEYS: [&str; 3] = ["b", "c", "a"];

#[test]
fn keys_are_read_and_written_where_they_are() {
    let cluster = three_masters();
    on_a_core(async {
        let link = link(seeds(&cluster.nodes()[..1]));
        for key in KEYS {
            assert_eq!(link.ask(&set(key, key)).await.unwrap(), Value::Okay);
            assert_eq!(link.ask(&get(key)).await.unwrap(), text(key));
        }
        assert_eq!(link.shared().figures().connects, 4, "one to learn, one to each");
        let mut pipeline = pipe();
        pipeline.add_command(set("{c}1", "1")).add_command(get("{c}1")).add_command(get("{c}2"));
        assert_eq!(link.ask_all(&pipeline).await.unwrap(), [Value::Okay, text("1"), Value::Nil]);
        let mut across = pipe();
        across.add_command(set("a", "1")).add_command(set("b", "2"));
        assert_eq!(code(&link.ask_all(&across).await.unwrap_err()), Some("MOVED"));
        let error = link.ask(cmd("MGET").arg("a").arg("b")).await.unwrap_err();
        assert_eq!(code(&error), Some("CROSSSLOT"));

        let mut dedicated = link.dedicated().await.unwrap();
        for key in KEYS {
            let value = dedicated.ask(&get(key), Duration::from_secs(1)).await.unwrap();
            assert_ne!(value, Value::Nil);
        }
        let nobody = link.listening(drop).await.err().unwrap();
        assert_eq!(nobody.kind(), Kind::Internal);
    });
}

#[test]
fn a_slot_that_moves_is_followed() {
    let cluster = three_masters();
    on_a_core(async {
        let link = link(seeds(cluster.nodes()));
        link.ask(&set("a", "1")).await.unwrap();
        let (third, first) = (cluster.node_of("a"), cluster.node_of("b"));
        let [from, to] = [third, first].map(|node| node.command(&["CLUSTER", "MYID"]).or_panic().text());
        // The slot of "a" is on its way from the third to the first: a key not there yet is asked for with ASKING.
        let _ok = first.command(&["CLUSTER", "SETSLOT", "15495", "IMPORTING", &from]).or_panic();
        let _ok = third.command(&["CLUSTER", "SETSLOT", "15495", "MIGRATING", &to]).or_panic();
        assert_eq!(link.ask(&get("a")).await.unwrap(), text("1"));
        assert_eq!(link.ask(&set("{a}new", "2")).await.unwrap(), Value::Okay);
        let _ok =
            third.command(&["MIGRATE", "127.0.0.1", &first.port().to_string(), "a", "0", "1000"]).or_panic();
        assert_eq!(link.ask(&get("a")).await.unwrap(), text("1"));
        for node in cluster.nodes() {
            let _ok = node.command(&["CLUSTER", "SETSLOT", "15495", "NODE", &to]).or_panic();
        }
        assert_eq!(link.ask(&get("a")).await.unwrap(), text("1"));
        assert_eq!(link.ask(&get("{a}new")).await.unwrap(), text("2"));
        assert_eq!(link.shared().figures().failures, 0);
    });
}

/// Asks for keys of the first and the third while the second is away: neither fails nor waits.
async fn others_go_on(link: &redis_link::Link, most: Duration) {
    let mut failed = 0;
    for round in 0..100 {
        let begun = Instant::now();
        let (one, two, three) = (get(KEYS[0]), get(KEYS[1]), get(KEYS[2]));
        let others = async {
            let replies = (link.ask(&one).await, link.ask(&three).await);
            (replies, begun.elapsed())
        };
        let (((one, three), took), two) = tokio::join!(others, link.ask(&two));
        assert_eq!(one.unwrap(), text(KEYS[0]), "round {round}");
        assert_eq!(three.unwrap(), text(KEYS[2]), "round {round}");
        assert!(took < most, "round {round}: {took:?}");
        failed += usize::from(two.is_err());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(failed > 90, "{failed}");
    assert!(link.shared().is_up());
}

#[test]
fn a_dead_server_takes_only_its_own_keys_with_it_and_is_found_when_it_is_back() {
    let cluster = three_masters();
    let second = cluster.node_of(KEYS[1]);
    on_a_core(async {
        let link = link(seeds(cluster.nodes()));
        for key in KEYS {
            link.ask(&set(key, key)).await.unwrap();
        }
        second.kill();
        others_go_on(&link, TIMEOUT).await;
        second.restart();
        assert_eq!(until_ok(&link, &set(KEYS[1], "back"), Duration::from_secs(8)).await, Value::Okay);
    });
}

#[test]
fn a_silent_server_takes_only_its_own_keys_with_it() {
    let cluster = three_masters();
    let second = cluster.node_of(KEYS[1]);
    on_a_core(async {
        let link = link(seeds(cluster.nodes()));
        for key in KEYS {
            link.ask(&set(key, key)).await.unwrap();
        }
        second.pause();
        others_go_on(&link, TIMEOUT).await;
        let begun = Instant::now();
        assert!(link.ask(&get(KEYS[1])).await.is_err());
        assert!(begun.elapsed() < TIMEOUT + CONNECT_TIMEOUT + Duration::from_millis(150));
        second.resume();
        assert_eq!(until_ok(&link, &get(KEYS[1]), Duration::from_secs(8)).await, text(KEYS[1]));
    });
}
