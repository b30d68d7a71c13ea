//! `faults`: calls go wrong on purpose, wherever the policy stands, and whatever stands around them meets that as if the source had
//! done it.

use std::time::{Duration, Instant};

use testkit::{Origin, ok};

use super::support::{EVERYWHERE, everywhere, with_policy};
use crate::composing::support::config_with;
use crate::setup::each;

#[test]
fn calls_fail_wherever_the_policy_stands_and_only_where_it_is_meant() {
    let origin = Origin::start();
    for (target, _) in EVERYWHERE {
        origin.on(target).reply(ok("", "1"));
    }
    let fleetfoot = everywhere(
        &origin,
        "faults: { abort: { share: 100%, status: 503 }, when: \"${header('X-Fault') == 'yes'}\" }",
    );
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let failed = fleetfoot.get_with(target, "X-Fault: yes");
        let expected = if target == "/step" { 502 } else { 503 };
        assert_eq!((failed.status, origin.count(target)), (expected, 0), "{failed:?}");
        assert_eq!(fleetfoot.get(target).status, 200);
    });
    let aborted =
        fleetfoot.metrics().sum("fleetfoot_remedies_total", &["remedy=\"faults\"", "outcome=\"aborted\""]);
    assert_eq!(aborted as u64, 3);
}

#[test]
fn a_delay_stands_inside_of_timeouts_and_each_try_meets_a_fault_anew() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("", "x"));
    let late = with_policy(
        "timeout: { per_try: 100ms }, faults: { delay: { share: 100%, for: 60s } }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    let began = Instant::now();
    assert_eq!(late.get("/").status, 504);
    assert!(began.elapsed() < Duration::from_secs(30));
    let tried = with_policy(
        "retry: { attempts: 3, backoff: 1ms..1ms, budget: 100% }, faults: { abort: { share: 100% } }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    assert_eq!(tried.get("/").status, 503);
    let aborted =
        tried.metrics().sum("fleetfoot_remedies_total", &["remedy=\"faults\"", "outcome=\"aborted\""]);
    assert_eq!(aborted as u64, 3);
    assert!(origin.requests().is_empty());
}

#[test]
fn content_breaks_off_half_way_and_is_not_kept() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Cache-Control: max-age=600", "0123456789"));
    let top = "cores: 1\npolicies: { p: { cache: { ttl: origin }, faults: { cut: { share: 100% } } } }";
    let source = format!("api: \"{}\"", origin.url());
    let fleetfoot =
        testkit::Fleetfoot::start(&config_with(top, &[&source], &["match: /**, proxy: api, use: p"]));
    for _ in 0..2 {
        let mut client = fleetfoot.connect();
        client.send("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
        assert!(client.try_read_answer().is_err(), "it is not whole");
    }
    assert_eq!(origin.count("GET /"), 2, "nothing is kept of it");
}

#[test]
fn a_read_fails_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("values.json");
    std::fs::write(&file, "{\"k\":\"v\"}").unwrap();
    let store = format!("values: {{ store: \"{}\" }}", file.display());
    let fleetfoot = with_policy(
        "faults: { abort: { share: 100% } }",
        &[&store],
        &["match: GET /x, compose: { it: { values: GET k, use: p, on_error: null } }"],
    );
    assert_eq!(fleetfoot.get("/x").text(), "{\"it\":null}");
}
