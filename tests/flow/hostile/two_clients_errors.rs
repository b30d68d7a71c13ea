//! THREATS E with two clients: a strange request of the first one makes the origin fail, and the page is still there for
//! the second one, or closed for a minute at most where the origin itself asks for longer.

use testkit::{Answer, Origin, Script, ok, status};

use crate::setup::{cached_with, each};

/// Answers those who say so with this failure, and everybody else properly.
fn failing(failure: Script) -> Origin {
    let origin = Origin::start();
    origin.on("*").answer(move |request| {
        if request.field("X-Odd").is_some() {
            failure.clone()
        } else {
            ok("Cache-Control: max-age=600", "page")
        }
    });
    origin
}

fn after_an_odd_one(policy: &str, failure: Script) -> Answer {
    let origin = failing(failure);
    let fleetfoot = cached_with(&origin, policy);
    fleetfoot.get_with("/", "X-Odd: 1");
    fleetfoot.get("/")
}

const FAILURES: [&str; 14] = [
    "400 Bad Request",
    "401 Unauthorized",
    "403 Forbidden",
    "405 Method Not Allowed",
    "406 Not Acceptable",
    "413 Content Too Large",
    "414 URI Too Long",
    "416 Range Not Satisfiable",
    "417 Expectation Failed",
    "429 Too Many Requests",
    "431 Request Header Fields Too Large",
    "500 Internal Server Error",
    "501 Not Implemented",
    "503 Service Unavailable",
];

#[test]
fn a_failure_of_one_closes_the_page_for_nobody_else() {
    each(FAILURES.map(|failure| (failure, failure)), |_, failure| {
        for policy in ["ttl: origin", "ttl: 10m, stale: 1h, if_error: 1h", "ttl: 10m, mode: static"] {
            let answer = after_an_odd_one(policy, status(failure, "Content-Type: text/css", "closed"));
            assert_eq!((answer.status, answer.text().as_str()), (200, "page"), "{policy}");
        }
    });
}

#[test]
fn what_a_client_can_bring_about_is_kept_for_a_minute_at_most() {
    let caused = ["400", "405", "413", "414", "431", "500", "501", "502", "503", "504"];
    each(caused.map(|code| (code, code)), |_, code| {
        for policy in ["ttl: origin", "ttl: 10m, negative: { 404: 1h }", "ttl: 10m, negative: true"] {
            let failure = status(&format!("{code} Odd"), "Cache-Control: max-age=3600", "closed");
            let answer = after_an_odd_one(policy, failure);
            let lifetime = answer.ttl().unwrap_or_default();
            assert!(answer.status == 200 || lifetime <= 60, "{policy}: {lifetime} s");
        }
    });
}

#[test]
fn a_redirect_or_part_for_one_is_none_for_another() {
    for (failure, policy) in [
        (status("302 Found", "Location: https://evil7731.test/", ""), "ttl: 10m"),
        (status("307 Temporary Redirect", "Location: https://evil7731.test/", ""), "ttl: 10m, negative: true"),
        (status("206 Partial Content", "Cache-Control: max-age=600\nContent-Range: bytes 0-0/4", "p"), "ttl: 10m"),
        (status("304 Not Modified", "Cache-Control: max-age=600", ""), "ttl: 10m"),
        (Script::from("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 9\r\n\r\nhalf").close(), "ttl: 10m"),
        (Script::from("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n").close(), "ttl: 10m"),
    ] {
        let origin = failing(failure);
        let fleetfoot = cached_with(&origin, policy);
        let _whatever_it_is =
            fleetfoot.connect().send("GET / HTTP/1.1\r\nHost: example.test\r\nX-Odd: 1\r\n\r\n").try_answer_to("GET");
        let answer = fleetfoot.get("/");
        assert_eq!((answer.status, answer.text().as_str()), (200, "page"), "{policy}: {answer:?}");
    }
}

#[test]
fn what_is_refused_here_reaches_nobody() {
    let origin = failing(ok("", ""));
    let fleetfoot = cached_with(&origin, "ttl: origin, negative: true");
    let long = "x".repeat(70_000);
    for odd in [
        format!("GET / HTTP/1.1\r\nHost: example.test\r\nX-Long: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nHost: example.test\r\n{}\r\n", "X-Many: 1\r\n".repeat(200)),
        "GET / HTTP/1.1\r\nHost: example.test\r\nX-Meta: a\x07b\r\n\r\n".to_owned(),
        "GET / HTTP/1.1\r\nHost: example.test\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
            .to_owned(),
        "GET / HTTP/1.1\r\nHost: example.test\r\nExpect: the-unexpected\r\n\r\n".to_owned(),
        "TRACE / HTTP/1.1\r\nHost: example.test\r\n\r\n".to_owned(),
        "PURGE / HTTP/1.1\r\nHost: example.test\r\n\r\n".to_owned(),
    ] {
        let _refused = fleetfoot.connect().send(&odd).try_answer_to("GET");
        let answer = fleetfoot.get("/");
        assert_eq!((answer.status, answer.text().as_str()), (200, "page"), "{odd:.60}");
    }
}
