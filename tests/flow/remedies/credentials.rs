//! `credentials`: the source sees ours, whatever the client sent; a token is asked for once for all, renewed, and told apart from what
//! the source itself says; and no secret is shown.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use testkit::{Fleetfoot, Gate, Origin, Script, ok, run_to_end, status};

use super::support::{EVERYWHERE, everywhere, times, with_policy};
use crate::composing::support::config_with;
use crate::control_port::port::get;
use crate::setup::each;

const ROUTE: &str = "match: /**, proxy: api, use: p";

fn source(origin: &Origin) -> String {
    format!("api: \"{}\"", origin.url())
}

/// `credentials` with a token of this server.
fn oauth2(server: &Origin) -> String {
    let words = "client_id: shop, client_secret: \"s3cret:1\", scope: \"a b\", audience: orders";
    format!("credentials: {{ oauth2: {{ token: \"{}/v1/token\", {words} }} }}", server.url())
}

/// What a server says that grants this token.
fn granted(token: &str, seconds: u64) -> Script {
    let fields = "Content-Type: application/json\nCache-Control: no-store";
    let answer =
        format!("{{\"access_token\":\"{token}\",\"token_type\":\"Bearer\",\"expires_in\":{seconds}}}");
    ok(fields, answer)
}

/// A server that grants `t1`, `t2` and so on.
fn server() -> Origin {
    let (server, granted_so_far) = (Origin::start(), AtomicUsize::new(0));
    server.on("POST /v1/token").answer(move |_| {
        let number = granted_so_far.fetch_add(1, SeqCst) + 1;
        granted(&format!("t{number}"), 3600)
    });
    server
}

#[test]
fn the_source_sees_ours_wherever_the_policy_stands_and_nothing_of_the_clients() {
    let origin = Origin::start();
    for (target, _) in EVERYWHERE {
        origin.on(target).reply(ok("", "1"));
    }
    let fleetfoot = everywhere(&origin, "credentials: { header: { X-Api-Key: 0urs } }");
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        for fields in [
            "X-Api-Key: theirs\nx-api-key: theirs",
            "X-Api-Key: theirs\nConnection: X-Api-Key",
            "X_Api_Key: theirs\nx-api_key: theirs\nX.Api-Key: theirs",
        ] {
            assert_eq!(fleetfoot.get_with(target, fields).status, 200);
            let head = String::from_utf8(origin.last(&format!("GET {target}")).raw).unwrap().to_lowercase();
            assert_eq!(
                (head.matches("x-api-key: 0urs").count(), head.contains("theirs")),
                (1, false),
                "{head}"
            );
        }
    });
}

#[test]
fn each_form_is_sent_as_its_standard_says() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "1"));
    let rows = [
        ("bearer: s3cret", "/x", Some("Bearer s3cret")),
        ("basic: { user: app, password: s3cret }", "/x", Some("Basic YXBwOnMzY3JldA==")),
        ("query: { api_key: \"s3 cret\" }", "/x?a=1&api_key=s3+cret", None),
    ];
    each(rows.map(|(words, target, field)| (words, (target, field))), |words, (target, field)| {
        let policy = format!("credentials: {{ {words} }}");
        let fleetfoot = with_policy(&policy, &[&source(&origin)], &[ROUTE]);
        let asked = if field.is_some() { "/x" } else { "/x?api_key=theirs&a=1&api%5fkey=theirs" };
        assert_eq!(fleetfoot.get(asked).status, 200);
        let received = origin.requests().pop().unwrap();
        assert_eq!((received.target.as_str(), received.field("authorization")), (target, field));
    });
}

#[test]
fn no_client_is_told_the_parameter_that_the_source_repeats() {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let (path, query) = request.target.split_once('?').unwrap();
        let redirect = format!(
            "Location: {path}/?{query}\r\nContent-Location: http://a.test{path}?{query}\r\n\
                                Link: <{path}?{query}&page=2>; rel=next"
        );
        status("301 Moved Permanently", &redirect, "")
    });
    let source = source(&origin);
    for policy in [
        "credentials: { query: { api_key: \"s3 cret\" } }",
        "cache: { ttl: 1m }, credentials: { query: { api_key: \"s3 cret\" } }",
        "accounts: { rotate: [{ query: { api_key: \"s3 cret\" } }, { query: { api_key: \"s3 cret-2\" } }] }",
    ] {
        let fleetfoot = with_policy(policy, &[&source], &[ROUTE]);
        for _ in 0..3 {
            let answer = fleetfoot.get("/x?a=1");
            assert_eq!(answer.status, 301, "{answer:?}");
            assert_eq!(answer.joined("Location"), "/x/?a=1", "{policy}");
            assert_eq!(answer.joined("Content-Location"), "http://a.test/x?a=1", "{policy}");
            assert_eq!(answer.joined("Link"), "</x?a=1&page=2>; rel=next", "{policy}");
        }
    }
}

