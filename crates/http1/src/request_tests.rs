//! Request heads: each line of the tables is one way to be understood in two ways, or in one.

use super::*;
use crate::head::new_lines;

const LIMITS: HeadLimits = HeadLimits { head_size: 4096, target_size: 1024, header_count: 20 };

/// What a test wants to know of a head, owned.
#[derive(Debug, PartialEq)]
struct Seen {
    method: Method,
    target: String,
    framing: Framing,
    keep_alive: bool,
    length: usize,
}

fn parse(bytes: &[u8]) -> Result<Option<Seen>> {
    let mut lines = new_lines();
    let head = parse_request(bytes, &mut lines, &LIMITS)?;
    Ok(head.map(|head| Seen {
        method: head.method,
        target: head.target.to_owned(),
        framing: head.framing,
        keep_alive: head.keep_alive,
        length: head.length,
    }))
}

fn kind(bytes: &[u8]) -> Option<Kind> {
    parse(bytes).err().map(|error| error.kind())
}

/// A POST with these lines besides Host.
fn post(lines: &str) -> Vec<u8> {
    format!("POST / HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n").into_bytes()
}

fn framing(lines: &str) -> Framing {
    parse(&post(lines)).unwrap().unwrap().framing
}

#[test]
fn a_head_comes_out_as_it_stands() {
    let bytes = b"GET /p?q=%20 HTTP/1.1\r\nHost: A.b:80\r\nX-Empty:\r\nx-tab:\tv\t\r\n\r\nrest";
    let mut lines = new_lines();
    let head = parse_request(bytes, &mut lines, &LIMITS).unwrap().unwrap();
    assert_eq!((head.method, head.target, head.host), (Method::GET, "/p?q=%20", "A.b:80"));
    assert_eq!(
        (head.form, head.version, head.framing),
        (TargetForm::Origin, Version::HTTP_11, Framing::Empty)
    );
    assert_eq!(head.length, bytes.len() - 4);
    assert!(head.keep_alive && !head.expect_continue && !head.upgrade);
    let fields: Vec<_> = head.fields.iter().map(|line| (line.name, line.value)).collect();
    assert_eq!(fields, [("Host", &b"A.b:80"[..]), ("X-Empty", b""), ("x-tab", b"v")]);
}

#[test]
fn every_beginning_of_a_head_is_not_complete() {
    let head = b"POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n";
    for end in 0..head.len() {
        assert_eq!(parse(&head[..end]).unwrap(), None, "{end}");
    }
    assert!(parse(head).unwrap().is_some());
}

#[test]
fn framing_that_has_one_reading() {
    assert_eq!(framing("X: y"), Framing::Empty);
    assert_eq!(framing("Content-Length: 0"), Framing::Length(0));
    assert_eq!(framing("content-length:  5 "), Framing::Length(5));
    assert_eq!(framing("CONTENT-LENGTH: 18446744073709551615"), Framing::Length(u64::MAX));
    assert_eq!(framing("transfer-encoding: Chunked"), Framing::Chunked);
    for method in ["GET", "HEAD", "OPTIONS", "DELETE"] {
        let head = format!("{method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");
        assert_eq!(parse(head.as_bytes()).unwrap().unwrap().framing, Framing::Length(5), "{method}");
    }
}

#[test]
fn framing_that_has_two_readings() {
    let lines = [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5, 5",
        "Content-Length: 5,6",
        "Content-Length: +5",
        "Content-Length: -5",
        "Content-Length: 0x5",
        "Content-Length: 5_0",
        "Content-Length: 05",
        "Content-Length:",
        "Content-Length: 5 5",
        "Content-Length: 18446744073709551616",
        "Content-Length : 5",
        "Content_Length: 5",
        "content_length: 5",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: ,chunked",
        "Transfer-Encoding: chunked,",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked;x=y",
        "Transfer-Encoding: \"chunked\"",
        "Transfer-Encoding: \x0bchunked",
        "Transfer-Encoding: chunked\x0c",
        "Transfer-Encoding: chunked\0",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding:\r\n chunked",
        "Transfer-Encoding:\r\n\tchunked",
        "Transfer-Encoding:",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding\t: chunked",
        "Transfer_Encoding: chunked",
        "transfer_encoding: chunked",
    ];
    for lines in lines {
        assert_eq!(kind(&post(lines)), Some(Kind::MalformedRequest), "{lines:?}");
    }
    let old = b"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(kind(old), Some(Kind::MalformedRequest));
}

