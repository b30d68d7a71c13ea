//! Informational answers: 100 when the client waits for it, 103 and others passed on, none to whom cannot read them.

use testkit::{Origin, Script, ok};

use crate::setup::{cached, proxied};

#[test]
fn a_client_that_expects_100_is_told_to_go_on() {
    let origin = Origin::start();
    origin.on("POST /").answer(|request| ok("", &request.body));
    let fleetfoot = proxied(&origin);
    let mut client = fleetfoot.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    assert!(client.read_head().start.starts_with("HTTP/1.1 100"));
    assert_eq!(client.send("abc").read_answer().text(), "abc");
}

#[test]
fn content_that_comes_without_waiting_is_taken() {
    let origin = Origin::start();
    origin.on("POST /").answer(|request| ok("", &request.body));
    let fleetfoot = proxied(&origin);
    let mut client = fleetfoot.connect();
    client.send("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc");
    assert_eq!(client.read_answer().text(), "abc");
}

#[test]
fn an_expectation_nobody_knows_is_not_a_400() {
    let origin = Origin::start();
    origin.on("POST /").reply(ok("", "x"));
    let fleetfoot = proxied(&origin);
    let answer = fleetfoot
        .connect()
        .ask("POST / HTTP/1.1\r\nHost: a\r\nExpect: the-best\r\nContent-Length: 0\r\n\r\n");
    assert!(matches!(answer.status, 200 | 417), "{answer:?}");
}

#[test]
fn early_hints_are_passed_on_before_the_answer() {
    let origin = Origin::start();
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n";
    for (target, fields) in [("/plain", ""), ("/cached", "Cache-Control: max-age=600")] {
        origin.on(target).reply(Script::from(hints).send(hints).then(ok(fields, "x")));
        let fleetfoot = cached(&origin);
        let answer = fleetfoot.get(target);
        assert_eq!((answer.status, answer.text().as_str(), answer.interim.len()), (200, "x", 2), "{target}");
        assert_eq!(answer.interim[0].field("Link"), Some("</style.css>; rel=preload"));
    }
}

#[test]
fn an_unknown_interim_answer_is_passed_on_too() {
    let origin = Origin::start();
    origin.on("GET /").reply(Script::from("HTTP/1.1 142 Thinking\r\nX: y\r\n\r\n").then(ok("", "x")));
    let fleetfoot = proxied(&origin);
    let answer = fleetfoot.get("/");
    assert_eq!((answer.text().as_str(), answer.interim.len()), ("x", 1));
    assert!(answer.interim[0].start.contains("142"));
}

#[test]
fn http_1_0_gets_no_interim_answers() {
    let origin = Origin::start();
    origin.on("GET /").reply(Script::from("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n").then(ok("", "x")));
    let fleetfoot = proxied(&origin);
    let mut client = fleetfoot.connect();
    client.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
    let answer = String::from_utf8_lossy(&client.read_to_end()).into_owned();
    assert!(!answer.contains("103"), "{answer:?}");
    assert!(answer.ends_with("\r\n\r\nx"), "{answer:?}");
}
