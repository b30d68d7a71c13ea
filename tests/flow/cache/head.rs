//! HEAD: answered from a stored GET, and what its own answers do to it (RFC 9110 §9.3.2, RFC 9111 §4.3.5).

use testkit::{Origin, ok};

use crate::setup::cached;

#[test]
fn a_head_is_answered_from_a_stored_get() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Cache-Control: max-age=600\nETag: \"one\"", "content"));
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    let mut client = fleetfoot.connect();
    for _ in 0..2 {
        let answer = client.ask("HEAD / HTTP/1.1\r\nHost: example.test\r\n\r\n");
        assert_eq!((answer.status, answer.field("Content-Length")), (200, Some("7")));
        assert!(answer.is_hit() && answer.has("ETag"), "{answer:?}");
    }
    assert_eq!(
        client.ask("HEAD / HTTP/1.1\r\nHost: example.test\r\nIf-None-Match: \"one\"\r\n\r\n").status,
        304
    );
    assert_eq!(client.ask("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n").text(), "content");
    assert_eq!(origin.requests().len(), 1);
}

#[test]
fn a_head_without_a_stored_get_goes_to_the_origin() {
    let origin = Origin::start();
    origin.on("HEAD /").reply("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 7\r\n\r\n");
    let fleetfoot = cached(&origin);
    let mut client = fleetfoot.connect();
    let answer = client.ask("HEAD / HTTP/1.1\r\nHost: example.test\r\n\r\n");
    assert_eq!((answer.status, answer.field("Content-Length"), answer.body.len()), (200, Some("7"), 0));
    assert_eq!(
        client.ask("HEAD / HTTP/1.1\r\nHost: example.test\r\n\r\n").status,
        200,
        "the connection goes on"
    );
}

#[test]
fn a_head_that_shows_another_version_makes_the_stored_get_unusable() {
    let origin = Origin::start();
    let stale = "Cache-Control: max-age=90\nAge: 100\nETag: \"one\"";
    origin.on("GET /").replies([ok(stale, "old"), ok("Cache-Control: max-age=600\nETag: \"two\"", "new")]);
    origin
        .on("HEAD /")
        .reply("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nETag: \"two\"\r\nContent-Length: 3\r\n\r\n");
    let fleetfoot = cached(&origin);
    fleetfoot.get("/");
    let head = fleetfoot.send("HEAD", "/", "");
    assert_eq!(head.status, 200);
    assert_eq!(fleetfoot.get("/").text(), "new");
}
