//! `respond` and `redirect`: some requests are answered without asking anybody, hits and all; and no request chooses the host that
//! clients are sent to.

use testkit::{Fleetfoot, Gate, Origin, Script, ok};

use super::support::{times, with_policy};
use crate::composing::support::config_with;
use crate::control_port::port::get;

/// A policy before one that caches.
fn before_the_cache(origin: &Origin, policy: &str) -> Fleetfoot {
    let top = format!("cores: 1\npolicies:\n  p: {{ {policy} }}\n  live: {{ cache: {{ ttl: origin }} }}");
    let source = format!("api: \"{}\"", origin.url());
    Fleetfoot::start(&config_with(&top, &[&source], &["match: /**, proxy: api, use: [p, live]"]))
}

#[test]
fn maintenance_is_for_all_who_are_meant_and_no_hit_gets_past_it() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Cache-Control: max-age=600", "x"));
    let fleetfoot = before_the_cache(
        &origin,
        "respond: { status: 503, headers: { Retry-After: \"600\", X-Who: \"${header('X-Who')}\" }, body: \"Back at noon.\", when: \"${header('X-Who') != 'admin'}\" }",
    );
    for is_hit in [false, true] {
        let answer = fleetfoot.get_with("/", "X-Who: admin");
        assert_eq!((answer.status, answer.is_hit()), (200, is_hit), "{answer:?}");
        let closed = fleetfoot.get_with("/", "X-Who: b");
        assert_eq!((closed.status, closed.text().as_str()), (503, "Back at noon."));
        assert_eq!((closed.joined("Retry-After").as_str(), closed.joined("X-Who").as_str()), ("600", "b"));
        assert_eq!(closed.joined("Content-Type"), "text/plain; charset=utf-8");
    }
    let head = fleetfoot.send("HEAD", "/", "");
    assert_eq!((head.status, head.field("Content-Length"), head.text().as_str()), (503, Some("13"), ""));
    assert_eq!(origin.requests().len(), 1);
    let counted = fleetfoot.metrics();
    assert_eq!(
        counted.sum("fleetfoot_remedies_total", &["remedy=\"respond\"", "outcome=\"answered\""]) as u64,
        3
    );
}

#[test]
fn a_route_without_a_source_answers_whatever_it_takes() {
    let origin = Origin::start();
    let top = "cores: 1\npolicies:\n  edge: { headers: { response: { set: { X-Edge: \"${url}\" } } } }\n  once: { limit: 2/h }\n  key: { auth: { keys: { of: { acme: abcdefghijklmnop } } } }";
    let fleetfoot = Fleetfoot::start(&config_with(
        top,
        &[&format!("api: \"{}\"", origin.url())],
        &[
            "match: \"/old/{id}/**\", redirect: { to: \"/new/${path.id}\", status: 308 }, use: edge",
            "match: GET /robots.txt, respond: { status: 200, body: \"User-agent: *\" }, use: once",
            "match: /closed, respond: { status: 410, headers: { X-Id: \"${query.id}\" } }, use: key",
            "match: /**, proxy: api",
        ],
    ));
    let moved = fleetfoot.get("/old/a%20b/c?d");
    assert_eq!((moved.status, moved.field("Location")), (308, Some("/new/a%20b")));
    assert_eq!(moved.field("X-Edge"), Some("/old/a%20b/c?d"), "what is used stands around it");
    assert_eq!(fleetfoot.send("POST", "/old/a/", "").status, 308, "whatever the method");
    for status in [200, 200, 429] {
        assert_eq!(fleetfoot.get("/robots.txt").status, status);
    }
    assert_eq!(fleetfoot.get("/closed").status, 401, "whoever may not ask gets nothing");
    let let_in = fleetfoot.get_with("/closed?id=7", "X-Api-Key: abcdefghijklmnop");
    assert_eq!((let_in.status, let_in.field("X-Id")), (410, Some("7")));
    assert!(origin.requests().is_empty());
    let labels =
        ["route=\"/old/{id}/**\"", "policy=\"(route)\"", "remedy=\"redirect\"", "outcome=\"answered\""];
    assert_eq!(fleetfoot.metrics().sum("fleetfoot_remedies_total", &labels) as u64, 2);
    let told = get(&fleetfoot, "/explain?url=http://example.test/old/a/b&ask=true");
    assert_eq!(told["verdict"], "`(route)`: answered with 308 here", "{told}");
    assert_eq!((&told["route"], &told["source"]), (&"/old/{id}/**".into(), &serde_json::Value::Null));
}

#[test]
fn a_step_gets_it_in_place_of_what_its_source_would_give() {
    let origin = Origin::start();
    let fleetfoot = with_policy(
        "respond: { status: 200, body: '{\"name\":\"nobody\"}' }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: GET /page, compose: { user: { api: GET /user, use: p } }"],
    );
    let page = fleetfoot.get("/page");
    assert_eq!((page.status, page.text().as_str()), (200, "{\"user\":{\"name\":\"nobody\"}}"));
    assert!(origin.requests().is_empty());
}

