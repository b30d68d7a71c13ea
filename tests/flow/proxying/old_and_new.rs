//! Versions and addresses: HTTP/1.0, HTTP/2 in cleartext, IPv6, the PROXY protocol.

use testkit::{Fleetfoot, Http2Client, Origin, RawClient, Script, ok};

use crate::setup::{cached, config_with, proxied};

#[test]
fn http_1_0_closes_unless_asked_to_stay() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
    let fleetfoot = cached(&origin);
    for _ in 0..2 {
        let mut client = fleetfoot.connect();
        assert_eq!(client.ask("GET / HTTP/1.0\r\nHost: a\r\n\r\n").text(), "x");
        assert!(client.is_closed());
        let mut client = fleetfoot.connect();
        for _ in 0..2 {
            let answer = client.ask("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
            assert_eq!(answer.text(), "x");
            assert!(answer.joined("Connection").eq_ignore_ascii_case("keep-alive"), "{answer:?}");
        }
    }
}

#[test]
fn http_1_0_gets_content_of_unknown_length_until_the_end() {
    let origin = Origin::start();
    origin
        .on("*")
        .reply("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n");
    let fleetfoot = proxied(&origin);
    let mut client = fleetfoot.connect();
    let answer = client.ask("GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
    assert_eq!(answer.text(), "onetwo");
    assert!(!answer.has("Transfer-Encoding"));
}

#[test]
fn an_origin_may_speak_http_1_0() {
    let origin = Origin::start();
    origin.on("*").reply(Script::from("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nold").close());
    let fleetfoot = proxied(&origin);
    for _ in 0..2 {
        let answer = fleetfoot.get("/");
        assert_eq!((answer.status, answer.text().as_str()), (200, "old"));
    }
}

#[test]
fn connection_close_is_honoured() {
    let origin = Origin::start();
    origin.on("*").reply(ok("Cache-Control: max-age=600", "x"));
    let fleetfoot = cached(&origin);
    for _ in 0..2 {
        let mut client = fleetfoot.connect();
        let answer = client.ask("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        assert!(answer.joined("Connection").eq_ignore_ascii_case("close"), "{answer:?}");
        assert!(client.is_closed());
    }
}

#[test]
fn http_2_is_spoken_with_prior_knowledge() {
    let origin = Origin::start();
    origin.on("*").answer(|request| ok("Cache-Control: max-age=600", &request.target));
    let fleetfoot = cached(&origin);
    let mut client = Http2Client::connect(fleetfoot.address());
    assert_eq!(client.get("/a").text(), "/a");
    let hit = client.get("/a");
    assert!(hit.is_hit() && hit.age().is_some(), "{hit:?}");
    // One cache for both versions.
    assert!(fleetfoot.get("/a").is_hit());
    assert_eq!(origin.count("GET /a"), 1);
    let head = http::Request::head("http://example.test/a").body(()).expect("a proper request");
    let head = client.ask(head).expect("an answer");
    assert_eq!((head.status, head.body.len(), head.field("content-length")), (200, 0, Some("2")));
}

#[test]
fn ipv6_is_spoken_on_both_sides() {
    let origin = Origin::start_on("[::1]:0");
    origin.on("GET /").reply(ok("", "six"));
    let listen = "listen: { http: \"[::1]:0\", admin: 127.0.0.1:0 }";
    let fleetfoot = Fleetfoot::start(&config_with(origin.address(), "-", listen));
    assert!(fleetfoot.address().is_ipv6());
    let mut client = fleetfoot.connect();
    assert_eq!(client.ask("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n").text(), "six");
    let request = origin.last("GET /");
    assert_eq!(request.field("X-Forwarded-For"), Some("::1"), "{request:?}");
    assert!(request.field("Forwarded").is_none_or(|value| value.contains("\"[::1]\"")), "{request:?}");
}

#[test]
fn the_proxy_protocol_tells_the_client() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "x"));
    let listen = "listen: { http: 127.0.0.1:0, admin: 127.0.0.1:0, proxy_protocol: true }";
    let fleetfoot = Fleetfoot::start(&config_with(origin.address(), "-", listen));
    let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let ask = |header: &[u8]| {
        let mut client = RawClient::connect(fleetfoot.address());
        client.drip(header).send(request);
        client.read_answer();
        origin.last("GET /").field("X-Forwarded-For").map(str::to_owned)
    };
    assert_eq!(ask(b"PROXY TCP4 192.0.2.7 192.0.2.1 1234 80\r\n").as_deref(), Some("192.0.2.7"));
    assert_eq!(ask(b"PROXY TCP6 2001:db8::7 2001:db8::1 1234 80\r\n").as_deref(), Some("2001:db8::7"));
    let second = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x08\xc0\0\x02\x01\x04\xd2\0\x50";
    assert_eq!(ask(second).as_deref(), Some("192.0.2.8"));
    assert_eq!(ask(b"PROXY UNKNOWN\r\n").as_deref(), Some("127.0.0.1"));
    // Without the header nothing is read as a request.
    let before = origin.requests().len();
    let mut client = RawClient::connect(fleetfoot.address());
    client.send(request);
    let said = client.read_to_end();
    assert!(!said.starts_with(b"HTTP/1.1 200"), "{:?}", String::from_utf8_lossy(&said));
    assert_eq!(origin.requests().len(), before);
}
