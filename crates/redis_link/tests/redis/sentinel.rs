//! Sentinels: the master is found, and found again after a failover.

use std::time::Duration;

use message::Kind;
use plan::{RedisSource, Topology};
use redis_link::Value;
use testkit::{Port, RedisSentinel, wait_until};

use crate::{get, link, on_a_core, plan, set, tcp, text, until_ok};

fn through(sentinels: &[u16], master: &str) -> RedisSource {
    let sentinels = sentinels.iter().copied().map(tcp).collect();
    plan(Topology::Sentinel { sentinels, master: master.to_owned() })
}

#[test]
fn the_new_master_is_found_after_a_failover() {
    let sentinel = RedisSentinel::start();
    let (master, replica) = (sentinel.master(), sentinel.replica());
    let nobody = Port::reserve();
    on_a_core(async {
        // The first of them is down.
        let sentinels = [nobody.number(), sentinel.sentinels()[0].port()];
        let link = link(through(&sentinels, sentinel.name()));
        assert_eq!(link.ask(&set("a", "1")).await.unwrap(), Value::Okay);
        wait_until("replicated", || replica.command(&["GET", "a"]).text() == "1");
        master.kill();
        assert_eq!(until_ok(&link, &set("b", "2"), Duration::from_secs(15)).await, Value::Okay);
        assert_eq!(link.ask(&get("a")).await.unwrap(), text("1"));
        assert_eq!(replica.command(&["GET", "b"]).text(), "2");
    });
}

#[test]
fn a_master_that_nobody_knows_is_no_connection() {
    let sentinel = RedisSentinel::start();
    on_a_core(async {
        let plan = through(&[sentinel.sentinels()[0].port()], "other");
        let error = link(plan).ask(&get("a")).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Connect);
        assert!(error.to_string().contains("no sentinel knows a master named other"), "{error}");
    });
}
