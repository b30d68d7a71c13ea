//! A write makes the cache forget what it has changed (RFC 9111 §4.4), also where the cache knows it by another path than the client,
//! and where steps are what reads and writes.

use testkit::{Fleetfoot, Origin, ok, status};

use super::module::Module;
use crate::composing::support::config_with;
use crate::setup::each;

const REWRITTEN: &str = "rw: { rewrite: { prefix: /rw, to: /v } }, live: { cache: { ttl: 1h } }";

fn with_routes(origin: &Origin, routes: &[&str]) -> Fleetfoot {
    let url = origin.url();
    let sources = [format!("api: \"{url}\""), format!("kept: {{ http: \"{url}\", use: live }}")];
    let top = format!("cores: 1\npolicies: {{ {REWRITTEN} }}");
    Fleetfoot::start(&config_with(&top, &[&sources[0], &sources[1]], routes))
}

/// The first write fails, and changes nothing; the second does.
fn writes_are_seen(fleetfoot: &Fleetfoot, origin: &Origin, asked: &str, of: &str) {
    origin.on(&format!("GET {asked}")).reply(ok("", "1"));
    let write = format!("POST {asked}");
    origin.on(&write).replies([status("500 Internal Server Error", "", ""), ok("", "1")]);
    let reads = |expected: [bool; 2]| {
        for is_hit in expected {
            let answer = fleetfoot.get(of);
            assert_eq!((answer.status, answer.is_hit()), (200, is_hit), "{answer:?}");
        }
    };
    reads([false, true]);
    assert_eq!(fleetfoot.send("POST", of, "").status, 500);
    reads([true, true]);
    assert_eq!(fleetfoot.send("POST", of, "").status, 200);
    reads([false, true]);
}

#[test]
fn a_cache_behind_a_new_path_forgets_what_is_written_there() {
    each(
        [
            ("one route for both", vec!["match: /rw/**, proxy: api, use: [rw, live]"]),
            ("the cache on the source", vec!["match: /rw/**, proxy: kept, use: rw"]),
            (
                "a route for writes",
                vec![
                    "match: GET /rw/**, proxy: api, use: [rw, live]",
                    "match: POST /rw/**, proxy: api, use: rw",
                ],
            ),
        ],
        |_, routes| {
            let origin = Origin::start();
            let fleetfoot = with_routes(&origin, &routes);
            writes_are_seen(&fleetfoot, &origin, "/v/a?b=c", "/rw/a?b=c");
        },
    );
}

#[test]
fn what_a_write_names_is_forgotten_where_the_cache_knows_it() {
    let origin = Origin::start();
    let fleetfoot = with_routes(&origin, &["match: /rw/**, proxy: api, use: [rw, live]"]);
    origin.on("GET /v/list").reply(ok("", "1"));
    origin.on("POST /v/a").reply(status("201 Created", "Location: /v/list", ""));
    for is_hit in [false, true] {
        assert_eq!(fleetfoot.get("/rw/list").is_hit(), is_hit);
    }
    assert_eq!(fleetfoot.send("POST", "/rw/a", "").joined("Location"), "/rw/list");
    assert!(!fleetfoot.get("/rw/list").is_hit());
}

#[test]
fn a_cache_behind_a_function_forgets_what_is_written_by_the_path_that_it_chose() {
    let origin = Origin::start();
    let module = Module::new(&[("on_request", r#"{"path":"/v/a"}"#)]);
    let fleetfoot = module.around(
        &origin,
        "  f: { wasm: { module: tools, request: on_request } }\n  live: { cache: { ttl: 1h } }",
        &["match: /x/**, proxy: api, use: [f, live]"],
    );
    writes_are_seen(&fleetfoot, &origin, "/v/a", "/x/1");
}

#[test]
fn a_step_that_writes_is_seen_by_steps_that_read_through_the_cache_of_its_source() {
    let origin = Origin::start();
    let fleetfoot = with_routes(
        &origin,
        &[
            "match: GET /page, compose: { it: { kept: GET /v/a } }, respond: \"${it}\"",
            "match: POST /order, compose: { it: { kept: POST /v/a } }, respond: \"${it}\"",
        ],
    );
    origin.on("GET /v/a").replies([ok("", "1"), ok("", "2")]);
    origin.on("POST /v/a").reply(ok("", "0"));
    for _ in 0..2 {
        assert_eq!(fleetfoot.get("/page").text(), "1");
    }
    assert_eq!(fleetfoot.send("POST", "/order", "").status, 200);
    assert_eq!(fleetfoot.get("/page").text(), "2");
}