#[test]
fn field_lines_are_token_colon_value_and_crlf() {
    let lines = [
        "X: a\nY: b",
        "X: a\n",
        "X: a\rb",
        "X: a\0b",
        "X: a\x01b",
        "X: a\x7fb",
        "X\0: a",
        "X\r: a",
        "X : a",
        "X\t: a",
        "X y: a",
        "X",
        ": a",
        " : a",
        "X: a\r\n b",
        "X: a\r\n\tb",
        "X(: a",
        "X@: a",
        "Ä: a",
        "X: a\r\r",
    ];
    for lines in lines {
        assert_eq!(kind(&post(lines)), Some(Kind::MalformedRequest), "{lines:?}");
    }
    assert_eq!(
        kind(b"GET / HTTP/1.1\r\n Host: a\r\n\r\n"),
        Some(Kind::MalformedRequest),
        "space before the first"
    );
    assert_eq!(
        kind(b"GET / HTTP/1.1\nHost: a\r\n\r\n"),
        Some(Kind::MalformedRequest),
        "bare LF in the request line"
    );
    assert_eq!(kind(b"GET / HTTP/1.1\r\nHost: a\r\n\n"), Some(Kind::MalformedRequest), "bare LF at the end");
    assert_eq!(kind(b"GET / HTTP/1.1\nHost: a\n\n"), Some(Kind::MalformedRequest), "bare LF everywhere");
    assert_eq!(kind(b"\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"), Some(Kind::MalformedRequest), "bare LF before");
    assert!(kind(b"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").is_none(), "RFC 9112 §2.2");
    assert!(kind(b"GET / HTTP/1.1\r\nHost: a\r\nX: \xe4\xff\r\n\r\n").is_none(), "obs-text is opaque");
}

#[test]
fn request_lines() {
    let bad = [
        "GET /  HTTP/1.1",
        "GET  / HTTP/1.1",
        " GET / HTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET /a b HTTP/1.1",
        "GET /a\tb HTTP/1.1",
        "GET\t/ HTTP/1.1",
        "GET /\0 HTTP/1.1",
        "GET /\x7f HTTP/1.1",
        "GET /# HTTP/1.1",
        "GET /a#b HTTP/1.1",
        "GET /ä HTTP/1.1",
        "GET a HTTP/1.1",
        "GET * HTTP/1.1",
        "GET ?q HTTP/1.1",
        "GET a:80 HTTP/1.1",
        "GET ftp://a/ HTTP/1.1",
        "GET http:/a HTTP/1.1",
        "GET http:///a HTTP/1.1",
        "GET /",
        "GET / http/1.1",
        "GET / HTTP/1.",
        "GET / HTTP/11",
        "GET / HTTP/1.10",
        "GET / HTTP/a.1",
        "GET / XTTP/1.1",
        "GET HTTP/1.1",
        "GET",
        "G@T / HTTP/1.1",
        "G(T / HTTP/1.1",
        "CONNECT / HTTP/1.1",
        "CONNECT http://a/ HTTP/1.1",
        "\x16\x03\x01\x02",
    ];
    for line in bad {
        let head = format!("{line}\r\nHost: a\r\n\r\n");
        assert_eq!(kind(head.as_bytes()), Some(Kind::MalformedRequest), "{line:?}");
    }
    for line in ["GET / HTTP/0.9", "GET / HTTP/2.0", "GET / HTTP/1.2", "GET / HTTP/3.0", "PRI * HTTP/2.0"] {
        let head = format!("{line}\r\nHost: a\r\n\r\n");
        assert_eq!(kind(head.as_bytes()), Some(Kind::UnsupportedVersion), "{line:?}");
    }
    for line in [
        "get / HTTP/1.1",
        "M-SEARCH / HTTP/1.1",
        "X!#$%&'*+.^_`|~9 / HTTP/1.1",
        "OPTIONS * HTTP/1.1",
        "CONNECT a:80 HTTP/1.1",
    ] {
        let head = format!("{line}\r\nHost: a\r\n\r\n");
        assert_eq!(kind(head.as_bytes()), None, "{line:?}");
    }
}

