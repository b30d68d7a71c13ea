//! A reload changes how a Redis is read, and no request notices.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use testkit::{Fleetfoot, RedisServer};

use super::support::{GET, config, figure, hold, reload, tell, until_it_tells};

#[test]
fn modes_change_under_load_without_a_failed_request() {
    let master = RedisServer::start();
    let replica = RedisServer::options().replica_of(&master).start();
    replica.wait_until_replicated();
    tell(&master, &["SET", "a", "one"]);
    replica.wait_until_replicated();
    let modes = [
        "mode: central".to_owned(),
        "mode: tracked".to_owned(),
        format!("mode: replica, replica: \"{}\"", replica.url()),
        "mode: central, max_stale: 10s".to_owned(),
        "mode: tracked, track: a".to_owned(),
    ];
    let mut fleetfoot = Fleetfoot::start(&config(&master, &modes[0], &[GET]));
    let (address, is_over, answered) = (fleetfoot.address(), AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = testkit::RawClient::connect(address);
                while !is_over.load(Ordering::Relaxed) {
                    let answer = client.ask("GET /get/a HTTP/1.1\r\nHost: example.test\r\n\r\n");
                    assert_eq!((answer.status, answer.text().as_str()), (200, "one"), "{answer:?}");
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 0..3 {
            for mode in &modes[usize::from(round == 0)..] {
                reload(&mut fleetfoot, &config(&master, mode, &[GET]));
                let before = answered.load(Ordering::Relaxed);
                fleetfoot.wait_until("used", |_| answered.load(Ordering::Relaxed) > before + 50);
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    until_it_tells(&mut fleetfoot);
    fleetfoot.wait_until("what is not used any more is closed", |_| {
        // Ours: one of the core and one that is told.
        master.clients().iter().filter(|client| client.contains("name=fleetfoot")).count() <= 2
            && !replica.clients().iter().any(|client| client.contains("name=fleetfoot"))
    });
}

#[test]
fn a_reload_that_leaves_a_source_alone_leaves_what_it_holds() {
    let redis = RedisServer::start();
    tell(&redis, &["SET", "a", "one"]);
    let mut fleetfoot = Fleetfoot::start(&config(&redis, "mode: tracked", &[GET]));
    until_it_tells(&mut fleetfoot);
    hold(&mut fleetfoot, "/get/a");
    let other = r#"match: GET /other, read: { redis: "GET a" }"#;
    reload(&mut fleetfoot, &config(&redis, "mode: tracked", &[GET, other]));
    assert_eq!(fleetfoot.get("/other").text(), "\"one\"");
    assert!(fleetfoot.get("/get/a").is_hit());
    assert_eq!(figure(&fleetfoot.metrics(), "fleetfoot_redis_tracking_lives_total", &[]), 1);
}