#[test]
fn a_token_that_has_expired_when_it_comes_is_not_used() {
    let (origin, server) = (Origin::start(), Origin::start());
    origin.on("GET /").reply(ok("", "x"));
    server.on("POST /v1/token").reply(granted("t1", 0));
    let fleetfoot = with_policy(&oauth2(&server), &[&source(&origin)], &[ROUTE]);
    let refused = fleetfoot.get("/");
    assert_eq!((refused.status, refused.field("Fleetfoot-Error")), (503, Some("credentials-unavailable")));
    assert!(origin.requests().is_empty() && fleetfoot.stderr().all().join("\n").contains("expired already"));
}

#[test]
fn whatever_else_changes_a_request_does_not_take_it_off() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "1"));
    let source = source(&origin);
    let rows = [
        (
            "credentials: { query: { key: s3cret } }, rewrite: { prefix: /, to: \"/v1?a=1\" }",
            "/v1/x?a=1&key=s3cret",
            None,
        ),
        (
            "credentials: { bearer: s3cret }, headers: { request: { remove: Authorization } }",
            "/x?b",
            Some("Bearer s3cret"),
        ),
        (
            "accounts: { rotate: [{ bearer: s3cret }] }, headers: { request: { remove: A* } }",
            "/x?b",
            Some("Bearer s3cret"),
        ),
    ];
    each(rows.map(|(policy, target, field)| (policy, (target, field))), |policy, (target, field)| {
        let fleetfoot = with_policy(policy, &[&source], &[ROUTE]);
        assert_eq!(fleetfoot.get_with("/x?b", "Authorization: theirs").status, 200);
        let received = origin.requests().pop().unwrap();
        assert_eq!(received.target, target);
        if field.is_some() {
            assert_eq!(received.field("authorization"), field);
        }
    });
}

#[test]
fn what_is_fetched_with_our_credentials_is_everybodys_unless_the_response_forbids_it() {
    let origin = Origin::start();
    origin.on("GET /shared").reply(ok("Cache-Control: max-age=600", "x"));
    origin.on("GET /private").reply(ok("Cache-Control: private, max-age=600", "x"));
    let policy = "cache: { ttl: origin }, credentials: { bearer: s3cret }";
    let fleetfoot = with_policy(policy, &[&source(&origin)], &[ROUTE]);
    for target in ["/shared", "/shared", "/private", "/private"] {
        assert_eq!(fleetfoot.get(target).status, 200);
    }
    assert_eq!((origin.count("GET /shared"), origin.count("GET /private")), (1, 2));
    let own = fleetfoot.get_with("/other", "Authorization: Bearer theirs");
    assert!(!own.is_hit(), "{own:?}");
    assert!(origin.requests().iter().all(|request| request.field("authorization") == Some("Bearer s3cret")));
    fleetfoot.get_with("/shared", "Authorization: Bearer theirs");
    assert_eq!(origin.count("GET /shared"), 2, "whoever says who they are is asked for themselves");
}

#[test]
fn fifty_calls_on_several_cores_cost_one_request_for_a_token() {
    let (origin, server, gate) = (Origin::start(), Origin::start(), Gate::new());
    origin.on("GET /").reply(ok("", "x"));
    server.on("POST /v1/token").reply(Script::new().wait(&gate).then(granted("t1", 3600)));
    let top = format!("cores: 4\npolicies: {{ p: {{ {} }} }}", oauth2(&server));
    let fleetfoot = Fleetfoot::start(&config_with(&top, &[&source(&origin)], &[ROUTE]));
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..50).map(|_| scope.spawn(|| fleetfoot.get("/").status)).collect();
        server.wait_for(1, "POST /v1/token");
        gate.open();
        assert!(asked.into_iter().all(|asked| asked.join().unwrap() == 200));
    });
    assert_eq!((server.count("POST /v1/token"), origin.count("GET /")), (1, 50));
    assert!(origin.requests().iter().all(|request| request.field("authorization") == Some("Bearer t1")));
    let request = server.last("POST /v1/token");
    assert_eq!(request.field("authorization"), Some("Basic c2hvcDpzM2NyZXQlM0Ex"), "shop:s3cret%3A1");
    assert_eq!(request.field("content-type"), Some("application/x-www-form-urlencoded"));
    assert_eq!(
        String::from_utf8(request.body).unwrap(),
        "grant_type=client_credentials&scope=a+b&audience=orders"
    );
}

