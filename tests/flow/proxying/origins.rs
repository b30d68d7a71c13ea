//! Origins that are many, slow, dead or gone: balance, health, retries, timeouts, and a status that says which side.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use testkit::{Fleetfoot, Gate, Origin, Script, ok, status};

use crate::setup::proxied;

/// `source` is what stands in the braces.
fn with_source(source: &str) -> Fleetfoot {
    Fleetfoot::start(&format!(
        "listen: {{ http: 127.0.0.1:0, admin: 127.0.0.1:0 }}\ncores: 1\nsources: {{ api: {{ {source} }} }}\n\
         routes: [ {{ match: /**, proxy: api }} ]\n"
    ))
}

fn targets(addresses: &[SocketAddr]) -> String {
    let urls: Vec<String> = addresses.iter().map(|address| format!("\"http://{address}\"")).collect();
    format!("http: [{}]", urls.join(", "))
}

#[test]
fn requests_are_spread_over_the_targets() {
    let (one, two) = (Origin::start(), Origin::start());
    for origin in [&one, &two] {
        origin.on("*").reply(ok("", "x"));
    }
    let fleetfoot = with_source(&targets(&[one.address(), two.address()]));
    for _ in 0..10 {
        assert_eq!(fleetfoot.get("/").status, 200);
    }
    assert_eq!((one.requests().len(), two.requests().len()), (5, 5));
}

#[test]
fn a_dead_target_costs_no_request() {
    let (one, two) = (Origin::start(), Origin::start());
    two.on("*").reply(ok("", "two"));
    let fleetfoot = with_source(&targets(&[one.address(), two.address()]));
    one.stop();
    for _ in 0..10 {
        assert_eq!(fleetfoot.get("/").text(), "two");
    }
}

#[test]
fn an_unhealthy_target_is_left_out_and_comes_back() {
    let (one, two) = (Origin::start(), Origin::start());
    for (origin, name) in [(&one, "one"), (&two, "two")] {
        origin.on("*").reply(ok("", name));
        origin.on("GET /healthz").reply(ok("", ""));
    }
    one.on("GET /healthz").reply(status("503 Service Unavailable", "", ""));
    let health = "health: { check: GET /healthz, interval: 20ms, unhealthy_after: 2, healthy_after: 1 }";
    let mut fleetfoot = with_source(&format!("{}, {health}", targets(&[one.address(), two.address()])));
    one.wait_for(3, "GET /healthz");
    fleetfoot.wait_until("left out", |fleetfoot| (0..6).all(|_| fleetfoot.get("/").text() == "two"));
    one.on("GET /healthz").reply(ok("", ""));
    fleetfoot.wait_until("back", |fleetfoot| (0..4).any(|_| fleetfoot.get("/").text() == "one"));
}

#[test]
fn no_healthy_target_is_a_503() {
    let origin = Origin::start();
    let healthy = Arc::new(AtomicBool::new(true));
    let told = Arc::clone(&healthy);
    origin.on("GET /healthz").answer(move |_| {
        if told.load(Relaxed) { ok("", "") } else { status("500 Internal Server Error", "", "") }
    });
    let health = "health: { check: GET /healthz, interval: 20ms, unhealthy_after: 1, healthy_after: 1 }";
    let mut fleetfoot = with_source(&format!("{}, {health}", targets(&[origin.address()])));
    // Only now: it is not ready without a healthy target.
    healthy.store(false, Relaxed);
    fleetfoot.wait_until("unhealthy", |fleetfoot| fleetfoot.get("/").status == 503);
    let answer = fleetfoot.get("/");
    assert_eq!(answer.field("fleetfoot-error"), Some("no-healthy-target"), "{answer:?}");
    assert_eq!(answer.field("retry-after"), Some("1"), "{answer:?}");
}

#[test]
fn a_connection_that_died_while_idle_costs_no_request() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "x"));
    let fleetfoot = proxied(&origin);
    for _ in 0..5 {
        assert_eq!(fleetfoot.get("/").status, 200);
        origin.drop_connections();
    }
}

#[test]
fn an_idempotent_request_is_sent_again_where_a_kept_connection_broke() {
    let origin = Origin::start();
    origin.on("GET /").replies([ok("", "x"), Script::new().close(), ok("", "again")]);
    let fleetfoot = proxied(&origin);
    assert_eq!(fleetfoot.get("/").text(), "x");
    assert_eq!(fleetfoot.get("/").text(), "again");
}

#[test]
fn a_post_is_not_sent_twice() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("", "x"));
    origin.on("POST /").reply(Script::new().close());
    let fleetfoot = proxied(&origin);
    fleetfoot.get("/"); // so that there is a kept connection
    let answer = fleetfoot.connect().ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx");
    assert_eq!(answer.status, 502);
    assert_eq!(origin.count("POST /"), 1);
}

#[test]
fn an_origin_that_does_not_answer_in_time_is_a_504() {
    let origin = Origin::start();
    let never = Gate::new();
    origin.on("*").reply(Script::new().wait(&never));
    let fleetfoot = with_source(&format!("{}, timeout: {{ head: 100ms }}", targets(&[origin.address()])));
    let answer = fleetfoot.get("/");
    assert_eq!(answer.status, 504);
    assert_eq!(answer.field("fleetfoot-error"), Some("source-timeout"), "{answer:?}");
    never.open();
}

#[test]
fn an_origin_that_stops_inside_its_answer_is_cut_off() {
    let origin = Origin::start();
    let never = Gate::new();
    origin.on("*").reply(Script::from("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").wait(&never));
    let fleetfoot = with_source(&format!("{}, timeout: {{ body: 100ms }}", targets(&[origin.address()])));
    let mut client = fleetfoot.connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(client.try_answer_to("GET").is_err());
    never.open();
}

#[test]
fn a_name_that_does_not_resolve_is_a_502_that_says_so() {
    let fleetfoot = with_source("http: \"http://no-such-host.invalid:80\"");
    let answer = fleetfoot.get("/");
    assert_eq!(answer.status, 502);
    assert_eq!(answer.field("fleetfoot-error"), Some("resolve"), "{answer:?}");
}

#[test]
fn a_request_that_came_through_us_already_is_a_508() {
    let origin = Origin::start();
    let inner = proxied(&origin);
    origin.on("*").answer({
        let address = inner.address();
        move |request| {
            // An origin that sends everything back to us, fields and all.
            let mut client = testkit::RawClient::connect(address);
            let answer = client.ask(&request.raw);
            status(&format!("{} Looped", answer.status), "", answer.text())
        }
    });
    assert_eq!(inner.get("/").status, 508);
    assert!(origin.requests().len() < 20);
}
