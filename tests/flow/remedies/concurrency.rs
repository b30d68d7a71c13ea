//! `concurrency`: so many calls to a source are under way at once, wherever the policy stands, until the last byte of each.

use std::thread;
use std::time::{Duration, Instant};

use testkit::{Fleetfoot, Gate, Origin, Script, ok, status, wait_until};

use super::support::{EVERYWHERE, everywhere, times, with_policy};
use crate::composing::support::{mariadb, sql};

fn routed(origin: &Origin, policy: &str) -> Fleetfoot {
    with_policy(policy, &[&format!("api: \"{}\"", origin.url())], &["match: /**, proxy: api, use: p"])
}

#[test]
fn so_many_are_under_way_at_once_wherever_the_policy_stands() {
    let origin = Origin::start();
    let gates = EVERYWHERE.map(|(target, _)| {
        let gate = Gate::new();
        origin.on(target).reply(Script::new().wait(&gate).then(ok("", "1")));
        gate
    });
    for ((target, place), gate) in EVERYWHERE.into_iter().zip(&gates) {
        let fleetfoot = everywhere(&origin, "concurrency: 2");
        thread::scope(|scope| {
            let under_way: Vec<_> = (0..2).map(|_| scope.spawn(|| fleetfoot.get(target).status)).collect();
            origin.wait_for(if target == "/step" { 1 } else { 2 }, target);
            if target != "/step" {
                let refused = fleetfoot.get(target);
                assert_eq!(
                    (refused.status, refused.field("Fleetfoot-Error")),
                    (503, Some("overloaded")),
                    "{place}"
                );
                assert!(refused.has("Retry-After"));
                assert_eq!(times(&fleetfoot, "concurrency", "refused"), 1);
            }
            gate.open();
            for call in under_way {
                assert_eq!(call.join().unwrap(), 200, "{place}");
            }
        });
        assert_eq!(fleetfoot.get(target).status, 200, "{place}: their places are free");
        assert_eq!(fleetfoot.metrics().count("fleetfoot_concurrency_under_way"), 0);
    }
}

#[test]
fn a_response_holds_its_place_until_its_last_byte() {
    let (origin, gate) = (Origin::start(), Gate::new());
    let slow = Script::new().send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab").wait(&gate).send("cd");
    origin.on("GET /slow").reply(slow);
    origin.on("GET /").reply(ok("", "1"));
    let fleetfoot = routed(&origin, "concurrency: 1");
    let mut client = fleetfoot.connect();
    client.send("GET /slow HTTP/1.1\r\nHost: example.test\r\n\r\n");
    origin.wait_for(1, "GET /slow");
    wait_until("it is under way", || fleetfoot.metrics().count("fleetfoot_concurrency_under_way") == 1);
    assert_eq!(fleetfoot.get("/").status, 503);
    gate.open();
    assert_eq!(client.read_answer().text(), "abcd");
    wait_until("it is over", || fleetfoot.get("/").status == 200);
}

#[test]
fn a_websocket_holds_its_place_until_it_is_closed() {
    let origin = Origin::start();
    origin.on("GET /chat").talk(|connection| {
        connection
            .send("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
        loop {
            let bytes = connection.read_some();
            if bytes.is_empty() {
                return;
            }
            connection.send(bytes);
        }
    });
    origin.on("GET /").reply(ok("", "1"));
    let fleetfoot = routed(&origin, "concurrency: 1");
    let mut client = fleetfoot.connect();
    client.send(
        "GET /chat HTTP/1.1\r\nHost: example.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    assert!(client.read_head().start.starts_with("HTTP/1.1 101"));
    client.send("hello");
    assert_eq!(client.read_exactly(5), b"hello");
    assert_eq!(fleetfoot.metrics().count("fleetfoot_concurrency_under_way"), 1);
    assert_eq!(fleetfoot.get("/").status, 503);
    drop(client);
    wait_until("it is closed", || fleetfoot.get("/").status == 200);
}

#[test]
fn who_leaves_gives_its_place_back() {
    let (origin, never) = (Origin::start(), Gate::new());
    origin.on("GET /slow").reply(Script::new().wait(&never));
    origin.on("GET /").reply(ok("", "1"));
    let fleetfoot = routed(&origin, "concurrency: 1");
    let mut client = fleetfoot.connect();
    client.send("GET /slow HTTP/1.1\r\nHost: example.test\r\n\r\n");
    origin.wait_for(1, "GET /slow");
    drop(client);
    wait_until("its place is free", || fleetfoot.get("/").status == 200);
    never.open();
}

#[test]
fn statements_are_counted_too() {
    let mariadb = mariadb();
    let fleetfoot = with_policy(
        "concurrency: { max: 1, queue: { wait: 30s } }",
        &[&format!("db: {}", sql(&mariadb.url(), ""))],
        &[
            "match: \"GET /{n}\", compose: { it: { db: \"SELECT SLEEP(0.2) AS slept, ? AS n\", args: [\"${path.n}\"], use: p } }, respond: \"${it}\"",
        ],
    );
    let began = Instant::now();
    thread::scope(|scope| {
        let fleetfoot = &fleetfoot;
        for n in 0..4 {
            scope.spawn(move || assert_eq!(fleetfoot.get(&format!("/{n}")).status, 200));
        }
    });
    assert!(began.elapsed() >= Duration::from_millis(800), "one after another: {:?}", began.elapsed());
}

/// A source with four workers that refuses a fifth call: driven by 16 clients, it hardly ever has to.
#[test]
fn an_adaptive_limit_finds_what_the_source_can_do() {
    let origin = Origin::start();
    let busy = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    origin.on("GET /").talk(move |conversation| {
        use std::sync::atomic::Ordering::SeqCst;
        let script = if busy.fetch_add(1, SeqCst) < 4 {
            Script::new().pause(Duration::from_millis(5)).then(ok("", "1"))
        } else {
            status("429 Too Many Requests", "", "slow down")
        };
        conversation.play(script);
        busy.fetch_sub(1, SeqCst);
    });
    let fleetfoot = routed(&origin, "concurrency: { adaptive: true, queue: { wait: 1m } }");
    let ask = |calls: usize| {
        let refused = std::sync::atomic::AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for _ in 0..calls {
                        if fleetfoot.get("/").status == 429 {
                            refused.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        refused.into_inner()
    };
    ask(40);
    let refused = ask(60);
    assert!(refused <= 48, "{refused} of 960 calls are refused");
    let limit = fleetfoot.metrics().count("fleetfoot_concurrency_limit");
    assert!((1..=6).contains(&limit), "{limit} at once");
}