#[test]
fn a_token_is_renewed_before_it_expires_though_nobody_asks() {
    let (origin, server) = (Origin::start(), Origin::start());
    origin.on("GET /").reply(ok("", "x"));
    server.on("POST /v1/token").replies([granted("short", 2), granted("long", 3600)]);
    let fleetfoot = with_policy(&oauth2(&server), &[&source(&origin)], &[ROUTE]);
    server.wait_for(2, "POST /v1/token");
    assert_eq!(fleetfoot.get("/").status, 200);
    assert_eq!((server.count("POST /v1/token"), server.connections()), (2, 1));
}

#[test]
fn a_source_that_does_not_know_the_token_any_more_is_asked_once_more_with_another() {
    let (origin, server) = (Origin::start(), server());
    for (target, _) in EVERYWHERE {
        // Only every second token is good.
        origin.on(target).answer(|request| {
            let token = request.field("authorization").unwrap_or_default();
            let number: u32 =
                token.strip_prefix("Bearer t").and_then(|number| number.parse().ok()).unwrap_or(1);
            if number.is_multiple_of(2) {
                ok("", "1")
            } else {
                status("401 Unauthorized", "WWW-Authenticate: Bearer", "")
            }
        });
    }
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let fleetfoot = everywhere(&origin, &oauth2(&server));
        let before = origin.count(target);
        for _ in 0..3 {
            assert_eq!(fleetfoot.get(target).status, 200);
        }
        assert_eq!(origin.count(target) - before, 4, "one of them twice");
        assert_eq!(times(&fleetfoot, "credentials", "again"), 1);
    });
}

#[test]
fn content_is_sent_again_where_all_of_it_is_there() {
    let (origin, server) = (Origin::start(), server());
    origin.on("POST /").replies([status("401 Unauthorized", "", ""), ok("", "done")]);
    let fleetfoot = with_policy(&oauth2(&server), &[&source(&origin)], &[ROUTE]);
    let answer = fleetfoot.connect().ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello");
    assert_eq!((answer.status, answer.text().as_str()), (200, "done"));
    let bodies: Vec<_> = origin.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies, [b"hello", b"hello"]);
}

#[test]
fn a_source_that_knows_no_token_costs_the_server_no_storm() {
    let (origin, server) = (Origin::start(), server());
    origin.on("GET /").reply(status("401 Unauthorized", "", "no"));
    let fleetfoot = with_policy(&oauth2(&server), &[&source(&origin)], &[ROUTE]);
    for _ in 0..30 {
        assert_eq!(fleetfoot.get("/").status, 401);
    }
    assert!(server.count("POST /v1/token") < 10, "{}", server.count("POST /v1/token"));
}

#[test]
fn a_server_that_gives_no_token_is_a_clear_error_and_asked_ever_more_seldom() {
    let (origin, server) = (Origin::start(), Origin::start());
    origin.on("GET /").reply(ok("", "x"));
    let refusal = "{\"error\":\"invalid_client\",\"error_description\":\"s3cret:1 is wrong\"}";
    server.on("POST /v1/token").reply(status("401 Unauthorized", "", refusal));
    let mut fleetfoot = with_policy(&oauth2(&server), &[&source(&origin)], &[ROUTE]);
    for _ in 0..30 {
        let answer = fleetfoot.get("/");
        assert_eq!((answer.status, answer.field("Fleetfoot-Error")), (503, Some("credentials-unavailable")));
        assert!(answer.has("Retry-After") && !answer.text().contains("invalid_client"), "{answer:?}");
    }
    assert!(server.count("POST /v1/token") < 10 && origin.count("GET /") == 0);
    let line = fleetfoot.stderr().wait_for("no token from").unwrap();
    assert!(line.contains("it answered 401 (invalid_client)") && !line.contains("s3cret"), "{line}");
    server.on("POST /v1/token").reply(granted("t1", 3600));
    fleetfoot.wait_until("well again", |fleetfoot| fleetfoot.get("/").status == 200);
    let metrics = fleetfoot.metrics();
    assert!(
        metrics.count("fleetfoot_token_failures_total") < metrics.count("fleetfoot_token_requests_total")
    );
    assert!(metrics.count("fleetfoot_token_usable_seconds") > 3500);
}

