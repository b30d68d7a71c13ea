//! `breaker`: a target that keeps failing is left alone, wherever the policy stands, until a probe has succeeded.

use std::time::{Duration, Instant};

use testkit::{Fleetfoot, Gate, Origin, Port, Script, ok, status, wait_until};

use super::support::{EVERYWHERE, everywhere, times, with_policy};
use crate::composing::support::{config_with, mariadb, sql};
use crate::setup::each;

const QUICK: &str = "in_a_row: 3, probe: 300ms";

fn fails() -> Script {
    status("503 Service Unavailable", "", "no")
}

#[test]
fn what_keeps_failing_is_left_alone_wherever_the_policy_stands() {
    let origin = Origin::start();
    for (target, _) in EVERYWHERE {
        origin.on(target).replies([fails(), fails(), fails(), ok("", "well")]);
    }
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let fleetfoot = everywhere(&origin, "breaker: { in_a_row: 3, probe: 1h }");
        let before = origin.count(target);
        for _ in 0..3 {
            assert!(fleetfoot.get(target).status >= 500);
        }
        let refused = fleetfoot.get(target);
        assert_eq!(
            (refused.status, refused.field("Fleetfoot-Error"), refused.field("Retry-After")),
            (503, Some("breaker-open"), Some("3600")),
            "{refused:?}"
        );
        assert_eq!(origin.count(target) - before, 3, "the source hears nothing of it");
        assert_eq!((times(&fleetfoot, "breaker", "opened"), times(&fleetfoot, "breaker", "refused")), (1, 1));
        assert_eq!(fleetfoot.metrics().count("fleetfoot_breaker_open"), 1);
    });
}

#[test]
fn what_a_policy_answers_in_place_of_a_target_says_nothing_of_it() {
    let origin = Origin::start();
    origin.on("GET /").replies([fails(), fails(), ok("", "well")]);
    let top = "cores: 1\npolicies:\n  guarded: { breaker: { in_a_row: 3, probe: 300ms } }\n  \
               closed: { respond: { status: 503, when: \"${header('X-Closed') == '503'}\" } }\n  \
               empty: { respond: { status: 200, when: \"${header('X-Closed') == '200'}\" } }";
    let source = format!("api: {{ http: \"{}\", use: [closed, empty] }}", origin.url());
    let fleetfoot =
        Fleetfoot::start(&config_with(top, &[&source], &["match: /**, proxy: api, use: guarded"]));
    for _ in 0..10 {
        assert_eq!(fleetfoot.get_with("/", "X-Closed: 503").status, 503);
    }
    assert_eq!(times(&fleetfoot, "breaker", "opened"), 0, "the target was never asked");
    for closed in [None, Some(200), None, Some(200)] {
        let field = closed.map(|status| format!("X-Closed: {status}")).unwrap_or_default();
        assert_eq!(fleetfoot.get_with("/", &field).status, closed.unwrap_or(503));
    }
    origin.on("GET /").replies([fails(), ok("", "well")]);
    assert_eq!(fleetfoot.get("/").status, 503);
    assert_eq!(times(&fleetfoot, "breaker", "opened"), 1, "three in a row, whatever came between them");
    wait_until("a probe that asks nobody", || fleetfoot.get_with("/", "X-Closed: 200").status == 200);
    assert_eq!(times(&fleetfoot, "breaker", "closed"), 0);
    wait_until("a probe", || fleetfoot.get("/").status == 200);
    assert_eq!(times(&fleetfoot, "breaker", "closed"), 1);
}

