//! What fleetfoot answers itself says so: a word that stays, a sentence for people or a problem for programs.

use serde_json::{Value, json};
use testkit::{Answer, Origin, ok};

use crate::setup::{cached, proxied};

#[track_caller]
fn assert_plain(answer: &Answer, status: u16, word: &str, sentence: &str) {
    assert_eq!((answer.status, answer.field("fleetfoot-error")), (status, Some(word)), "{answer:?}");
    assert_eq!(answer.field("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(answer.field("cache-control"), Some("no-store"));
    assert_eq!(answer.text(), format!("{sentence}\n"));
}

#[test]
fn people_read_a_sentence_and_programs_a_problem() {
    let origin = Origin::start();
    let fleetfoot = proxied(&origin);
    origin.stop();
    for accept in ["", "Accept: */*", "Accept: text/html, */*;q=0.8", "Accept: application/json;q=0"] {
        assert_plain(&fleetfoot.get_with("/", accept), 502, "connect", "could not connect to the origin");
    }
    let several = "Accept: text/html;q=0.5\nAccept: application/vnd.api+json";
    for accept in ["Accept: application/json, text/plain, */*", several] {
        let answer = fleetfoot.get_with("/", accept);
        assert_eq!((answer.status, answer.field("fleetfoot-error")), (502, Some("connect")), "{answer:?}");
        assert_eq!(answer.field("content-type"), Some("application/problem+json"));
        assert_eq!(answer.field("cache-control"), Some("no-store"));
        let problem: Value = serde_json::from_str(&answer.text()).expect("JSON");
        let expected = json!({
            "type": "about:blank", "title": "Bad Gateway", "status": 502,
            "detail": "could not connect to the origin", "error": "connect", "side": "source",
        });
        assert_eq!(problem, expected);
    }
}

#[test]
fn those_who_wait_for_one_fetch_are_each_told_in_their_own_form() {
    let origin = Origin::start();
    let fleetfoot = cached(&origin);
    origin.stop();
    let (mut person, mut program) = (fleetfoot.connect(), fleetfoot.connect());
    person.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    program.send("GET / HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\n\r\n");
    assert_plain(&person.read_answer(), 502, "connect", "could not connect to the origin");
    assert_eq!(program.read_answer().field("content-type"), Some("application/problem+json"));
}

#[test]
fn a_head_is_told_how_long_the_sentence_would_be() {
    let origin = Origin::start();
    let fleetfoot = proxied(&origin);
    origin.stop();
    for accept in ["", "Accept: application/json"] {
        let (whole, head) = (fleetfoot.get_with("/", accept), fleetfoot.send("HEAD", "/", accept));
        assert_eq!((head.status, head.text()), (502, String::new()));
        for name in ["fleetfoot-error", "content-type", "content-length"] {
            assert_eq!(head.field(name), whole.field(name), "{name}");
        }
    }
}

#[test]
fn what_cannot_be_read_as_a_request_is_refused_in_plain_text() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "x"));
    let fleetfoot = proxied(&origin);
    let request = "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nAccept: application/json\r\n\r\n";
    let answer = fleetfoot.connect().ask(request);
    assert_plain(&answer, 400, "malformed-request", "Host is given twice");
}
