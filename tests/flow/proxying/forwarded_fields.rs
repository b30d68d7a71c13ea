//! What the origin learns about the client, and from whom it is believed.

use testkit::{Fleetfoot, Origin, Received, ok};

use crate::setup::{config, config_with, proxied};

const CLAIMS: &str = "X-Forwarded-For: 203.0.113.9\nX-Forwarded-Proto: https\nX-Forwarded-Host: claimed.test\n\
                      Forwarded: for=203.0.113.9;proto=https;host=claimed.test";

fn ask(fleetfoot: &Fleetfoot, origin: &Origin, fields: &str) -> Received {
    origin.on("*").reply(ok("", "x"));
    fleetfoot.get_with("/", fields);
    origin.last("GET /")
}

#[test]
fn the_origin_learns_who_asks_and_how() {
    let origin = Origin::start();
    let seen = ask(&proxied(&origin), &origin, "");
    assert_eq!(seen.field("X-Forwarded-For"), Some("127.0.0.1"));
    assert_eq!(seen.field("X-Forwarded-Proto"), Some("http"));
    assert_eq!(seen.field("X-Forwarded-Host"), Some("example.test"));
    assert!(seen.field("Via").is_none_or(|via| via.contains("1.1")), "{seen:?}");
}

#[test]
fn a_stranger_is_not_believed() {
    let origin = Origin::start();
    let seen = ask(&proxied(&origin), &origin, CLAIMS);
    let head = String::from_utf8_lossy(&seen.raw).into_owned();
    assert!(!head.contains("203.0.113.9") && !head.contains("claimed.test"), "{head}");
    assert_eq!(seen.head.all("X-Forwarded-For").count(), 1, "{head}");
    assert_eq!(seen.field("X-Forwarded-Proto"), Some("http"));
}

#[test]
fn a_trusted_proxy_is_believed() {
    let origin = Origin::start();
    let listen = "listen: { http: 127.0.0.1:0, admin: 127.0.0.1:0, trust: [127.0.0.0/8] }";
    let fleetfoot = Fleetfoot::start(&config_with(origin.address(), "-", listen));
    let seen = ask(&fleetfoot, &origin, CLAIMS);
    let chain: Vec<&str> = seen.head.all("X-Forwarded-For").flat_map(|value| value.split(", ")).collect();
    assert_eq!(chain, ["203.0.113.9", "127.0.0.1"]);
    assert_eq!(seen.field("X-Forwarded-Proto"), Some("https"));
    assert_eq!(seen.field("X-Forwarded-Host"), Some("claimed.test"));
}

#[test]
fn the_host_is_the_clients_unless_told_otherwise() {
    let origin = Origin::start();
    let text = config(origin.address(), "-");
    let seen = ask(&Fleetfoot::start(&text), &origin, "");
    assert_eq!(seen.field("Host"), Some("example.test"));
    let url = format!("http: \"{}\"", origin.url());
    let seen = ask(&Fleetfoot::start(&text.replace(&url, &format!("{url}, host: target"))), &origin, "");
    assert_eq!(seen.field("Host"), Some(origin.address().to_string().as_str()));
    let seen = ask(&Fleetfoot::start(&text.replace(&url, &format!("{url}, host: fixed.test"))), &origin, "");
    assert_eq!(seen.field("Host"), Some("fixed.test"));
}

#[test]
fn what_a_trusted_proxy_says_of_the_scheme_is_part_of_the_key() {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let scheme = request.field("X-Forwarded-Proto").unwrap_or("none").to_owned();
        ok("Cache-Control: max-age=60", scheme)
    });
    let listen = "listen: { http: 127.0.0.1:0, admin: 127.0.0.1:0, trust: [127.0.0.0/8] }";
    let fleetfoot = Fleetfoot::start(&config_with(origin.address(), "ttl: origin", listen));
    for _ in 0..2 {
        for scheme in ["http", "https"] {
            let answer = fleetfoot.get_with("/", &format!("X-Forwarded-Proto: {scheme}"));
            assert_eq!(answer.text(), scheme);
        }
        assert_eq!(fleetfoot.get("/").text(), "http");
    }
    assert_eq!(origin.count("GET /"), 2);
}