#[test]
fn a_probe_that_succeeds_closes_it() {
    let origin = Origin::start();
    origin.on("GET /").replies([fails(), fails(), fails(), fails(), ok("", "well")]);
    let fleetfoot = with_policy(
        &format!("breaker: {{ {QUICK} }}"),
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    for _ in 0..3 {
        fleetfoot.get("/");
    }
    assert_eq!(fleetfoot.get("/").status, 503);
    wait_until("a probe", || fleetfoot.get("/").status == 200);
    assert_eq!(origin.count("GET /"), 5, "one probe failed, and one did not");
    assert_eq!(times(&fleetfoot, "breaker", "closed"), 1);
    assert_eq!(fleetfoot.metrics().count("fleetfoot_breaker_open"), 0);
}

#[test]
fn a_dead_source_gets_one_call_a_rest_however_many_ask() {
    let origin = Origin::start();
    origin.on("GET /").reply(Script::new().pause(Duration::from_millis(20)).then(fails()));
    let fleetfoot = with_policy(
        "breaker: { in_a_row: 1, probe: 500ms }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    fleetfoot.get("/");
    let (began, before) = (Instant::now(), origin.count("GET /"));
    let asked: usize = std::thread::scope(|scope| {
        let ask = || {
            let mut asked = 0;
            while began.elapsed() < Duration::from_secs(2) {
                assert_eq!(fleetfoot.get("/").status, 503);
                asked += 1;
            }
            asked
        };
        let clients: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    let rests = began.elapsed().as_millis().div_ceil(500) as usize;
    let probes = origin.count("GET /") - before;
    assert!(asked > 100 && (1..=rests).contains(&probes), "{probes} of {asked} in {rests} rests");
}

#[test]
fn of_several_targets_the_one_that_fails_is_left_alone_and_nobody_notices() {
    let (broken, well) = (Origin::start(), Origin::start());
    broken.on("GET /").reply(fails());
    well.on("GET /").reply(ok("", "well"));
    let fleetfoot = with_policy(
        "breaker: { in_a_row: 2, probe: 1h }",
        &[&format!("api: {{ http: [\"{}\", \"{}\"] }}", broken.url(), well.url())],
        &["match: /**, proxy: api, use: p"],
    );
    let failed = (0..40).filter(|_| fleetfoot.get("/").status != 200).count();
    assert_eq!((failed, broken.count("GET /"), well.count("GET /")), (2, 2, 38));
    let metrics = fleetfoot.metrics();
    let open = |origin: &Origin| metrics.sum("fleetfoot_breaker_open", &[&origin.url()]) as u64;
    assert_eq!((open(&broken), open(&well)), (1, 0));
    well.on("GET /").reply(fails());
    for _ in 0..2 {
        fleetfoot.get("/");
    }
    assert_eq!(fleetfoot.get("/").field("Fleetfoot-Error"), Some("breaker-open"), "now both are");
}

#[test]
fn a_share_of_failures_opens_it_too_but_not_of_few_calls() {
    let origin = Origin::start();
    origin.on("GET /well").reply(ok("", "well"));
    origin.on("GET /broken").reply(fails());
    let fleetfoot = with_policy(
        "breaker: { errors: 50%, window: 1h, calls: 10, probe: 1h }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    for target in ["/broken", "/broken", "/broken", "/broken", "/well", "/well", "/well", "/well", "/well"] {
        fleetfoot.get(target);
    }
    assert_eq!(fleetfoot.get("/broken").field("Fleetfoot-Error"), None, "five of ten");
    assert_eq!(fleetfoot.get("/well").field("Fleetfoot-Error"), Some("breaker-open"));
}

#[test]
fn what_is_listed_counts_and_nothing_else() {
    let origin = Origin::start();
    origin.on("GET /503").reply(fails());
    origin.on("GET /429").reply(status("429 Too Many Requests", "", "slow down"));
    let fleetfoot = with_policy(
        "breaker: { in_a_row: 2, probe: 1h, on: [429] }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    for target in ["/503", "/503", "/503", "/429", "/429"] {
        assert_eq!(fleetfoot.get(target).field("Fleetfoot-Error"), None, "{target}");
    }
    assert_eq!(fleetfoot.get("/503").field("Fleetfoot-Error"), Some("breaker-open"));
}

#[test]
fn something_stands_in_while_it_is_open() {
    let origin = Origin::start();
    for (target, _) in EVERYWHERE {
        origin.on(target).reply(fails());
    }
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let fleetfoot =
            everywhere(&origin, "breaker: { in_a_row: 1, probe: 1h, instead: { items: [], more: false } }");
        assert!(fleetfoot.get(target).status >= 500);
        let answer = fleetfoot.get(target);
        assert_eq!((answer.status, answer.text().as_str()), (200, r#"{"items":[],"more":false}"#));
        if target == "/step" {
            assert_eq!(answer.field("X-Fleetfoot-Completed"), Some("false"), "{answer:?}");
        } else {
            let told = (answer.field("Fleetfoot-Error"), answer.field("Cache-Control"));
            assert_eq!(told, (Some("breaker-open"), Some("no-store")));
        }
    });
}

/// Otherwise a write that was never made would look as if it had been, to its client and to the cache.
#[test]
fn nothing_stands_in_for_a_write() {
    let origin = Origin::start();
    for method in ["POST", "DELETE"] {
        origin.on(&format!("{method} /x")).reply(fails());
    }
    origin.on("GET /x").reply(ok("Cache-Control: max-age=3600", "kept"));
    let api = format!("api: \"{}\"", origin.url());
    let routes = [
        "match: GET /x, proxy: api, use: kept",
        "match: /x, proxy: api, use: p, invalidate: [{ url: /x }]",
        "match: POST /step, compose: { it: { api: POST /x, use: p } }, respond: \"${it}\"",
    ];
    let top = "cores: 1\npolicies: { kept: { cache: true }, p: { breaker: { in_a_row: 1, probe: 1h, instead: { ok: true } } } }";
    let fleetfoot = Fleetfoot::start(&config_with(top, &[&api], &routes));
    let write = |method: &str, target: &str| fleetfoot.send(method, target, "Content-Length: 0\r\n");
    assert_eq!(fleetfoot.get("/x").text(), "kept");
    assert_eq!(write("POST", "/x").status, 503, "the failure that opens it");
    for method in ["POST", "DELETE"] {
        let refused = write(method, "/x");
        assert_eq!(
            (refused.status, refused.field("Fleetfoot-Error")),
            (503, Some("breaker-open")),
            "{method}"
        );
    }
    assert!(write("POST", "/step").status >= 500);
    assert!(fleetfoot.get("/x").is_hit(), "nothing was written, and nothing forgotten");
    assert_eq!((times(&fleetfoot, "breaker", "stood-in"), origin.count("DELETE /x")), (0, 0));
}

#[test]
fn what_is_stored_stands_in_where_the_cache_may_give_it() {
    let origin = Origin::start();
    origin.on("GET /").replies([ok("Cache-Control: max-age=0", "old"), fails()]);
    let fleetfoot = with_policy(
        "cache: { if_error: 1h }, breaker: { in_a_row: 1, probe: 1h }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    for _ in 0..5 {
        assert_eq!(fleetfoot.get("/").text(), "old");
    }
    assert_eq!(origin.count("GET /"), 2);
}

#[test]
fn who_leaves_and_what_our_limit_refuses_says_nothing_of_the_source() {
    let (origin, never) = (Origin::start(), Gate::new());
    origin.on("GET /slow").reply(Script::new().wait(&never));
    origin.on("GET /").reply(ok("", "well"));
    let fleetfoot = with_policy(
        "breaker: { in_a_row: 1, probe: 1h }, limit: { rate: 4/h, per: \"${url}\" }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    for count in 1..=3 {
        let mut client = fleetfoot.connect();
        client.send("GET /slow HTTP/1.1\r\nHost: example.test\r\n\r\n");
        origin.wait_for(count, "GET /slow");
        drop(client);
    }
    for _ in 0..4 {
        assert_eq!(fleetfoot.get("/").status, 200);
    }
    for _ in 0..3 {
        assert_eq!(fleetfoot.get("/").field("Fleetfoot-Error"), Some("rate-limited"));
    }
    never.open();
}

#[test]
fn stores_and_databases_have_breakers_too() {
    let mariadb = mariadb();
    let nobody = Port::reserve();
    let sources = [
        format!("redis: {{ redis: \"redis://127.0.0.1:{}\", timeout: 200ms }}", nobody.number()),
        format!("db: {}", sql(&mariadb.url(), "")),
    ];
    let fleetfoot = with_policy(
        "breaker: { in_a_row: 2, probe: 1h }",
        &[&sources[0], &sources[1]],
        &[
            "match: GET /read, read: { redis: GET key }, use: p",
            "match: GET /step, compose: { it: { redis: GET key, use: p } }, respond: \"${it}\"",
            "match: GET /sql, compose: { it: { db: SELECT * FROM nowhere, use: p } }, respond: \"${it}\"",
        ],
    );
    for target in ["/read", "/sql"] {
        for _ in 0..2 {
            assert_ne!(fleetfoot.get(target).field("Fleetfoot-Error"), Some("breaker-open"), "{target}");
        }
        assert_eq!(fleetfoot.get(target).field("Fleetfoot-Error"), Some("breaker-open"), "{target}");
    }
    assert_eq!(
        fleetfoot.get("/step").field("Fleetfoot-Error"),
        Some("breaker-open"),
        "one Redis, one breaker"
    );
}
