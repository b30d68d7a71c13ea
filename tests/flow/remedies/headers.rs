//! `headers`: what goes to a source and what comes back carries the fields that the policy says, wherever it stands, hits and
//! errors included; and no value of a client can end a line.

use testkit::{Fleetfoot, Origin, RawClient, ok};

use super::support::{EVERYWHERE, everywhere, with_policy};
use crate::composing::support::config_with;
use crate::setup::each;

#[test]
fn requests_are_changed_wherever_the_policy_stands() {
    let origin = Origin::start();
    for (target, _) in EVERYWHERE {
        origin.on(target).reply(ok("", "1"));
    }
    let request = "remove: [X-Internal-*, Accept], set: { X-Set: \"to ${url}\", X-None: \"${query.none}\" }, add: { X-Add: [a, b] }";
    let fleetfoot = everywhere(&origin, &format!("headers: {{ request: {{ {request} }} }}"));
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let sent = "X-Set: mine\r\nX_Set: mine\r\nX-None: mine\r\nX-Internal-A: 1\r\nx_internal_b: 1\r\nAccept: */*\r\n\
             Connection: X-Set, x-add";
        assert_eq!(fleetfoot.get_with(target, sent).status, 200);
        let asked = origin.last(target);
        assert_eq!(asked.field("X-Set"), Some(format!("to {target}").as_str()), "{asked:?}");
        assert_eq!(asked.head.all("X-Add").collect::<Vec<_>>(), ["a", "b"]);
        for gone in ["X_Set", "X-None", "X-Internal-A", "X_Internal_B", "Accept"] {
            assert_eq!(asked.field(gone), None, "{gone}");
        }
    });
}

#[test]
fn responses_are_changed_on_a_route_and_on_a_source() {
    let origin = Origin::start();
    let response = "remove: [X-Powered-*], set: { X-Set: \"${response.status} at ${location}\" }, add: { X-Seen: \"${response.header('X-Powered-By')}\" }";
    let fleetfoot = everywhere(&origin, &format!("headers: {{ response: {{ {response} }} }}"));
    for target in ["/route", "/source"] {
        origin.on(target).reply(ok("X-Powered-By: PHP\r\nX-Set: theirs", "1"));
        let answer = fleetfoot.get(target);
        assert_eq!((answer.status, answer.text().as_str()), (200, "1"));
        assert_eq!(answer.joined("X-Set"), "200 at LOCAL", "{answer:?}");
        assert_eq!((answer.joined("X-Seen").as_str(), answer.has("X-Powered-By")), ("PHP", false));
    }
}

/// Before the cache: what each client gets.
fn before_the_cache(origin: &Origin, edge: &str) -> Fleetfoot {
    let top = format!(
        "cores: 1\nlocation: KUL\npolicies:\n  edge: {{ headers: {{ {edge} }} }}\n  live: {{ cache: {{ ttl: origin }} }}"
    );
    let source = format!("api: \"{}\"", origin.url());
    Fleetfoot::start(&config_with(&top, &[&source], &["match: /**, proxy: api, use: [edge, live]"]))
}

#[test]
fn a_hit_carries_what_each_client_is_to_get() {
    let origin = Origin::start();
    origin
        .on("GET /")
        .reply(ok("Cache-Control: max-age=600\r\nServer: old\r\nX-Id: 7\r\nETag: \"a\"", "0123456789"));
    let fleetfoot = before_the_cache(
        &origin,
        "response: { remove: Server, set: { X-Cache: \"${cache} at ${location}\", X-Id: \"was ${response.header('x-id')}\" }, add: { X-Who: \"${header('X-Who')}\" } }",
    );
    for (who, cache) in [("a", "miss"), ("b", "hit"), ("c", "hit")] {
        let answer = fleetfoot.get_with("/", &format!("X-Who: {who}"));
        assert_eq!((answer.status, answer.text().as_str()), (200, "0123456789"));
        assert_eq!(answer.joined("X-Cache"), format!("{cache} at KUL"), "{answer:?}");
        assert_eq!((answer.joined("X-Id").as_str(), answer.joined("X-Who").as_str()), ("was 7", who));
        assert!(!answer.has("Server") && answer.has("Cache-Status"));
    }
    for (method, fields, status) in
        [("HEAD", "", 200), ("GET", "If-None-Match: \"a\"", 304), ("GET", "Range: bytes=0-1", 206)]
    {
        let answer = fleetfoot.send(method, "/", fields);
        assert_eq!((answer.status, answer.joined("X-Cache").as_str()), (status, "hit at KUL"), "{answer:?}");
        assert!(!answer.has("Server"));
    }
    assert_eq!(origin.requests().len(), 1);
}

