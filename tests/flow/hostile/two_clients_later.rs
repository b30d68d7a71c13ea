//! THREATS C with two clients, where more than one answer of the origin makes what the second one gets: parts,
//! confirmations, refreshes, answers to HEAD and to content that is part of the key.

use testkit::{Fleetfoot, Origin, Received, Script, not_modified, ok, status};

use super::two_clients::tells;
use crate::setup::{cached_with, each};

const EVIL: &str = "evil7731";

/// Origins that repeat `X-Anything` in a field.
fn repeating(fields: &str, request: &Received) -> String {
    format!("{fields}\nSeen: {}", request.field("X-Anything").unwrap_or("nothing"))
}

fn nobody_sees_it(fleetfoot: &Fleetfoot, requests: &[&str]) {
    for fields in requests {
        for _ in 0..2 {
            let answer = fleetfoot.get_with("/", fields);
            assert!(!tells(&answer, EVIL), "{fields:?}: {:?} {}", answer.head, answer.text());
        }
    }
}

#[test]
fn a_part_for_one_client_tells_another_nothing_of_them() {
    let origin = Origin::start();
    origin.on("*").answer(|request| {
        let fields = repeating("Cache-Control: max-age=600\nETag: \"1\"", request);
        match request.field("Range") {
            Some(_) => {
                status("206 Partial Content", &format!("{fields}\nContent-Range: bytes 0-3/8"), "abcd")
            }
            None => ok(&fields, "abcdefgh"),
        }
    });
    let fleetfoot = cached_with(&origin, "ttl: origin");
    fleetfoot.get_with("/", "Range: bytes=0-3\nX-Anything: evil7731");
    nobody_sees_it(&fleetfoot, &["Range: bytes=0-3", "Range: bytes=1-2", ""]);
}

#[test]
fn a_confirmation_for_one_client_tells_another_nothing_of_them() {
    for (lifetime, fields) in [("max-age=60\nAge: 100", ""), ("max-age=600", "Cache-Control: no-cache")] {
        let origin = Origin::start();
        let directives = format!("Cache-Control: {lifetime}\nETag: \"1\"");
        origin.on("*").answer(move |request| match request.field("If-None-Match") {
            Some(_) => not_modified(&repeating("Cache-Control: max-age=600\nETag: \"1\"", request)),
            None => ok(&directives, "x"),
        });
        let fleetfoot = cached_with(&origin, "ttl: origin");
        fleetfoot.get("/");
        fleetfoot.get_with("/", &format!("X-Anything: evil7731\n{fields}"));
        nobody_sees_it(&fleetfoot, &["", "X-Anything: something else"]);
    }
}

#[test]
fn a_refresh_that_one_client_began_tells_another_nothing_of_them() {
    let origin = Origin::start();
    let first = std::sync::atomic::AtomicBool::new(true);
    origin.on("*").answer(move |request| {
        let age = if first.swap(false, std::sync::atomic::Ordering::SeqCst) { "Age: 100" } else { "" };
        let fields = format!("Cache-Control: max-age=60, stale-while-revalidate=600\n{age}");
        ok(&repeating(&fields, request), "x")
    });
    let mut fleetfoot = cached_with(&origin, "ttl: origin");
    fleetfoot.get("/");
    fleetfoot.get_with("/", "X-Anything: evil7731");
    fleetfoot.wait_until("refreshed", |_| origin.requests().len() > 1);
    nobody_sees_it(&fleetfoot, &["", "X-Anything: something else"]);
}

#[test]
fn an_answer_to_head_tells_another_nothing_of_them() {
    let origin = Origin::start();
    origin.on("HEAD /").answer(|request| {
        let fields = repeating("Cache-Control: max-age=600\nETag: \"1\"", request);
        let lines = fields.replace('\n', "\r\n");
        Script::from(format!("HTTP/1.1 200 OK\r\n{lines}\r\nContent-Length: 1\r\n\r\n"))
    });
    origin.on("GET /").reply(ok("Cache-Control: max-age=60\nAge: 100\nETag: \"1\"", "x"));
    let fleetfoot = cached_with(&origin, "ttl: origin");
    fleetfoot.get("/");
    fleetfoot.send("HEAD", "/", "X-Anything: evil7731");
    nobody_sees_it(&fleetfoot, &[""]);
    assert!(!tells(&fleetfoot.send("HEAD", "/", ""), EVIL));
}

#[test]
fn content_that_is_part_of_the_key_changes_nothing_of_that() {
    let origin = Origin::start();
    origin.on("*").answer(|request| ok(&repeating("Cache-Control: max-age=600", request), &request.body));
    let fleetfoot = cached_with(&origin, "ttl: origin, body_keys: { methods: [QUERY, POST] }");
    let ask = |method: &str, fields: &str, content: &str| {
        let length = content.len();
        fleetfoot.connect().ask(format!(
            "{method} / HTTP/1.1\r\nHost: example.test\r\nContent-Type: a/b\r\nContent-Length: {length}\r\n{fields}\r\n{content}"
        ))
    };
    each(["QUERY", "POST"].map(|method| (method, method)), |_, method| {
        ask(method, "X-Anything: evil7731\r\n", "same");
        ask(method, "", EVIL);
        for _ in 0..2 {
            let answer = ask(method, "", "same");
            assert!(!tells(&answer, EVIL), "{answer:?}");
            assert_eq!(answer.text(), "same");
        }
    });
}

#[test]
fn forced_and_static_answers_repeat_nothing_either() {
    let policies = [
        "mode: force, ttl: 10m",
        "mode: static, ttl: 10m",
        "ttl: 10m, negative: true",
        "ttl: 10m, early: 90%, jitter: 10%",
    ];
    each(policies.map(|policy| (policy, policy)), |_, policy| {
        let origin = Origin::start();
        origin.on("*").answer(|request| {
            let code = if request.target == "/negative" { "404 Not Found" } else { "200 OK" };
            status(code, &repeating("Content-Type: text/css", request), "x")
        });
        let fleetfoot = cached_with(&origin, policy);
        for target in ["/", "/negative"] {
            fleetfoot.get_with(target, "X-Anything: evil7731");
            for _ in 0..2 {
                assert!(!tells(&fleetfoot.get(target), EVIL), "{target}");
            }
        }
    });
}
