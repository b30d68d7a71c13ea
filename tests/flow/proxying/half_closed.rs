//! A client that closes its side behind its request has nothing more to say, and waits for its answer all the same; one
//! that has closed both sides has left.

use testkit::{Gate, Origin, Script, ok};

use crate::setup::{cached, proxied};

#[test]
fn whoever_closes_its_side_behind_the_request_gets_the_answer() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("GET /").reply(Script::new().wait(&gate).then(ok("Cache-Control: max-age=60", "answer")));
    origin.on("POST /").answer(|request| ok("", request.body.clone()));
    let fleetfoot = cached(&origin);
    let mut miss = fleetfoot.connect();
    miss.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").finish();
    origin.wait_for(1, "GET /");
    let mut old = fleetfoot.connect();
    old.send("GET / HTTP/1.0\r\nHost: a\r\n\r\n").finish();
    gate.open();
    assert_eq!(miss.read_answer().text(), "answer");
    assert_eq!(old.read_answer().text(), "answer");
    let mut hit = fleetfoot.connect();
    hit.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n").finish();
    assert_eq!(hit.read_answer().text(), "answer");
    for content in ["Content-Length: 3\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"]
    {
        let mut post = fleetfoot.connect();
        post.send(format!("POST / HTTP/1.1\r\nHost: a\r\n{content}")).finish();
        assert_eq!(post.read_answer().text(), "abc");
    }
}

#[test]
fn whoever_has_closed_both_sides_is_not_worked_for() {
    let (origin, gone) = (Origin::start(), Gate::new());
    let noticed = gone.clone();
    origin.on("GET /").talk(move |connection| {
        if connection.read_some().is_empty() {
            noticed.open();
        }
    });
    let fleetfoot = proxied(&origin);
    let mut client = fleetfoot.connect();
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    origin.wait_for(1, "GET /");
    drop(client);
    gone.wait();
}
