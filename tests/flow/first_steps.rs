//! The first minute: a request passes, an answer is kept, a dead origin is told.

use serde_json::Value;
use testkit::{Fleetfoot, Origin, ok, run_to_end};

use crate::setup::{cached, config, proxied};

#[test]
fn a_request_reaches_the_origin_and_its_answer_the_client() {
    let origin = Origin::start();
    origin.on("GET /hello?a=b&c").reply(ok("Content-Type: text/plain\nX-Own: 1", "hello"));
    let fleetfoot = proxied(&origin);
    let answer = fleetfoot.get("/hello?a=b&c");
    assert_eq!((answer.status, answer.text().as_str()), (200, "hello"));
    assert_eq!(answer.field("X-Own"), Some("1"));
    assert_eq!(answer.field("Content-Type"), Some("text/plain"));
    assert!(answer.has("Date"), "{answer:?}");
    assert_eq!(origin.last("GET /hello?a=b&c").field("Host"), Some("example.test"));
}

#[test]
fn the_second_request_is_answered_from_the_cache() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Cache-Control: max-age=600", "kept"));
    let fleetfoot = cached(&origin);
    let first = fleetfoot.get("/");
    let second = fleetfoot.get("/");
    assert_eq!((first.text(), second.text()), ("kept".into(), "kept".into()));
    assert!(!first.is_hit() && second.is_hit(), "{first:?} {second:?}");
    assert!(second.age().is_some());
    assert_eq!(origin.count("GET /"), 1);
}

#[test]
fn without_a_cache_every_request_goes_on() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Cache-Control: max-age=600", "x"));
    let fleetfoot = proxied(&origin);
    fleetfoot.get("/");
    fleetfoot.get("/");
    assert_eq!(origin.count("GET /"), 2);
}

#[test]
fn a_connection_carries_many_requests_on_both_sides() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("", "x"));
    let fleetfoot = proxied(&origin);
    let mut client = fleetfoot.connect();
    for _ in 0..10 {
        assert_eq!(client.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n").text(), "x");
    }
    assert_eq!(origin.count("GET /"), 10);
    assert_eq!(origin.connections(), 1);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let origin = Origin::start();
    origin.on("*").answer(|request| ok("Cache-Control: max-age=600", &request.target));
    let fleetfoot = cached(&origin);
    fleetfoot.get("/2"); // so that hits and misses mix
    let mut client = fleetfoot.connect();
    for n in 1..=4 {
        client.send(format!("GET /{n} HTTP/1.1\r\nHost: example.test\r\n\r\n"));
    }
    for n in 1..=4 {
        assert_eq!(client.read_answer().text(), format!("/{n}"));
    }
}

#[test]
fn a_request_may_arrive_byte_by_byte() {
    let origin = Origin::start();
    origin.on("GET /drip").reply(ok("Cache-Control: max-age=600", "x"));
    let fleetfoot = cached(&origin);
    for _ in 0..2 {
        let mut client = fleetfoot.connect();
        client.drip("GET /drip HTTP/1.1\r\nHost: example.test\r\n\r\n");
        assert_eq!(client.read_answer().text(), "x");
    }
    assert_eq!(origin.count("GET /drip"), 1);
}

#[test]
fn a_dead_origin_is_a_502_that_says_so() {
    let origin = Origin::start();
    let fleetfoot = Fleetfoot::start(&config(origin.address(), "ttl: origin"));
    origin.stop();
    let answer = fleetfoot.get("/");
    assert_eq!(answer.status, 502);
    assert_eq!(answer.field("fleetfoot-error"), Some("connect"), "{answer:?}");
}

#[test]
fn a_request_without_a_route_is_a_404_of_our_own() {
    let origin = Origin::start();
    let text = config(origin.address(), "-").replace("match: /**", "match: /api/**");
    let fleetfoot = Fleetfoot::start(&text);
    assert_eq!(fleetfoot.get("/other").status, 404);
    assert!(origin.requests().is_empty());
    assert_eq!(fleetfoot.get("/api/x").status, 404);
    assert_eq!(origin.count("GET /api/x"), 1);
}

#[test]
fn the_demo_shows_a_gain_and_sixteen_calls_in_three_ways() {
    let demo = run_to_end(&["demo", "--seconds", "1", "--connections", "4", "--json"]);
    assert_eq!(demo.code, Some(0), "{}", demo.stderr);
    let outcome: Value = serde_json::from_str(&demo.stdout).expect("JSON");
    assert!(outcome["throughput_gain"].as_f64().expect("a number") > 1.0, "{outcome}");
    let took = |way: usize| outcome["sixteen_calls"]["ways"][way]["took_ms"].as_f64().expect("a number");
    assert!(took(0) > took(1) && took(0) > took(2), "{outcome}");
    assert_eq!(outcome["sixteen_calls"]["steps"].as_array().map(Vec::len), Some(16));
}
