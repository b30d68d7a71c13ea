//! `explain` says of policies that change or answer a request what then happens to it, and what it asks is what they ask.

use serde_json::Value;
use testkit::{Fleetfoot, Origin, ok};

use super::support::with_policy;
use crate::composing::support::config_with;
use crate::control_port::port::get;

fn around(origin: &Origin, policy: &str) -> Fleetfoot {
    with_policy(policy, &[&format!("api: \"{}\"", origin.url())], &["match: GET /**, proxy: api, use: p"])
}

fn explained(fleetfoot: &Fleetfoot, target: &str) -> Value {
    get(fleetfoot, &format!("/explain?url=http://example.test{target}"))
}

#[test]
fn a_refusal_is_told_as_one() {
    let origin = Origin::start();
    for (policy, target, status) in [
        ("redirect: { to: \"https://www.example.com${query.x}\" }", "/?x=.evil.example", 400),
        ("redirect: { to: \"https://www.example.com${query.x}\" }", "/", 400),
        ("redirect: { to: \"https://www.example.com${query.x}\" }", "/?x=", 307),
        ("rewrite: { prefix: /a, to: / }", "/a//b", 400),
    ] {
        let fleetfoot = around(&origin, policy);
        let told = explained(&fleetfoot, &target.replace('?', "%3F"));
        let verdict = told["verdict"].as_str().unwrap();
        assert_eq!(fleetfoot.get(target).status, status, "{policy}");
        let expected = if status == 400 { "refused with 400: " } else { "`p`: answered with 307 here" };
        assert!(verdict.starts_with(expected), "{policy}: {verdict}");
        assert_eq!(told["stack"][0]["effect"], told["verdict"], "{told}");
    }
}

#[test]
fn a_preflight_is_told_as_it_is_answered() {
    let origin = Origin::start();
    let fleetfoot = around(&origin, "cors: { origins: [https://app.example] }");
    let question = "/explain?url=http://example.test/a&method=OPTIONS&header=Origin:https://app.example";
    let told = get(&fleetfoot, &format!("{question}&header=Access-Control-Request-Method:GET"));
    assert_eq!(told["verdict"], "answered with 204 here: a preflight, which comes before everything else");
    assert_eq!(told["route"], "GET /**");
    let plain = get(&fleetfoot, question);
    assert!(plain["verdict"].as_str().unwrap().starts_with("404"), "{plain}");
}

#[test]
fn what_is_left_alone_is_told_so() {
    let origin = Origin::start();
    let fleetfoot =
        around(&origin, "faults: { abort: { share: 100% }, when: \"${header('X-Fault') == 'yes'}\" }");
    assert_eq!(explained(&fleetfoot, "/")["stack"][0]["effect"], "leaves this request alone");
    let meant = get(&fleetfoot, "/explain?url=http://example.test/&header=X-Fault:yes");
    assert_eq!(meant["stack"][0]["effect"], "on purpose: 100 % fail with 503");
}

#[test]
fn the_key_and_what_is_asked_are_by_the_new_path() {
    let origin = Origin::start();
    origin.on("GET /v/a").reply(ok("Cache-Control: max-age=600", "x"));
    let top = "cores: 1\npolicies:\n  new: { rewrite: { prefix: /rw, to: /v }, headers: { request: { set: { X-A: a } } } }\n  live: { cache: { ttl: origin } }";
    let fleetfoot = Fleetfoot::start(&config_with(
        top,
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /rw/**, proxy: api, use: [new, live]"],
    ));
    let told = get(&fleetfoot, "/explain?url=http://example.test/rw/a&ask=true");
    assert_eq!(told["key"], "http://example.test/v/a", "{told}");
    assert!(told["verdict"].as_str().unwrap().starts_with("stored, fresh for"), "{told}");
    assert_eq!(origin.last("GET /v/a").field("X-A"), Some("a"));
    fleetfoot.get("/rw/a");
    let told = get(&fleetfoot, "/explain?url=http://example.test/rw/a");
    assert_eq!(told["stored_answer"]["status"], 200, "{told}");
}
