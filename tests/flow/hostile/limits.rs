//! What is too large or too slow is refused with the status that says so, and everything else goes on.

use testkit::{Fleetfoot, Origin, ok};

use crate::setup::config_with;

fn limited(origin: &Origin, limits: &str) -> Fleetfoot {
    origin.on("*").reply(ok("", "x"));
    Fleetfoot::start(&config_with(origin.address(), "-", &format!("limits: {{ {limits} }}")))
}

#[test]
fn a_head_above_the_limit_is_431() {
    let origin = Origin::start();
    let fleetfoot = limited(&origin, "head_size: 4KiB, header_count: 20");
    let below = format!("X: {}", "y".repeat(3_000));
    assert_eq!(fleetfoot.get_with("/", &below).status, 200);
    let above = format!("X: {}", "y".repeat(5_000));
    assert_eq!(fleetfoot.get_with("/", &above).status, 431);
    let many = "X: y\n".repeat(30);
    assert_eq!(fleetfoot.get_with("/", &many).status, 431);
    assert_eq!(origin.requests().len(), 1);
}

#[test]
fn a_target_above_the_limit_is_414() {
    let origin = Origin::start();
    let fleetfoot = limited(&origin, "head_size: 4KiB");
    let target = format!("/{}", "a".repeat(10_000));
    assert_eq!(fleetfoot.get(&target).status, 414);
    assert!(origin.bytes().is_empty());
}

#[test]
fn content_above_the_limit_is_413() {
    let origin = Origin::start();
    let fleetfoot = limited(&origin, "body_size: 1KiB");
    let mut client = fleetfoot.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1024\r\n\r\n").send([b'x'; 1024]);
    assert_eq!(client.read_answer().status, 200);
    let announced = fleetfoot.connect().ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1025\r\n\r\n");
    assert_eq!(announced.status, 413);
    let mut client = fleetfoot.connect();
    client.send("POST /chunks HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    for _ in 0..3 {
        client.send("200\r\n").send([b'x'; 512]).send("\r\n");
    }
    client.send("0\r\n\r\n");
    assert_eq!(client.read_answer().status, 413);
    assert!(origin.requests().iter().all(|request| request.target == "/" || !request.whole));
}

#[test]
fn a_slow_head_is_408() {
    let origin = Origin::start();
    let fleetfoot = limited(&origin, "header_timeout: 100ms");
    let mut client = fleetfoot.connect();
    client.send("GET / HTTP/1.1\r\nHost:");
    assert_eq!(client.read_answer().status, 408);
    assert!(client.is_closed());
}

#[test]
fn an_idle_connection_is_closed_in_silence() {
    let origin = Origin::start();
    let fleetfoot = limited(&origin, "idle_timeout: 100ms");
    let mut client = fleetfoot.connect();
    assert_eq!(client.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
    assert!(client.is_closed());
}

#[test]
fn a_slow_body_is_cut_off() {
    let origin = Origin::start();
    let fleetfoot = limited(&origin, "body_timeout: 100ms");
    let mut client = fleetfoot.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    assert_eq!(client.read_answer().status, 408);
    assert!(client.is_closed());
    assert!(origin.requests().iter().all(|request| !request.whole));
}

#[test]
fn connections_above_the_limit_are_refused_and_counted() {
    let origin = Origin::start();
    let mut fleetfoot = limited(&origin, "connections: 2");
    let ask = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let (mut first, mut second) = (fleetfoot.connect(), fleetfoot.connect());
    assert_eq!((first.ask(ask).status, second.ask(ask).status), (200, 200));
    let mut third = fleetfoot.connect();
    third.send(ask);
    assert!(third.try_answer_to("GET").map_or(true, |answer| answer.status == 503));
    fleetfoot.wait_for_metrics("counted", |metrics| {
        metrics.0.iter().any(|(name, n)| name.contains("refused") && *n > 0.0)
    });
    drop(first);
    fleetfoot.wait_until("free again", |fleetfoot| {
        let mut client = fleetfoot.connect();
        client.send(ask);
        client.try_answer_to("GET").is_ok_and(|answer| answer.status == 200)
    });
    assert_eq!(second.ask(ask).status, 200);
}
