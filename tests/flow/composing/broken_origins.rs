//! Steps that ask origins which are slow, silent, gone or wrong.

use testkit::{Gate, Origin, Port, Script, ok, status};

use super::support::{assert_complete, assert_incomplete, composing, refs};
use super::trouble::{HIDDEN, Impostor, assert_fails, routes};

const TIMEOUTS: &str = "timeout: { connect: 400ms, head: 400ms, body: 400ms }";

/// A name, what is wrong, and what is told of it.
type Row = (&'static str, Script, u16, &'static str);

#[test]
fn whatever_an_origin_does_is_told_in_time_and_not_where_it_is() {
    let gate = Gate::new();
    let large = format!("\"{}\"", "x".repeat(10 << 20));
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
    let rows: [Row; 9] = [
        ("slow", Script::new().wait(&gate), 504, "source-timeout"),
        ("half", Script::from(head).send("{\"a\":").wait(&gate), 504, "source-timeout"),
        ("broken", Script::from(head).send("{\"a\":").close(), 502, "broke-off"),
        ("reset", Script::from(head).send("{\"a\":").reset(), 502, "broke-off"),
        ("garbage", Script::from("this is no HTTP\r\n\r\n").close(), 502, "malformed-response"),
        ("large", ok("", large), 502, "unusable-reply"),
        ("text", ok("", "<html>hidden</html>"), 502, "unusable-reply"),
        ("two", ok("", "{} {}"), 502, "unusable-reply"),
        ("refused", status("404 Not Found", "", "hidden"), 502, "unusable-reply"),
    ];
    let origin = Origin::start();
    for (name, script, ..) in &rows {
        origin.on(&format!("/{HIDDEN}/{name}")).reply(script.clone());
    }
    let (nobody, mute) = (Port::reserve(), Impostor::silent());
    let sources = [
        format!("api: {{ http: \"{}\", {TIMEOUTS} }}", origin.url()),
        format!("gone: {{ http: \"http://{}\", {TIMEOUTS} }}", nobody.address()),
        format!("mute: {{ http: \"http://{}\", {TIMEOUTS} }}", mute.address()),
    ];
    let mut all = Vec::new();
    for (name, ..) in &rows {
        all.extend(routes(name, &format!("api: GET /{HIDDEN}/{name}")));
    }
    all.extend(routes("gone", "gone: GET /hidden"));
    all.extend(routes("mute", "mute: GET /hidden"));
    let fleetfoot = composing(&refs(&sources), &refs(&all));
    for (name, _, status, word) in &rows {
        assert_fails(&fleetfoot, name, *status, word);
    }
    assert_fails(&fleetfoot, "gone", 502, "connect");
    assert_fails(&fleetfoot, "mute", 504, "source-timeout");
    gate.open();
}

#[test]
fn what_came_last_stands_in_for_the_same_arguments_only() {
    let origin = Origin::start();
    origin.on("/of/a").replies([ok("", "1"), status("500 Internal Server Error", "", "")]);
    origin.on("/of/b").reply(status("500 Internal Server Error", "", ""));
    let api = format!("api: \"{}\"", origin.url());
    let step = "api: \"GET /of/${path.id}\"";
    let fleetfoot = composing(
        &[&api],
        &[
            &format!("match: \"GET /stale/{{id}}\", compose: {{ it: {{ {step}, on_error: stale }} }}"),
            &format!("match: \"GET /else/{{id}}\", compose: {{ it: {{ {step}, on_error: [stale, null] }} }}"),
        ],
    );
    assert_complete(&fleetfoot.get("/stale/a"), r#"{"it":1}"#);
    assert_incomplete(&fleetfoot.get("/stale/a"), "it;error=stale", r#"{"it":1}"#);
    let other = fleetfoot.get("/stale/b");
    assert_eq!((other.status, other.field("fleetfoot-error")), (502, Some("unusable-reply")), "{other:?}");
    assert_incomplete(&fleetfoot.get("/else/b"), "it;error=unusable-reply", r#"{"it":null}"#);
}
