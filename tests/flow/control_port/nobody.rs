//! What fleetfoot asks of its own accord it asks in nobody's name: an answer that is kept for all was made for no address.

use serde_json::json;
use testkit::{Fleetfoot, Origin, Received, ok};

use super::port::{get, post, purge};
use crate::setup::{cached, config};

fn assert_in_nobodys_name(asked: &Received) {
    let head = String::from_utf8_lossy(&asked.raw).to_ascii_lowercase();
    assert!(!head.contains("x-forwarded-for") && !head.contains("x-real-ip"), "{head}");
    assert!(head.contains("forwarded: for=unknown;"), "{head}");
}

fn origin() -> Origin {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
    origin
}

#[test]
fn warming_names_no_client() {
    let origin = origin();
    post(&cached(&origin), "/cache/warm", &json!({"urls": ["http://example.test/a"]}));
    assert_in_nobodys_name(&origin.last("GET /a"));
}

#[test]
fn a_refresh_after_a_purge_names_no_client() {
    let origin = origin();
    let fleetfoot = cached(&origin);
    fleetfoot.get("/a");
    assert_eq!(
        origin.last("GET /a").field("X-Forwarded-For"),
        Some("127.0.0.1"),
        "a client's own request does"
    );
    purge(&fleetfoot, &json!({"everything": true, "refresh": 1}));
    origin.wait_for(2, "GET /a");
    assert_in_nobodys_name(&origin.last("GET /a"));
}

#[test]
fn explaining_names_no_client() {
    let origin = origin();
    get(&cached(&origin), "/explain?url=http://example.test/a&ask=true");
    assert_in_nobodys_name(&origin.last("GET /a"));
}

#[test]
fn a_health_check_names_no_client() {
    let origin = origin();
    let checked = config(origin.address(), "-")
        .replace(" } }\n", ", health: { check: GET /healthz, interval: 20ms } } }\n");
    let _fleetfoot = Fleetfoot::start(&checked);
    origin.wait_for(1, "GET /healthz");
    assert_in_nobodys_name(&origin.last("GET /healthz"));
}