#[test]
fn a_server_that_cannot_be_reached_is_told_apart_from_a_source_that_cannot() {
    let (origin, server) = (Origin::start(), Origin::start());
    origin.on("GET /").reply(ok("Cache-Control: max-age=0", "x"));
    server.stop();
    let fleetfoot = with_policy(&oauth2(&server), &[&source(&origin)], &[ROUTE]);
    let answer = fleetfoot.get("/");
    assert_eq!((answer.status, answer.field("Fleetfoot-Error")), (503, Some("credentials-unavailable")));
}

#[test]
fn a_secret_in_a_file_is_read_again_on_reload_and_shown_nowhere() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "x"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("api.key");
    fs::write(&file, "0ne-s3cret\n").unwrap();
    let policy = format!("credentials: {{ bearer: {{ file: \"{}\" }} }}", file.display());
    let top = format!("cores: 1\naccess_log: json\npolicies: {{ p: {{ {policy} }} }}");
    let mut fleetfoot = Fleetfoot::start(&config_with(&top, &[&source(&origin)], &[ROUTE]));
    let seen = |fleetfoot: &Fleetfoot| {
        assert_eq!(fleetfoot.get("/").status, 200);
        origin.requests().pop().unwrap().field("authorization").unwrap().to_owned()
    };
    assert_eq!(seen(&fleetfoot), "Bearer 0ne-s3cret");
    fs::write(&file, "an0ther-s3cret\n").unwrap();
    fleetfoot.hang_up();
    fleetfoot.wait_until("reloaded", |fleetfoot| seen(fleetfoot) == "Bearer an0ther-s3cret");
    let explained = get(&fleetfoot, "/explain?url=http://example.test/").to_string();
    assert!(explained.contains("sets `authorization`"), "{explained}");
    let metrics = fleetfoot.get_admin("/metrics").text();
    fleetfoot.terminate();
    fleetfoot.wait_for_exit();
    for shown in
        [explained, metrics, fleetfoot.stdout().all().join("\n"), fleetfoot.stderr().all().join("\n")]
    {
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}

#[test]
fn a_token_goes_on_over_a_reload_that_does_not_change_it() {
    let (origin, server) = (Origin::start(), server());
    origin.on("*").reply(ok("", "x"));
    let config = |open: &str| {
        let top = format!("cores: 1\npolicies: {{ p: {{ {} }} }}", oauth2(&server));
        config_with(&top, &[&source(&origin)], &[&format!("match: {open}, proxy: api, use: p")])
    };
    let mut fleetfoot = Fleetfoot::start(&config("/old"));
    assert_eq!(fleetfoot.get("/old").status, 200);
    fleetfoot.rewrite(&config("/new"));
    fleetfoot.hang_up();
    fleetfoot.wait_until("reloaded", |fleetfoot| fleetfoot.get("/new").status == 200);
    assert_eq!(server.count("POST /v1/token"), 1);
}

#[test]
fn explain_asks_as_calls_do_and_tells_what_everybody_would_get() {
    let (origin, server) = (Origin::start(), server());
    origin.on("GET /").reply(ok("Cache-Control: max-age=60", "x"));
    let policy = format!("cache: {{ ttl: origin }}, {}", oauth2(&server));
    let fleetfoot = with_policy(&policy, &[&source(&origin)], &[ROUTE]);
    let explained = get(&fleetfoot, "/explain?url=http://example.test/&ask=true");
    assert_eq!(origin.last("GET /").field("authorization"), Some("Bearer t1"));
    assert!(explained["verdict"].as_str().unwrap().starts_with("stored, fresh for"), "{explained}");
    let file = fleetfoot.config_file();
    let alone =
        run_to_end(&["explain", "GET", "http://example.test/", "--ask", "--config", &file.to_string_lossy()]);
    assert_eq!(alone.code, Some(0), "{alone:?}");
    assert_eq!(origin.last("GET /").field("authorization"), Some("Bearer t2"), "{alone:?}");
}
