//! `rewrite`: the source is asked for another path, wherever the policy stands, and clients are told the one they know.

use testkit::{Origin, ok, status};

use super::support::with_policy;
use crate::composing::support::config_with;
use crate::setup::each;

#[test]
fn the_source_is_asked_for_another_path_wherever_the_policy_stands() {
    let origin = Origin::start();
    let url = origin.url();
    let fleetfoot = with_policy(
        "rewrite: { prefix: /api/v1, to: /v1 }",
        &[&format!("plain: \"{url}\""), &format!("wrapped: {{ http: \"{url}\", use: p }}")],
        &[
            "match: /api/v1/route/**, proxy: plain, use: p",
            "match: /api/v1/source/**, proxy: wrapped",
            "match: GET /step, compose: { it: { plain: GET /api/v1/step/x?a=b, use: p } }, respond: \"${it}\"",
            "match: /other, proxy: plain, use: p",
        ],
    );
    let asked = [
        ("/api/v1/route/x?a=b", "/v1/route/x?a=b"),
        ("/api/v1/source/x?a=b", "/v1/source/x?a=b"),
        ("/step", "/v1/step/x?a=b"),
        ("/api/v1/route/a%2fb/%61%2e%2e", "/v1/route/a%2Fb/a.."),
        ("/other?a=b", "/other?a=b"),
    ];
    each(asked, |target, asked| {
        origin.on(asked).reply(ok("", "1"));
        let answer = fleetfoot.get(target);
        assert_eq!((answer.status, answer.text().as_str()), (200, "1"), "{answer:?}");
        assert_eq!(origin.count(asked), 1);
    });
}

#[test]
fn clients_are_told_the_paths_they_know() {
    let origin = Origin::start();
    let fleetfoot = with_policy(
        "rewrite: { path: \"/users/{id}/**\", to: \"/u/{id}/**\" }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    let fields = "Location: http://example.test/u/8/new\r\nContent-Location: /u/7/x?a=1\r\nSet-Cookie: a=1; Path=/u/7/\r\n\
                  Set-Cookie: b=1; Path=/\r\nLink: </u/7/y>; rel=next";
    origin.on("POST /u/7/x").reply(status("201 Created", fields, ""));
    let answer = fleetfoot.send("POST", "/users/7/x", "");
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(answer.joined("Location"), "http://example.test/users/8/new");
    assert_eq!(answer.joined("Content-Location"), "/users/7/x?a=1");
    assert_eq!(answer.joined("Set-Cookie"), "a=1; Path=/users/7/, b=1; Path=/");
    origin.on("GET /u/7/x").reply(status("302 Found", "Location: https://other.test/u/8", ""));
    assert_eq!(fleetfoot.get("/users/7/x").joined("Location"), "https://other.test/u/8");
}

#[test]
fn no_client_is_told_what_the_source_calls_itself() {
    let origin = Origin::start();
    let fleetfoot = with_policy(
        "rewrite: { prefix: /api, to: /v1 }",
        &[
            &format!("target: {{ http: \"{}\", host: target }}", origin.url()),
            &format!("named: {{ http: \"{}\", host: internal.test }}", origin.url()),
        ],
        &["match: /api/named/**, proxy: named, use: p", "match: /**, proxy: target, use: p"],
    );
    let own = origin.url();
    each(
        [
            ("/api/x", (format!("{own}/v1/y?a=1"), "/api/y?a=1")),
            ("/api/named/x", ("https://internal.test/v1/y".to_owned(), "/api/y")),
            ("/api/named/y", (format!("{own}/v1/y"), "/api/y")),
            ("/api/z", ("http://internal.test/v1/y".to_owned(), "http://internal.test/v1/y")),
        ],
        |target, (said, told)| {
            origin.on("*").reply(status("302 Found", &format!("Location: {said}"), ""));
            assert_eq!(fleetfoot.get(target).joined("Location"), told);
        },
    );
}

#[test]
fn no_path_gets_round_the_rules_by_being_rewritten() {
    let origin = Origin::start();
    let fleetfoot = with_policy(
        "rewrite: { prefix: /api, to: / }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    for target in ["/api/../secret", "/api/%2e%2e/secret", "/api/..;x/secret", "/api//evil.test/x"] {
        assert_eq!(fleetfoot.get(target).status, 400, "{target}");
    }
    assert!(origin.requests().is_empty());
}

#[test]
fn responses_are_kept_and_forgotten_by_the_urls_that_clients_know() {
    let origin = Origin::start();
    origin.on("GET /v1/x").reply(ok("Cache-Control: max-age=600", "x"));
    origin.on("PUT /v1/x").reply(ok("", ""));
    let top = "cores: 1\npolicies: { p: { cache: { ttl: origin }, rewrite: { prefix: /api, to: /v1 } } }";
    let source = format!("api: \"{}\"", origin.url());
    let config = config_with(top, &[&source], &["match: /**, proxy: api, use: p"]);
    let fleetfoot = testkit::Fleetfoot::start(&config);
    for is_hit in [false, true] {
        assert_eq!(fleetfoot.get("/api/x").is_hit(), is_hit);
    }
    assert!(!fleetfoot.get("/v1/x").is_hit(), "another URL is another response");
    assert_eq!(fleetfoot.send("PUT", "/api/x", "Content-Length: 0").status, 200);
    assert!(!fleetfoot.get("/api/x").is_hit());
}

#[test]
fn before_the_cache_two_urls_share_a_response() {
    let origin = Origin::start();
    origin.on("GET /v1/x").reply(ok("Cache-Control: max-age=600", "x"));
    let top =
        "cores: 1\npolicies: { p: { rewrite: { prefix: /api, to: /v1 } }, live: { cache: { ttl: origin } } }";
    let source = format!("api: \"{}\"", origin.url());
    let config = config_with(top, &[&source], &["match: /**, proxy: api, use: [p, live]"]);
    let fleetfoot = testkit::Fleetfoot::start(&config);
    for (target, is_hit) in [("/api/x", false), ("/api/x", true), ("/v1/x", true)] {
        assert_eq!(fleetfoot.get(target).is_hit(), is_hit, "{target}");
    }
}