#[test]
fn host_is_there_once_and_is_a_host() {
    let bad = [
        "",
        "Host: a\r\nHost: a\r\n",
        "Host: a\r\nhost: b\r\n",
        "Host:\r\n",
        "Host: a, b\r\n",
        "Host: a,b\r\n",
        "Host: u@a\r\n",
        "Host: u:p@a\r\n",
        "Host: a/b\r\n",
        "Host: a b\r\n",
        "Host: a:x\r\n",
        "Host: a:99999\r\n",
        "Host: http://a\r\n",
        "Host: a?\r\n",
        "Host: a#\r\n",
        "Host: a\\b\r\n",
        "Host: ä\r\n",
        "Host: a%00\r\n",
        "Host: [::1\r\n",
        "Host : a\r\n",
    ];
    for host in bad {
        let head = format!("GET / HTTP/1.1\r\n{host}\r\n");
        assert_eq!(kind(head.as_bytes()), Some(Kind::MalformedRequest), "{host:?}");
        if !host.is_empty() {
            let old = format!("GET / HTTP/1.0\r\n{host}\r\n");
            assert_eq!(kind(old.as_bytes()), Some(Kind::MalformedRequest), "{host:?} in HTTP/1.0");
        }
    }
    assert_eq!(kind(b"GET / HTTP/1.0\r\n\r\n"), None);
}

#[test]
fn an_absolute_target_agrees_with_host() {
    let form = |target: &str, host: &str| {
        let head = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        let mut lines = new_lines();
        parse_request(head.as_bytes(), &mut lines, &LIMITS).map(|head| match head.unwrap().form {
            TargetForm::Absolute { authority, path } => (authority.to_owned(), path.to_owned()),
            other => panic!("{other:?}"),
        })
    };
    let owned = |authority: &str, path: &str| (authority.to_owned(), path.to_owned());
    assert_eq!(form("http://a/p?q", "a").unwrap(), owned("a", "/p?q"));
    assert_eq!(form("HTTP://a", "a").unwrap(), owned("a", ""));
    assert_eq!(form("https://a?q=/", "a").unwrap(), owned("a", "?q=/"));
    assert_eq!(form("http://A:80/", "a").unwrap(), owned("A:80", "/"));
    for (target, host) in [
        ("http://b/", "a"),
        ("http://a:81/", "a"),
        ("http://u@a/", "a"),
        ("http://a,b/", "a"),
        ("http://a\\/", "a"),
    ] {
        assert_eq!(form(target, host).unwrap_err().kind(), Kind::MalformedRequest, "{target}");
    }
    let mut lines = new_lines();
    let old = parse_request(b"GET http://a/ HTTP/1.0\r\n\r\n", &mut lines, &LIMITS).unwrap().unwrap();
    assert_eq!((old.host, old.authority()), ("", "a"));
}

#[test]
fn what_the_connection_is_told() {
    let told = |version: &str, lines: &str| {
        let head = format!("GET / HTTP/{version}\r\nHost: a\r\n{lines}\r\n");
        let mut room = new_lines();
        let head = parse_request(head.as_bytes(), &mut room, &LIMITS).unwrap().unwrap();
        (head.keep_alive, head.expect_continue, head.upgrade)
    };
    assert_eq!(told("1.1", ""), (true, false, false));
    assert_eq!(told("1.1", "Connection: close\r\n"), (false, false, false));
    assert_eq!(told("1.1", "Connection: x, CLOSE ,y\r\n"), (false, false, false));
    assert_eq!(told("1.1", "Connection: keep-alive\r\nConnection: close\r\n"), (false, false, false));
    assert_eq!(told("1.0", ""), (false, false, false));
    assert_eq!(told("1.0", "Connection: Keep-Alive\r\n"), (true, false, false));
    assert_eq!(told("1.1", "Expect: 100-Continue\r\n"), (true, true, false));
    assert_eq!(told("1.0", "Expect: 100-continue\r\n"), (false, false, false));
    assert_eq!(told("1.1", "Upgrade: websocket\r\nConnection: Upgrade\r\n"), (true, false, true));
    assert_eq!(told("1.1", "Upgrade: websocket\r\n"), (true, false, false));
    assert_eq!(told("1.0", "Upgrade: websocket\r\nConnection: Upgrade\r\n"), (false, false, false));
}

#[test]
fn sizes_are_limited() {
    let long_target = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(1024));
    assert_eq!(kind(long_target.as_bytes()), Some(Kind::TargetTooLong));
    assert_eq!(kind(&[b'A'; 4096]), Some(Kind::TargetTooLong), "a request line without end");
    let endless = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}", "a".repeat(4096));
    assert_eq!(kind(endless.as_bytes()), Some(Kind::HeadTooLarge));
    assert_eq!(kind(format!("{endless}\r\n\r\n").as_bytes()), Some(Kind::HeadTooLarge));
    let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(20));
    assert_eq!(kind(many.as_bytes()), Some(Kind::HeadTooLarge));
    let most = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "X: y\r\n".repeat(19));
    assert_eq!(kind(most.as_bytes()), None);
    let exact = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "a".repeat(4096 - 32));
    assert_eq!((exact.len(), kind(exact.as_bytes())), (4096, None));
}
