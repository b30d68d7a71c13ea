//! The same policy, or several of a kind, on a route, its source and a step: each does its own, and none gets in the way of
//! another.

use serde_json::json;
use testkit::{Fleetfoot, Origin, ok, status};

use crate::composing::support::config_with;
use crate::control_port::port::purge;

/// A cache around a source, and another one around whatever asks it.
fn nested(origin: &Origin) -> Fleetfoot {
    let top = "cores: 2\npolicies:\n  inner: { cache: { mode: force, ttl: 1h } }\n  outer: { cache: { mode: force, ttl: 1h } }";
    let source = format!("api: {{ http: \"{}\", use: inner }}", origin.url());
    let routes = [
        "match: /route, proxy: api, use: outer",
        "match: GET /page, compose: { it: { api: GET /step, use: outer } }, respond: \"${it}\"",
        "match: /plain, proxy: api",
    ];
    Fleetfoot::start(&config_with(top, &[&source], &routes))
}

#[test]
fn a_cache_on_a_route_and_one_on_its_source_are_two() {
    let origin = Origin::start();
    for target in ["GET /route", "GET /step", "GET /plain"] {
        origin.on(target).reply(ok("Content-Type: application/json", "1"));
    }
    let fleetfoot = nested(&origin);
    for (target, asked) in [("/route", "GET /route"), ("/page", "GET /step"), ("/plain", "GET /plain")] {
        for _ in 0..3 {
            let answer = fleetfoot.get(target);
            assert_eq!((answer.status, answer.text().as_str()), (200, "1"), "{target} {answer:?}");
        }
        assert_eq!(origin.count(asked), 1, "{target}");
    }
}

#[test]
fn a_purge_by_tag_reaches_both() {
    let origin = Origin::start();
    origin.on("GET /route").replies([ok("Cache-Tag: games", "old"), ok("Cache-Tag: games", "new")]);
    let fleetfoot = nested(&origin);
    let first = fleetfoot.get("/route");
    assert_eq!((first.text().as_str(), first.has("Cache-Tag")), ("old", false));
    assert_eq!(fleetfoot.get("/route").text(), "old");
    purge(&fleetfoot, &json!({ "tag": "games" }));
    assert_eq!(fleetfoot.get("/route").text(), "new");
}

#[test]
fn a_limit_on_a_source_holds_for_routes_and_steps_together() {
    let origin = Origin::start();
    origin.on("GET /a").reply(ok("", "1"));
    let source = format!("api: {{ http: \"{}\", use: p }}", origin.url());
    let routes =
        ["match: /a, proxy: api", "match: GET /page, compose: { it: { api: GET /a } }, respond: \"${it}\""];
    let fleetfoot =
        Fleetfoot::start(&config_with("cores: 1\npolicies: { p: { limit: 2/h } }", &[&source], &routes));
    let first = fleetfoot.get("/a");
    assert_eq!((first.status, first.has("RateLimit")), (200, false), "it is nobody's quota");
    assert_eq!(fleetfoot.get("/page").status, 200);
    for target in ["/a", "/page"] {
        let refused = fleetfoot.get(target);
        assert_eq!((refused.status, refused.has("Retry-After")), (429, true), "{target} {refused:?}");
        assert_eq!(refused.text(), "too many requests; try again later\n");
    }
}

#[test]
fn who_shares_a_fetch_is_not_refused_for_another() {
    let origin = Origin::start();
    origin
        .on("GET /x")
        .replies([status("503 Service Unavailable", "", ""), ok("Cache-Control: max-age=9", "x")]);
    let top =
        "cores: 1\npolicies: { p: { cache: { ttl: origin }, limit: 2/h, retry: { backoff: 1ms..1ms } } }";
    let source = format!("api: \"{}\"", origin.url());
    let fleetfoot = Fleetfoot::start(&config_with(top, &[&source], &["match: /**, proxy: api, use: p"]));
    assert_eq!(fleetfoot.get("/x").text(), "x", "two calls, and both were allowed");
    assert!(fleetfoot.get("/x").is_hit(), "what is stored costs nothing");
    assert_eq!(fleetfoot.get("/y").status, 429);
}
