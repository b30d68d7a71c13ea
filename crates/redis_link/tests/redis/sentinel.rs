//! Sentinels: the master is found, and found again after a failover.

use std::time::Duration;

use message::Kind;
use plan::{RedisSource, Topology};
use redis_link::Value;

use crate::server::{Server, free_port, until};
use crate::{get, link, on_a_core, plan, set, tcp, text, until_ok};

fn sentinel_of(master: &Server, replica: &Server) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sentinel.conf");
    let text = format!(
        "sentinel monitor main 127.0.0.1 {} 1\nsentinel down-after-milliseconds main 500\n\
         sentinel failover-timeout main 3000\n",
        master.port
    );
    std::fs::write(&file, text).unwrap();
    let sentinel = Server::start_sentinel(file, folder);
    until("the sentinel knows the replica", || {
        sentinel.cli(&["SENTINEL", "REPLICAS", "main"]).contains(&replica.port.to_string())
    });
    sentinel
}

fn through(sentinels: Vec<u16>, master: &str) -> RedisSource {
    let sentinels = sentinels.into_iter().map(tcp).collect();
    plan(Topology::Sentinel { sentinels, master: master.to_owned() })
}

#[test]
fn the_new_master_is_found_after_a_failover() {
    let mut master = Server::start(&[]);
    let replica = Server::start(&[
        "--replicaof",
        &format!("127.0.0.1 {}", master.port),
        "--repl-diskless-sync-delay",
        "0",
    ]);
    until("the replica follows", || replica.cli(&["ROLE"]).contains("connected"));
    let sentinel = sentinel_of(&master, &replica);
    on_a_core(async {
        // The first of them is down.
        let link = link(through(vec![free_port(), sentinel.port], "main"));
        assert_eq!(link.ask(&set("a", "1")).await.unwrap(), Value::Okay);
        until("the replica has it", || replica.cli(&["GET", "a"]) == "1\n");
        master.kill();
        assert_eq!(until_ok(&link, &set("b", "2"), Duration::from_secs(15)).await, Value::Okay);
        assert_eq!(link.ask(&get("a")).await.unwrap(), text("1"));
        assert_eq!(replica.cli(&["GET", "b"]), "2\n");
    });
}

#[test]
fn a_master_that_nobody_knows_is_no_connection() {
    let master = Server::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sentinel.conf");
    std::fs::write(&file, format!("sentinel monitor main 127.0.0.1 {} 1\n", master.port)).unwrap();
    let sentinel = Server::start_sentinel(file, folder);
    on_a_core(async {
        let error = link(through(vec![sentinel.port], "other")).ask(&get("a")).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Connect);
        assert!(error.to_string().contains("no sentinel knows a master named other"), "{error}");
    });
}
