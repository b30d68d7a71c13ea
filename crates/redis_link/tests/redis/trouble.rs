//! Servers that fall silent, die and come back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use message::{Kind, Retry};
use redis_link::{Link, Value, cmd};
use testkit::{Port, RedisServer};

use crate::{CONNECT_TIMEOUT, TIMEOUT, get, link, on_a_core, set, standalone, text, until_ok};

/// For timers and a busy machine.
const SLACK: Duration = Duration::from_millis(150);

#[test]
fn a_silent_server_costs_nobody_more_than_the_timeouts_and_works_again_when_it_speaks() {
    let server = RedisServer::start();
    on_a_core(async {
        let link = link(standalone(server.port()));
        link.ask(&set("a", "1")).await.unwrap();
        server.pause();
        let mut kinds = Vec::new();
        let halted = Instant::now();
        while halted.elapsed() < Duration::from_millis(2500) {
            let begun = Instant::now();
            let error = link.ask(&get("a")).await.unwrap_err();
            assert!(begun.elapsed() < TIMEOUT + CONNECT_TIMEOUT + SLACK, "{:?}", begun.elapsed());
            kinds.push(error.kind());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(&kinds[..3], [Kind::SourceTimeout; 3]);
        let refused = kinds.iter().filter(|kind| **kind == Kind::Connect).count();
        assert!(refused * 10 > kinds.len() * 8, "the breaker spares most: {kinds:?}");
        assert!(!link.shared().is_up());
        assert!(link.shared().figures().openings >= 1);
        server.resume();
        assert_eq!(until_ok(&link, &get("a"), Duration::from_secs(6)).await, text("1"));
        for _ in 0..10 {
            assert_eq!(link.ask(&get("a")).await.unwrap(), text("1"));
        }
    });
}

#[test]
fn many_requests_at_once_to_a_silent_server_all_come_back() {
    let server = RedisServer::start();
    on_a_core(async {
        let link = link(standalone(server.port()));
        link.ask(&set("a", "1")).await.unwrap();
        server.pause();
        let begun = Instant::now();
        let tasks: Vec<_> = (0..1000)
            .map(|_| {
                let link = link.clone();
                tokio::task::spawn_local(async move { link.ask(&get("a")).await })
            })
            .collect();
        for task in tasks {
            assert!(task.await.unwrap().is_err());
        }
        assert!(begun.elapsed() < TIMEOUT + CONNECT_TIMEOUT + 3 * SLACK, "{:?}", begun.elapsed());
        server.resume();
    });
}

#[test]
fn a_late_reply_is_nobody_elses() {
    let server = RedisServer::start();
    on_a_core(async {
        let link = link(standalone(server.port()));
        link.ask(&set("a", "mine")).await.unwrap();
        link.ask(&set("b", "yours")).await.unwrap();
        server.pause();
        assert_eq!(link.ask(&get("a")).await.unwrap_err().kind(), Kind::SourceTimeout);
        // Left by whoever asked.
        assert!(tokio::time::timeout(Duration::from_millis(20), link.ask(&get("a"))).await.is_err());
        server.resume();
        assert_eq!(link.ask(&get("b")).await.unwrap(), text("yours"));
        assert_eq!(link.shared().figures().connects, 1, "the connection is still in order");
    });
}

#[test]
fn a_killed_server_fails_at_once_and_one_started_again_is_found() {
    let server = RedisServer::start();
    on_a_core(async {
        let link = link(standalone(server.port()));
        link.ask(&set("a", "1")).await.unwrap();
        server.kill();
        let begun = Instant::now();
        for _ in 0..100 {
            let error = link.ask(&get("a")).await.unwrap_err();
            assert!(matches!(error.kind(), Kind::Connect | Kind::BrokeOff), "{error:?}");
        }
        assert!(begun.elapsed() < TIMEOUT, "{:?}", begun.elapsed());
        server.restart();
        assert_eq!(until_ok(&link, &get("a"), Duration::from_secs(6)).await, Value::Nil);
    });
}

#[test]
fn a_restart_while_nobody_asks_is_not_noticed() {
    let server = RedisServer::start();
    on_a_core(async {
        let link = link(standalone(server.port()));
        link.ask(&set("a", "1")).await.unwrap();
        server.kill();
        server.restart();
        tokio::time::sleep(Duration::from_millis(120)).await;
        assert_eq!(link.ask(&get("a")).await.unwrap(), Value::Nil);
    });
}

#[test]
fn nobody_there_is_one_failure_for_all_who_waited() {
    let nobody = Port::reserve();
    on_a_core(async {
        let link = link(standalone(nobody.number()));
        let command = get("a");
        let (one, two, three) = tokio::join!(link.ask(&command), link.ask(&command), link.ask(&command));
        for error in [one.unwrap_err(), two.unwrap_err(), three.unwrap_err()] {
            assert_eq!((error.kind(), error.may_retry()), (Kind::Connect, Retry::Always));
        }
        assert_eq!(link.shared().figures().failures, 1);
        let begun = Instant::now();
        let error = link.ask(&command).await.unwrap_err();
        assert!(begun.elapsed() < Duration::from_millis(50));
        assert!(error.to_string().contains("too soon"), "{error}");
    });
}

#[test]
fn a_server_that_accepts_and_never_greets_is_given_up_in_time() {
    on_a_core(async {
        let silent = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let link = link(standalone(silent.local_addr().unwrap().port()));
        let begun = Instant::now();
        let error = link.ask(&get("a")).await.unwrap_err();
        assert_eq!(error.kind(), Kind::ConnectTimeout);
        assert!(begun.elapsed() < CONNECT_TIMEOUT + SLACK);
    });
}

#[test]
fn a_master_that_became_a_replica_is_left() {
    let (server, master) = (RedisServer::start(), RedisServer::start());
    on_a_core(async {
        let link = link(standalone(server.port()));
        link.ask(&set("a", "1")).await.unwrap();
        let _ok = server.command(&["REPLICAOF", "127.0.0.1", &master.port().to_string()]).or_panic();
        let error = link.ask(&set("a", "2")).await.unwrap_err();
        assert_eq!(redis_link::code(&error), Some("READONLY"));
        let _ok = server.command(&["REPLICAOF", "NO", "ONE"]).or_panic();
        assert_eq!(until_ok(&link, &set("a", "2"), Duration::from_secs(2)).await, Value::Okay);
        assert_eq!(link.shared().figures().connects, 2);
        assert_eq!(link.ask(&cmd("PING")).await.unwrap(), Value::SimpleString("PONG".to_owned()));
    });
}

#[test]
fn what_one_core_finds_well_again_the_others_use_at_once() {
    let server = RedisServer::start();
    on_a_core(async {
        let one = link(standalone(server.port()));
        let other = Link::new(Arc::clone(one.shared()));
        one.ask(&set("a", "1")).await.unwrap();
        other.ask(&set("a", "1")).await.unwrap();
        server.kill();
        let killed = Instant::now();
        while one.shared().is_up() || killed.elapsed() < Duration::from_millis(500) {
            one.ask(&get("a")).await.unwrap_err();
            other.ask(&get("a")).await.unwrap_err();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        server.restart();
        until_ok(&one, &get("a"), Duration::from_secs(6)).await;
        assert_eq!(other.ask(&get("a")).await.unwrap(), Value::Nil);
    });
}
