//! THREATS A, contents: a request whose content has two readings never becomes a whole request at the origin.

use std::time::Duration;

use testkit::{Origin, ok};

use crate::setup::{each, proxied};

fn contents() -> Vec<(String, Vec<u8>)> {
    let mut rows: Vec<(String, Vec<u8>)> = Vec::new();
    for text in [
        "0x5\r\nabcde\r\n0\r\n\r\n",
        "+5\r\nabcde\r\n0\r\n\r\n",
        "-1\r\nabcde\r\n0\r\n\r\n",
        "5_\r\nabcde\r\n0\r\n\r\n",
        " 5\r\nabcde\r\n0\r\n\r\n",
        "5 \r\nabcde\r\n0\r\n\r\n",
        "\r\nabcde\r\n0\r\n\r\n",
        "g\r\nabcde\r\n0\r\n\r\n",
        "10000000000000005\r\nabcde\r\n0\r\n\r\n",
        "fffffffffffffffff\r\nabcde\r\n0\r\n\r\n",
        "5;a\rb\r\nabcde\r\n0\r\n\r\n",
        "5;a\nb\r\nabcde\r\n0\r\n\r\n",
        "5;a\0b\r\nabcde\r\n0\r\n\r\n",
        "5\nabcde\r\n0\r\n\r\n",
        "5\rabcde\r\n0\r\n\r\n",
        "5\r\nabcdeX\r\n0\r\n\r\n",
        "5\r\nabcde0\r\n\r\n",
        "5\r\nabcde\n0\r\n\r\n",
        "5\r\nabcde\r\n0\n\r\n",
        "5\r\nabcde\r\n0\r\n\n",
        "5\r\nabcde\r\n0\r\nContent-Length: 5\r\n\r\n",
        "5\r\nabcde\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "5\r\nabcde\r\n0\r\nHost: b\r\n\r\n",
        "5\r\nabcde\r\n0\r\nAuthorization: Basic eA==\r\n\r\n",
        "5\r\nabcde\r\n0\r\nContent-Type: text/html\r\n\r\n",
        "5\r\nabcde\r\n0\r\nno colon\r\n\r\n",
        "5\r\nabcde\r\n0\r\nX: a\rb\r\n\r\n",
        "5\r\nabcde\r\n0\r\nX : a\r\n\r\n",
        "5\r\nabcde\r\n0\r\nX: a\r\n folded\r\n\r\n",
    ] {
        rows.push((text.escape_debug().to_string(), text.as_bytes().to_vec()));
    }
    rows.push((
        "an extension of 64 KiB".to_owned(),
        format!("5;{}\r\nabcde\r\n0\r\n\r\n", "x".repeat(65_536)).into(),
    ));
    rows.push(("a trailer of 64 KiB".to_owned(), format!("0\r\nX: {}\r\n\r\n", "x".repeat(65_536)).into()));
    rows
}

#[test]
fn chunks_with_two_readings_are_refused() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "reached the origin"));
    let fleetfoot = proxied(&origin);
    each(contents(), |_, bytes| {
        let before = origin.requests().len();
        let mut client = fleetfoot.connect().deadline(Duration::from_secs(3));
        client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
        client.send([&bytes[..], b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"].concat());
        let answer = client.read_answer();
        assert!(matches!(answer.status, 400 | 431), "answered {} {}", answer.status, answer.text());
        assert!(client.is_closed(), "the connection goes on");
        let got = origin.requests().split_off(before);
        assert!(
            got.iter().all(|request| request.method == "POST" && !request.whole),
            "the origin got {got:?}"
        );
    });
}

#[test]
fn proper_chunks_go_on_whole() {
    let origin = Origin::start();
    origin.on("POST /").reply(ok("", "x"));
    let fleetfoot = proxied(&origin);
    for (text, content) in [
        ("5\r\nabcde\r\n0\r\n\r\n", "abcde"),
        ("5;name=value\r\nabcde\r\n0\r\n\r\n", "abcde"),
        ("5;name=\"a;b\"\r\nabcde\r\n00\r\n\r\n", "abcde"),
        ("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"),
        ("0005\r\nabcde\r\n0\r\nX-Sum: 7\r\n\r\n", "abcde"),
        ("0\r\n\r\n", ""),
    ] {
        let mut client = fleetfoot.connect();
        client.drip(format!("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{text}"));
        assert_eq!(client.read_answer().status, 200, "{text:?}");
        let request = origin.last("POST /");
        assert!(request.whole);
        assert_eq!(String::from_utf8_lossy(&request.body), content, "{text:?}");
    }
}

#[test]
fn content_that_breaks_off_never_looks_whole() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "x"));
    let fleetfoot = proxied(&origin);
    for start in ["Content-Length: 10\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\n5\r\nab"] {
        let mut client = fleetfoot.connect();
        client.send(format!("POST /broken HTTP/1.1\r\nHost: a\r\n{start}")).finish();
        let _any_answer = client.read_to_end();
    }
    fleetfoot.get("/after");
    assert!(origin.requests().iter().all(|request| request.target != "/broken" || !request.whole));
    assert_eq!(
        origin.last("GET /after").connection + 1,
        origin.connections(),
        "not on a connection left half-way"
    );
}

#[test]
fn content_of_a_get_is_framed_like_any_other() {
    let origin = Origin::start();
    origin.on("*").reply(ok("", "x"));
    let fleetfoot = proxied(&origin);
    for method in ["GET", "OPTIONS", "DELETE"] {
        let mut client = fleetfoot.connect();
        client.send(format!(
            "{method} /a HTTP/1.1\r\nHost: a\r\nContent-Length: 24\r\n\r\nGET /smuggled HTTP/1.1\r\n"
        ));
        client.send("GET /b HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(client.read_answer().status, 200);
        assert_eq!(client.read_answer().status, 200);
    }
    assert!(origin.requests().iter().all(|request| request.target != "/smuggled"), "{:?}", origin.requests());
}

#[test]
fn an_early_final_answer_does_not_turn_content_into_a_request() {
    let origin = Origin::start();
    origin.on("POST /early").talk(|connection| {
        connection.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        connection.close();
    });
    origin.on("*").reply(ok("", "x"));
    let fleetfoot = proxied(&origin);
    let mut client = fleetfoot.connect();
    client.send("POST /early HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 34\r\n\r\n");
    assert_eq!(client.read_answer().status, 413);
    // Content that comes although nobody asked for it any more.
    client.send("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
    let _nothing_or_an_answer_of_ours = client.finish().read_to_end();
    fleetfoot.get("/after");
    assert_eq!(origin.count("GET /smuggled"), 0);
}