#[test]
fn errors_carry_it_too_and_what_is_said_of_them_stays() {
    let origin = Origin::start();
    origin.stop();
    let fleetfoot = before_the_cache(
        &origin,
        "response: { set: { Strict-Transport-Security: max-age=60, X-Status: \"${response.status} to ${header('X-Who')}\" } }",
    );
    let answer = fleetfoot.get_with("/", "X-Who: a");
    assert_eq!((answer.status, answer.field("Fleetfoot-Error")), (502, Some("connect")));
    assert_eq!(answer.joined("X-Status"), "502 to a", "{answer:?}");
    assert_eq!(answer.joined("Strict-Transport-Security"), "max-age=60");
}

#[test]
fn no_value_ends_a_line_on_a_hit_or_on_the_longer_way() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Cache-Control: max-age=600", "x"));
    let fleetfoot = before_the_cache(&origin, "response: { set: { X-Q: \"${query.q}\", X-R: r } }");
    for target in ["/?q=a%0d%0aX-Evil:%201", "/?q=a%0aX-Evil:%201", "/?q=%00"] {
        for _ in 0..2 {
            let answer = fleetfoot.get(target);
            assert_eq!((answer.status, answer.text().as_str()), (200, "x"));
            assert!(!answer.has("X-Q") && !answer.has("X-Evil"), "{answer:?}");
            assert_eq!(answer.joined("X-R"), "r");
        }
    }
    assert!(fleetfoot.get("/?q=%00").is_hit());
    assert_eq!(fleetfoot.get("/?q=a%2fb").joined("X-Q"), "a/b");
}

#[test]
fn a_request_that_is_changed_before_the_cache_is_found_there_as_it_is_then() {
    let origin = Origin::start();
    origin.on("GET /").answer(|asked| {
        let plan = asked.field("X-Plan").unwrap_or("none");
        ok("Cache-Control: max-age=600\r\nVary: X-Plan", plan)
    });
    let fleetfoot = before_the_cache(&origin, "request: { set: { X-Plan: \"${header('X-Member')}\" } }");
    for (member, content, is_hit) in
        [("gold", "gold", false), ("", "", false), ("gold", "gold", true), ("", "", true)]
    {
        let answer = fleetfoot.get_with("/", &format!("X-Member: {member}\r\nX-Plan: mine"));
        assert_eq!((answer.text().as_str(), answer.is_hit()), (content, is_hit), "{answer:?}");
        assert_eq!(answer.joined("Vary"), "X-Plan, x-member", "caches between us and the client are told");
    }
    assert_eq!(origin.requests().len(), 2);
}

#[test]
fn behind_the_cache_what_is_kept_is_what_was_changed() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Set-Cookie: a=1\r\nCache-Control: no-store\r\nX-Internal: 1", "x"));
    let fleetfoot = with_policy(
        "cache: { ttl: origin }, headers: { request: { set: { Authorization: Bearer secret } }, response: { remove: [Set-Cookie, X-Internal], set: { Cache-Control: max-age=600 } } }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    for is_hit in [false, true] {
        let answer = fleetfoot.get("/");
        assert_eq!((answer.status, answer.is_hit()), (200, is_hit), "{answer:?}");
        assert!(!answer.has("Set-Cookie") && !answer.has("X-Internal"));
        assert_eq!(answer.joined("Cache-Control"), "max-age=600");
    }
    assert_eq!(origin.last("GET /").field("Authorization"), Some("Bearer secret"));
}

#[test]
fn a_step_reads_its_own_request_for_it_may_be_made_for_several() {
    let origin = Origin::start();
    origin.on("GET /step").reply(ok("", "1"));
    let fleetfoot = everywhere(
        &origin,
        "headers: { request: { set: { X-Who: \"${header('X-Who')}\", X-From: \"${client.address}\", X-Url: \"${url}\" } } }",
    );
    assert_eq!(fleetfoot.get_with("/step?a=1", "X-Who: a").status, 200);
    let asked = origin.last("GET /step");
    assert_eq!((asked.field("X-Who"), asked.field("X-From")), (None, None), "{asked:?}");
    assert_eq!(asked.field("X-Url"), Some("/step"));
}

#[test]
fn explain_says_what_is_changed_and_no_value() {
    let origin = Origin::start();
    let fleetfoot = before_the_cache(
        &origin,
        "request: { set: { X-Key: secret } }, response: { remove: [Server, X-Int-*] }",
    );
    let question = "GET /explain?url=http://a.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    let told = RawClient::connect(fleetfoot.admin()).ask(question).text();
    assert!(told.contains("request: sets x-key; response: removes server, removes x-int-*"), "{told}");
    assert!(!told.contains("secret"), "{told}");
}