#[test]
fn nobody_comes_in_with_the_call_of_somebody_else() {
    for policy in [
        "respond: { status: 403, when: \"${header('X-Who') != 'admin'}\" }",
        "faults: { abort: { share: 100%, status: 403 }, when: \"${header('X-Who') != 'admin'}\" }",
    ] {
        let (origin, gate) = (Origin::start(), Gate::new());
        origin.on("GET /secret").reply(Script::new().wait(&gate).then(ok("", "1")));
        let url = origin.url();
        let fleetfoot = with_policy(
            policy,
            &[&format!("api: \"{url}\""), &format!("wrapped: {{ http: \"{url}\", use: p }}")],
            &[
                "match: GET /step, compose: { it: { api: GET /secret, use: p, on_error: null } }",
                "match: GET /source, compose: { it: { wrapped: GET /secret, on_error: null } }",
            ],
        );
        let mut admins: Vec<_> = ["/step", "/source"]
            .map(|target| {
                let mut admin = fleetfoot.connect();
                admin.send(format!("GET {target} HTTP/1.1\r\nHost: a.example\r\nX-Who: admin\r\n\r\n"));
                admin
            })
            .into();
        origin.wait_for(2, "GET /secret");
        for target in ["/step", "/source"] {
            assert_eq!(fleetfoot.get(target).text(), "{\"it\":null}", "{policy}");
        }
        gate.open();
        for admin in &mut admins {
            assert_eq!(admin.read_answer().text(), "{\"it\":1}", "{policy}");
        }
        assert_eq!(origin.count("GET /secret"), 2, "{policy}");
    }
}

#[test]
fn a_cache_around_a_compose_tells_apart_whom_its_steps_tell_apart() {
    let origin = Origin::start();
    origin.on("GET /user").reply(ok("", "1"));
    let top = "cores: 1\npolicies:\n  p: { respond: { status: 200, body: \"0\", when: \"${header('X-Who') != 'admin'}\" } }\n  live: { cache: { ttl: 1h } }";
    let fleetfoot = Fleetfoot::start(&config_with(
        top,
        &[&format!("api: \"{}\"", origin.url())],
        &["match: GET /page, use: live, compose: { it: { api: GET /user, use: p } }"],
    ));
    for is_hit in [false, true] {
        for (who, expected) in [("admin", "{\"it\":1}"), ("b", "{\"it\":0}")] {
            let page = fleetfoot.get_with("/page", &format!("X-Who: {who}"));
            assert_eq!((page.text().as_str(), page.is_hit()), (expected, is_hit));
            assert_eq!(page.joined("Vary"), "x-who");
        }
    }
}

#[test]
fn what_a_policy_makes_is_no_part_of_a_page_unless_it_is_json() {
    let origin = Origin::start();
    origin.on("GET /user").reply(ok("", "1"));
    for policy in [
        "respond: { status: 200, body: 'Back \"at\" noon.' }",
        "respond: { status: 200, body: '{\"name\":}' }",
        "faults: { abort: { share: 100%, status: 200 } }",
    ] {
        let fleetfoot = with_policy(
            policy,
            &[&format!("api: \"{}\"", origin.url())],
            &[
                "match: GET /page, compose: { user: { api: GET /user, use: p, on_error: null } }",
                "match: GET /text, compose: { user: { api: GET /user, use: p, as: text } }",
            ],
        );
        let page = fleetfoot.get("/page");
        assert_eq!((page.status, page.text().as_str()), (200, "{\"user\":null}"), "{policy}");
        assert_eq!(page.field("X-Fleetfoot-Failed"), Some("user;error=unusable-reply"), "{policy}");
        let text = serde_json::from_str::<serde_json::Value>(&fleetfoot.get("/text").text());
        assert!(text.is_ok_and(|text| text["user"].is_string()), "{policy}");
    }
}

#[test]
fn clients_are_sent_elsewhere_and_never_where_a_request_says() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("", "x"));
    let fleetfoot = with_policy(
        "redirect: { to: \"https://www.example.com${url}\", status: 308, when: \"${host != 'www.example.com'}\" }, headers: { response: { set: { X-A: a } } }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    let sent = fleetfoot.get("/a/b?c=d&e=%2F");
    assert_eq!(
        (sent.status, sent.joined("Location").as_str()),
        (308, "https://www.example.com/a/b?c=d&e=%2F")
    );
    assert!(!sent.has("X-A"), "what stands inside has nothing to do with it");
    let evil = fleetfoot.get("//evil.example/x");
    assert_eq!(evil.joined("Location"), "https://www.example.com//evil.example/x");
    let there = fleetfoot.connect().ask("GET / HTTP/1.1\r\nHost: www.example.com\r\n\r\n");
    assert_eq!(there.status, 200);
}

#[test]
fn a_redirect_that_is_refused_is_counted_as_that() {
    let origin = Origin::start();
    let fleetfoot = with_policy(
        "redirect: { to: \"https://www.example.com${query.x}\" }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    for (target, status) in [("/?x=.evil.example", 400), ("/", 400), ("/?x=", 307)] {
        assert_eq!(fleetfoot.get(target).status, status, "{target}");
    }
    assert_eq!((times(&fleetfoot, "redirect", "refused"), times(&fleetfoot, "redirect", "answered")), (2, 1));
}
