//! THREATS D: what was made for one user reaches no other, whatever the path looks like.

use testkit::{Gate, Origin, Script, ok};

use crate::setup::{cached, each, until_taken_up};

const PATHS: [&str; 5] =
    ["/account/x.css", "/account%2Fx.css", "/account;x.css", "/account%3fx.css", "/account"];

/// Paths that readers resolve in different ways.
const TRICKS: [&str; 8] = [
    "/account%00.css",
    "/account%0a.css",
    "/static/..%2faccount",
    "/static/../account",
    "/static/%2e%2e/account",
    "/static/./account",
    "/static/..%5caccount",
    "/static/..\\account",
];

#[test]
fn a_path_with_two_readings_is_refused() {
    let origin = personal("Cache-Control: public, max-age=600");
    let fleetfoot = cached(&origin);
    each(TRICKS.map(|path| (path, path)), |_, path| assert_eq!(fleetfoot.get(path).status, 400));
    assert!(origin.bytes().is_empty());
}

/// Answers with the user's name, which it takes from `Authorization` or `Cookie`.
fn personal(fields: &'static str) -> Origin {
    let origin = Origin::start();
    origin.on("*").answer(move |request| {
        let user = request.field("Authorization").or(request.field("Cookie")).unwrap_or("nobody");
        ok(fields, user)
    });
    origin
}

#[test]
fn answers_to_credentials_stay_unshared() {
    for credentials in ["Authorization: alice", "Cookie: alice"] {
        let origin = personal("Cache-Control: max-age=600");
        let fleetfoot = cached(&origin);
        each(PATHS.map(|path| (path, path)), |_, path| {
            assert_eq!(fleetfoot.get_with(path, credentials).text(), "alice");
            assert_eq!(fleetfoot.get(path).text(), "nobody", "{credentials}");
            let bob = credentials.replace("alice", "bob");
            let answer = fleetfoot.get_with(path, &bob).text();
            // What everybody got without credentials may be bob's answer too, but not where `Authorization` is sent.
            assert!(answer == "bob" || answer == "nobody" && bob.starts_with("Cookie"), "{answer}");
        });
    }
}

#[test]
fn a_style_sheet_is_not_cached_for_its_name() {
    for fields in ["", "Cache-Control: private, max-age=600", "Cache-Control: no-store"] {
        let origin = personal(fields);
        let fleetfoot = cached(&origin);
        each(PATHS.map(|path| (path, path)), |_, path| {
            fleetfoot.get_with(path, "Cookie: alice");
            assert_eq!(fleetfoot.get(path).text(), "nobody", "{fields:?}");
        });
    }
}

/// Two clients ask while the origin holds its first answer; the second must never get what the first one gets.
fn two_at_once(fields: &'static str, first: &str, second: &str) -> (String, String, usize) {
    let origin = Origin::start();
    let gate = Gate::new();
    let held = gate.clone();
    origin.on("*").answer(move |request| {
        let user = request.field("X-User").unwrap_or("nobody");
        Script::new().wait(&held).then(ok(&fields.replace("{user}", user), user))
    });
    let fleetfoot = cached(&origin);
    let (mut leader, mut follower) = (fleetfoot.connect(), fleetfoot.connect());
    leader.send(format!("GET / HTTP/1.1\r\nHost: example.test\r\nX-User: {first}\r\n\r\n"));
    origin.wait_for(1, "GET /");
    follower.send(format!("GET / HTTP/1.1\r\nHost: example.test\r\nX-User: {second}\r\n\r\n"));
    until_taken_up(&fleetfoot);
    gate.open();
    (leader.read_answer().text(), follower.read_answer().text(), origin.count("GET /"))
}

#[test]
fn a_follower_never_gets_an_answer_that_turned_out_personal() {
    let rows = [
        "Cache-Control: private, max-age=600",
        "Cache-Control: no-store",
        "Cache-Control: max-age=600\nSet-Cookie: id={user}",
        "Cache-Control: max-age=600\nVary: X-User",
        "Cache-Control: max-age=600\nVary: *",
        "",
    ];
    each(rows.map(|fields| (fields, fields)), |_, fields| {
        let (first, second, fetches) = two_at_once(fields, "alice", "bob");
        assert_eq!((first.as_str(), second.as_str(), fetches), ("alice", "bob", 2));
    });
}

#[test]
fn a_follower_of_the_same_variant_shares() {
    let (first, second, fetches) = two_at_once("Cache-Control: max-age=600\nVary: X-User", "alice", "alice");
    assert_eq!((first.as_str(), second.as_str(), fetches), ("alice", "alice", 1));
}

#[test]
fn a_request_with_credentials_does_not_follow_a_strangers_fill() {
    let origin = Origin::start();
    let gate = Gate::new();
    let held = gate.clone();
    origin.on("*").answer(move |request| {
        let user = request.field("Authorization").unwrap_or("nobody");
        Script::new().wait(&held).then(ok("Cache-Control: max-age=600", user))
    });
    let fleetfoot = cached(&origin);
    let (mut leader, mut follower) = (fleetfoot.connect(), fleetfoot.connect());
    leader.send("GET / HTTP/1.1\r\nHost: example.test\r\nAuthorization: alice\r\n\r\n");
    origin.wait_for(1, "GET /");
    follower.send("GET / HTTP/1.1\r\nHost: example.test\r\nAuthorization: bob\r\n\r\n");
    gate.open();
    assert_eq!((leader.read_answer().text(), follower.read_answer().text()), ("alice".into(), "bob".into()));
}
