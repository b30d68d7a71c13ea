//! THREATS F: an origin's answer with two readings is a 502, and nothing of it reaches a second client.

use std::time::Duration;

use testkit::{Origin, Script, ok};

use crate::setup::{cached, each};

fn unreadable() -> Vec<(String, Vec<u8>)> {
    let mut rows: Vec<(String, Vec<u8>)> = Vec::new();
    for text in [
        "",
        "garbage\r\n\r\n",
        "HTTP/1.1\r\n\r\n",
        "HTTP/1.1 20 OK\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 2000 OK\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 2x0 OK\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 099 OK\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1  200 OK\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/2.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
        "http/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
        "ICY 200 OK\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\nContent-Length: 1\n\nx",
        "HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nX: a\nY: b\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nX: a\r\n folded\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nX : a\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nX\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\n: a\r\nContent-Length: 1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy",
        "HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nxy",
        "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
    ] {
        rows.push((text.escape_debug().to_string(), text.as_bytes().to_vec()));
    }
    let many = "X: y\r\n".repeat(1_000);
    rows.push((
        "a thousand fields".into(),
        format!("HTTP/1.1 200 OK\r\n{many}Content-Length: 1\r\n\r\nx").into(),
    ));
    let long = "y".repeat(1024 * 1024);
    rows.push((
        "a field of 1 MiB".into(),
        format!("HTTP/1.1 200 OK\r\nX: {long}\r\nContent-Length: 1\r\n\r\nx").into(),
    ));
    rows
}

#[test]
fn an_unreadable_answer_is_a_502() {
    let origin = Origin::start();
    let fleetfoot = cached(&origin);
    each(unreadable(), |_, bytes| {
        origin.on("GET /").reply(Script::from(bytes).close());
        let mut client = fleetfoot.connect().deadline(Duration::from_secs(3));
        let answer = client.ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_eq!(answer.status, 502, "{answer:?}");
        let word = answer.field("fleetfoot-error");
        assert!(matches!(word, Some("malformed-response" | "broke-off")), "{answer:?}");
    });
    origin.on("GET /").reply(ok("", "well again"));
    assert_eq!(fleetfoot.get("/").text(), "well again");
}

/// RFC 9112 §6.3: one value on two lines may be mended, if only one goes on.
#[test]
fn one_length_said_twice_is_passed_on_once_or_refused() {
    let origin = Origin::start();
    origin.on("GET /").reply("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx");
    let answer = cached(&origin).get("/");
    assert!(answer.status == 502 || answer.head.all("Content-Length").eq(["1"]), "{answer:?}");
}

#[test]
fn bytes_behind_an_answer_never_become_the_next_one() {
    let extra = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
    let origin = Origin::start();
    let fleetfoot = cached(&origin);
    let rows = [
        ("behind a length", "GET", format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok{extra}")),
        (
            "behind chunks",
            "GET",
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{extra}"),
        ),
        ("behind 204", "GET", format!("HTTP/1.1 204 No Content\r\n\r\n{extra}")),
        (
            "as content of 204",
            "GET",
            format!("HTTP/1.1 204 No Content\r\nContent-Length: {}\r\n\r\n{extra}", extra.len()),
        ),
        (
            "as content of 304",
            "GET",
            format!("HTTP/1.1 304 Not Modified\r\nContent-Length: {}\r\n\r\n{extra}", extra.len()),
        ),
        (
            "as content for HEAD",
            "HEAD",
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{extra}", extra.len()),
        ),
    ];
    each(rows.into_iter().map(|(name, method, bytes)| (name, (method, bytes))), |_, (method, bytes)| {
        origin.on("/first").reply(bytes);
        origin.on("GET /second").reply(ok("", "right"));
        let mut client = fleetfoot.connect();
        // With a validator, so that a 304 may be what the client asked for.
        let first =
            client.ask(format!("{method} /first HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"x\"\r\n\r\n"));
        assert!(matches!(first.status, 200 | 204 | 304 | 502), "{first:?}");
        for _ in 0..3 {
            assert_eq!(fleetfoot.get("/second").text(), "right");
        }
    });
}

#[test]
fn a_flood_of_interim_answers_is_bounded() {
    let origin = Origin::start();
    let flood = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(10_000);
    origin.on("GET /").reply(Script::from(flood).send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"));
    let fleetfoot = cached(&origin);
    let answer = fleetfoot.get("/");
    assert!(matches!(answer.status, 200 | 502), "{}", answer.status);
    assert!(answer.interim.len() < 1_000, "{} interim answers passed on", answer.interim.len());
}

fn broken() -> Vec<(&'static str, Script)> {
    let chunked = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nTransfer-Encoding: chunked\r\n\r\n";
    let length = "HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nContent-Length: 10\r\n\r\n";
    vec![
        ("closed inside a length", Script::from(length).send("abc").close()),
        ("reset inside a length", Script::from(length).send("abc").reset()),
        ("closed inside a chunk", Script::from(chunked).send("5\r\nabc").close()),
        ("closed between chunks", Script::from(chunked).send("3\r\nabc\r\n").close()),
        ("closed inside the last chunk", Script::from(chunked).send("3\r\nabc\r\n0\r\n").close()),
        ("a chunk without its CRLF", Script::from(chunked).send("3\r\nabcd\r\n0\r\n\r\n")),
        ("a chunk size that is none", Script::from(chunked).send("3\r\nabc\r\nx\r\n\r\n")),
        ("a chunk size with LF", Script::from(chunked).send("3\nabc\r\n0\r\n\r\n")),
    ]
}

#[test]
fn a_broken_body_is_seen_as_broken_and_never_stored() {
    let origin = Origin::start();
    let fleetfoot = cached(&origin);
    each(broken(), |name, script| {
        let target = format!("/{}", name.replace(' ', "-"));
        origin.on(&format!("GET {target}")).replies([script, ok("Cache-Control: max-age=600", "whole")]);
        let mut client = fleetfoot.connect();
        client.send(format!("GET {target} HTTP/1.1\r\nHost: example.test\r\n\r\n"));
        match client.try_answer_to("GET") {
            Ok(answer) => assert_eq!(answer.status, 502, "looked whole: {answer:?}"),
            Err(broken) => assert!(!broken.text().starts_with("HTTP/1.1 502"), "{}", broken.text()),
        }
        let again = fleetfoot.get(&target);
        assert_eq!((again.status, again.text().as_str()), (200, "whole"), "{again:?}");
        assert!(fleetfoot.get(&target).is_hit());
    });
}

#[test]
fn content_until_close_is_whole_and_may_be_stored() {
    let origin = Origin::start();
    origin
        .on("GET /")
        .reply(Script::from("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n\r\nall of it").close());
    let fleetfoot = cached(&origin);
    assert_eq!(fleetfoot.get("/").text(), "all of it");
    assert_eq!(fleetfoot.get("/").text(), "all of it");
}

#[test]
fn content_until_close_that_is_reset_is_broken() {
    let origin = Origin::start();
    let start = Script::from("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\n\r\nhalf");
    origin.on("GET /").replies([start.reset(), ok("Cache-Control: max-age=600", "whole")]);
    let fleetfoot = cached(&origin);
    let mut client = fleetfoot.connect();
    client.send("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n");
    if let Ok(answer) = client.try_answer_to("GET") {
        assert_eq!(answer.status, 502, "looked whole: {answer:?}");
    }
    assert_eq!(fleetfoot.get("/").text(), "whole");
}
