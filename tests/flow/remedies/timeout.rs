//! `timeout`: a call that takes too long is given up, wherever the policy stands, and whoever asked hears so.

use testkit::{Gate, Origin, Script, ok};

use super::support::{EVERYWHERE, everywhere, times, with_policy};
use crate::setup::each;

#[test]
fn what_takes_too_long_is_given_up_wherever_the_policy_stands() {
    let origin = Origin::start();
    let never = Gate::new();
    for (target, _) in EVERYWHERE {
        origin.on(target).reply(Script::new().wait(&never));
    }
    let fleetfoot = everywhere(&origin, "timeout: 100ms");
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let answer = fleetfoot.get(target);
        assert_eq!(
            (answer.status, answer.field("Fleetfoot-Error")),
            (504, Some("source-timeout")),
            "{answer:?}"
        );
    });
    assert_eq!(times(&fleetfoot, "timeout.overall", "late"), 3);
    let counted = fleetfoot.metrics();
    for route in ["/route", "/source", "(steps of plain)"] {
        let route = format!("route=\"{route}\"");
        let labels = [&*route, "policy=\"p\"", "remedy=\"timeout.overall\"", "outcome=\"late\""];
        assert_eq!(counted.sum("fleetfoot_remedies_total", &labels) as u64, 1, "{route}");
    }
    never.open();
}

#[test]
fn what_is_in_time_is_left_alone() {
    let origin = Origin::start();
    for (target, _) in EVERYWHERE {
        origin.on(target).reply(ok("", "1"));
    }
    let fleetfoot = everywhere(&origin, "timeout: { overall: 30s, per_try: 20s }");
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let answer = fleetfoot.get(target);
        assert_eq!((answer.status, answer.text().as_str()), (200, "1"));
    });
    assert_eq!(
        (times(&fleetfoot, "timeout.overall", "late"), times(&fleetfoot, "timeout.per_try", "late")),
        (0, 0)
    );
}

#[test]
fn each_try_has_its_time_and_all_of_them_together_theirs() {
    let origin = Origin::start();
    let never = Gate::new();
    origin.on("GET /second").replies([Script::new().wait(&never), ok("", "in time")]);
    origin.on("GET /never").reply(Script::new().wait(&never));
    let policy =
        "timeout: { overall: 2s, per_try: 100ms }, retry: { attempts: 10, backoff: 1ms..1ms, floor: 100/s }";
    let fleetfoot =
        with_policy(policy, &[&format!("api: \"{}\"", origin.url())], &["match: /**, proxy: api, use: p"]);
    assert_eq!(fleetfoot.get("/second").text(), "in time");
    assert_eq!(fleetfoot.get("/never").status, 504);
    assert_eq!(origin.count("GET /never"), 10, "ten tries of 100 ms have room in two seconds");
    assert_eq!(times(&fleetfoot, "timeout.per_try", "late"), 11, "each is counted where its time ran out");
    assert_eq!(times(&fleetfoot, "timeout.overall", "late"), 0);
    never.open();
}

#[test]
fn a_call_that_is_late_is_counted_once_however_often_it_was_made() {
    let (origin, never) = (Origin::start(), Gate::new());
    origin.on("GET /").reply(Script::new().wait(&never));
    let policy =
        "timeout: { overall: 300ms, per_try: 300ms }, hedge: { after: 20ms, budget: 100% }, retry: true";
    let fleetfoot =
        with_policy(policy, &[&format!("api: \"{}\"", origin.url())], &["match: /**, proxy: api, use: p"]);
    assert_eq!(fleetfoot.get("/").status, 504);
    assert_eq!(origin.count("GET /"), 2);
    assert_eq!(times(&fleetfoot, "timeout.overall", "late"), 1);
    assert_eq!(times(&fleetfoot, "timeout.per_try", "late"), 0, "its time would have been longer");
    never.open();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what is tried is that time passes while a client sends")]
fn a_client_that_is_slow_to_send_is_not_the_source_that_is_late() {
    let (origin, never) = (Origin::start(), Gate::new());
    origin.on("PUT /taken").reply(ok("", "taken"));
    origin.on("PUT /late").reply(Script::new().wait(&never));
    let policy = "timeout: { overall: 400ms, per_try: 300ms }, retry: { replay: 4B }";
    let fleetfoot =
        with_policy(policy, &[&format!("api: \"{}\"", origin.url())], &["match: /**, proxy: api, use: p"]);
    let put = |target: &str| {
        let mut client = fleetfoot.connect();
        client.send(format!("PUT {target} HTTP/1.1\r\nHost: example.test\r\nContent-Length: 10\r\n\r\n"));
        for byte in b"0123456789" {
            std::thread::sleep(std::time::Duration::from_millis(60));
            client.send([*byte]);
        }
        client.read_answer().status
    };
    assert_eq!(put("/taken"), 200);
    assert_eq!(put("/late"), 504);
    assert_eq!(times(&fleetfoot, "timeout.per_try", "late"), 1);
    never.open();
}

#[test]
fn an_old_answer_stands_in_for_what_is_late() {
    let origin = Origin::start();
    let never = Gate::new();
    origin.on("GET /").replies([ok("Cache-Control: max-age=10\nAge: 20", "old"), Script::new().wait(&never)]);
    let policy = "cache: { ttl: origin, if_error: 1h }, timeout: 100ms";
    let fleetfoot =
        with_policy(policy, &[&format!("api: \"{}\"", origin.url())], &["match: /**, proxy: api, use: p"]);
    fleetfoot.get("/");
    let answer = fleetfoot.get("/");
    assert_eq!((answer.status, answer.text().as_str()), (200, "old"), "{answer:?}");
    never.open();
}
