//! THREATS A, heads: a request with two readings is refused, and not one byte of it goes on.

use std::time::Duration;

use testkit::{Origin, ok};

use crate::setup::{cached, each};

/// What stands behind `Host: a` and before the empty line, with a body that a lenient reader would take.
fn fields(text: &str) -> Vec<u8> {
    [
        b"POST / HTTP/1.1\r\nHost: a\r\n",
        text.as_bytes(),
        b"\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    ]
    .concat()
}

/// Bytes of a whole head.
fn raw(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

fn heads() -> Vec<(String, Vec<u8>)> {
    let mut rows = Vec::new();
    for text in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5, 5",
        "Content-Length: 5, 6",
        "Content-Length: +5",
        "Content-Length: -5",
        "Content-Length: 0x5",
        "Content-Length: 5_0",
        "Content-Length: 05",
        "Content-Length:",
        "Content-Length: 5 5",
        "Content-Length: 18446744073709551616",
        "Content-Length: 99999999999999999999999",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: ,chunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked;x=y",
        "Transfer-Encoding: \x0bchunked",
        "Transfer-Encoding: \x0cchunked",
        "Transfer-Encoding: chunked\x0b",
        "Transfer-Encoding: chunked\0",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding:\r\n chunked",
        "Transfer-Encoding : chunked",
        "Transfer_Encoding: chunked",
        "Content_Length: 5",
        "X: a\rb",
        "X: a\nContent-Length: 5",
        "X: a\0b",
        "X\0: a",
        "X\r: a",
        "X : a",
        "X",
        ": a",
        "X Y: a",
        "X(Y): a",
        "X: a\r\n folded",
        "X: a\r\n\tfolded",
        "Host: a",
        "Host: b",
    ] {
        rows.push((text.escape_debug().to_string(), fields(text)));
    }
    for text in [
        // On HTTP/1.0 nobody agrees on what a transfer coding means.
        "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        // The first field line folded: some attach it to the request line.
        "GET / HTTP/1.1\r\n Host: a\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\n\tX: y\r\nHost: a\r\n\r\n",
        // Host.
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: user@a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a/path\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a:port\r\n\r\n",
        "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET http://user@a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        // The request line.
        "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /  HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /#a HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET a HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
        "GET / http/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.11\r\nHost: a\r\n\r\n",
        "GET / HTTP/01.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1\r\nHost: a\r\n\r\n",
        "GET /\r\nHost: a\r\n\r\n",
        "GET /\r\n\r\n",
        "(GET) / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET\0 / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /\u{e4} HTTP/1.1\r\nHost: a\r\n\r\n",
        " GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        // Line ends.
        "GET / HTTP/1.1\nHost: a\n\n",
        "GET / HTTP/1.1\r\nHost: a\n\r\n",
        "GET / HTTP/1.1\rHost: a\r\r",
        "GET / HTTP/1.1\r\nHost: a\r\nX: y\n\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
        // No request at all.
        "\x16\x03\x01\x02\x00\x01\x00\x01\u{fc}\r\n\r\n",
        "\0\0\0\0\r\n\r\n",
    ] {
        rows.push((text.escape_debug().to_string(), raw(text)));
    }
    rows
}

#[test]
fn a_head_with_two_readings_is_refused_and_nothing_goes_on() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "reached the origin"));
    let fleetfoot = cached(&origin);
    each(heads(), |_, bytes| {
        let before = origin.bytes().len();
        let mut client = fleetfoot.connect().deadline(Duration::from_secs(3));
        client.send(&bytes);
        let answer = client.read_answer();
        assert!(matches!(answer.status, 400 | 505), "answered {} {}", answer.status, answer.text());
        assert!(client.is_closed(), "the connection goes on");
        let forwarded = origin.bytes().split_off(before);
        assert!(forwarded.is_empty(), "forwarded {:?}", String::from_utf8_lossy(&forwarded));
    });
}

#[test]
fn a_version_we_do_not_speak_is_505() {
    let origin = Origin::start();
    let fleetfoot = cached(&origin);
    for version in ["HTTP/2.0", "HTTP/3.0", "HTTP/0.9"] {
        let answer = fleetfoot.connect().ask(format!("GET / {version}\r\nHost: a\r\n\r\n"));
        assert_eq!(answer.status, 505, "{version}");
    }
    assert!(origin.bytes().is_empty());
}

#[test]
fn a_bad_request_behind_a_good_one_does_not_hurt_it() {
    let origin = Origin::start();
    origin.on("GET /good").reply(ok("Cache-Control: max-age=600", "good"));
    let fleetfoot = cached(&origin);
    for _ in 0..2 {
        // The first time a fill, the second time a hit.
        let mut client = fleetfoot.connect();
        client.send(
            "GET /good HTTP/1.1\r\nHost: a\r\n\r\nPOST /bad HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\
             Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        );
        assert_eq!(client.read_answer().text(), "good");
        assert_eq!(client.read_answer().status, 400);
        assert!(client.is_closed());
    }
    assert_eq!(origin.requests().len(), 1);
}

#[test]
fn methods_for_proxies_and_tools_are_405() {
    let origin = Origin::start();
    let fleetfoot = cached(&origin);
    for request in [
        "PURGE / HTTP/1.1\r\nHost: a\r\n\r\n",
        "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n",
        "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n",
    ] {
        let answer = fleetfoot.connect().ask(request);
        assert_eq!(answer.status, 405, "{request:?}");
        assert!(answer.has("Allow"), "{answer:?}");
    }
    assert!(origin.bytes().is_empty());
}

#[test]
fn an_offer_of_h2c_is_not_passed_on() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("", "x"));
    let fleetfoot = cached(&origin);
    let fields =
        "Connection: Upgrade, HTTP2-Settings\nUpgrade: h2c\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA";
    assert_eq!(fleetfoot.get_with("/", fields).status, 200);
    let seen = origin.last("GET /");
    assert_eq!((seen.field("Upgrade"), seen.field("HTTP2-Settings")), (None, None), "{seen:?}");
}

#[test]
fn fields_named_in_connection_end_here() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Connection: X-Theirs\nX-Theirs: 1\nKeep-Alive: timeout=5\nX-End: 2", "x"));
    let fleetfoot = cached(&origin);
    let answer = fleetfoot
        .get_with("/", "Connection: X-Mine, keep-alive\nX-Mine: 1\nTE: trailers\nKeep-Alive: 9\nX-End: 2");
    let seen = origin.last("GET /");
    assert_eq!(
        (seen.field("X-Mine"), seen.field("Keep-Alive"), seen.field("X-End")),
        (None, None, Some("2"))
    );
    assert_eq!(
        (answer.field("X-Theirs"), answer.field("Keep-Alive"), answer.field("X-End")),
        (None, None, Some("2"))
    );
}
