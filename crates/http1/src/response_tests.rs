//! Response heads: origins are read as strictly as clients.

use super::*;

const LIMITS: HeadLimits = HeadLimits { head_size: 4096, target_size: 1024, header_count: 20 };

fn parse(bytes: &[u8]) -> Result<Option<ResponseHead>> {
    parse_response(bytes, &Method::GET, &LIMITS)
}

fn with(lines: &str) -> Result<Option<ResponseHead>> {
    parse(format!("HTTP/1.1 200 OK\r\n{lines}\r\n").as_bytes())
}

#[test]
fn a_head_comes_out_owned() {
    let bytes = b"HTTP/1.1 203 Non-Authoritative\r\nContent-Length: 5\r\nVary: a\r\nVary: b\r\n\r\nhello";
    let head = parse(bytes).unwrap().unwrap();
    assert_eq!(
        (head.status.as_u16(), head.version, head.framing),
        (203, Version::HTTP_11, Framing::Length(5))
    );
    assert_eq!(head.length, bytes.len() - 5);
    assert!(head.keep_alive);
    assert!(!head.fields.contains_key("content-length"), "the framing has it");
    assert_eq!(head.fields.get_all("vary").iter().collect::<Vec<_>>(), ["a", "b"]);
    for end in 0..head.length {
        assert!(parse(&bytes[..end]).unwrap().is_none(), "{end}");
    }
}

#[test]
fn framing_by_fields() {
    let framing = |lines: &str| with(lines).unwrap().unwrap().framing;
    assert_eq!(framing(""), Framing::UntilClose);
    assert_eq!(framing("Content-Length: 0\r\n"), Framing::Length(0));
    assert_eq!(framing("Transfer-Encoding: CHUNKED\r\n"), Framing::Chunked);
    let twice = with("Content-Length: 5\r\nContent-Length: 5\r\n").unwrap().unwrap();
    assert_eq!(
        (twice.framing, twice.fields.get_all("content-length").iter().count()),
        (Framing::Length(5), 0)
    );
}

#[test]
fn no_content_where_there_may_be_none() {
    for status in [100, 101, 103, 199, 204, 304] {
        let head = format!("HTTP/1.1 {status} x\r\nContent-Length: 5\r\n\r\n");
        let head = parse(head.as_bytes()).unwrap().unwrap();
        assert_eq!(head.framing, Framing::Empty, "{status}");
        assert_eq!(head.fields.contains_key("content-length"), status == 304, "{status}");
    }
    let head = parse_response(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", &Method::HEAD, &LIMITS);
    let head = head.unwrap().unwrap();
    assert_eq!((head.framing, &head.fields["content-length"]), (Framing::Empty, &"5".parse().unwrap()));
    let chunked =
        parse_response(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", &Method::HEAD, &LIMITS);
    assert_eq!(chunked.unwrap().unwrap().framing, Framing::Empty);
}

#[test]
fn keeping_the_connection() {
    let keep = |head: &str| parse(head.as_bytes()).unwrap().unwrap().keep_alive;
    assert!(keep("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    assert!(!keep("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
    assert!(!keep("HTTP/1.1 200 OK\r\n\r\n"), "content until close");
    assert!(!keep("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"));
    assert!(keep("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive\r\n\r\n"));
}

#[test]
fn what_has_two_readings_is_refused() {
    let lines = [
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 5\r\n",
        "Content-Length: 5, 6\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: -5\r\n",
        "Content-Length:\r\n",
        "Content-Length: 18446744073709551616\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding:\r\n chunked\r\n",
        "X: a\r\n folded\r\n",
        "X: a\r\n\tfolded\r\n",
        "X: a\rb\r\n",
        "X: a\nY: b\r\n",
        "X: a\0b\r\n",
        "X: a\x7fb\r\n",
        "X : a\r\n",
        "X\r\n",
        ": a\r\n",
        " X: a\r\n",
    ];
    for lines in lines {
        assert_eq!(with(lines).unwrap_err().kind(), Kind::MalformedResponse, "{lines:?}");
    }
    let old = parse(b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    assert_eq!(old.unwrap_err().kind(), Kind::MalformedResponse);
    let head = parse_response(
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        &Method::HEAD,
        &LIMITS,
    );
    assert!(head.is_err(), "also where there is no content");
}

#[test]
fn status_lines() {
    for good in
        ["HTTP/1.1 200 OK", "HTTP/1.1 200 ", "HTTP/1.1 200", "HTTP/1.0 999 x y", "HTTP/1.1 200 \u{e4}"]
    {
        assert!(parse(format!("{good}\r\n\r\n").as_bytes()).unwrap().is_some(), "{good:?}");
    }
    let bad = [
        "HTTP/2.0 200 OK",
        "HTTP/0.9 200 OK",
        "HTTP/1.2 200 OK",
        "HTTP/1.1 20 OK",
        "HTTP/1.1 2000 OK",
        "HTTP/1.1 099 OK",
        "HTTP/1.1 +20 OK",
        "HTTP/1.1  200 OK",
        "HTTP/1.1\t200 OK",
        " HTTP/1.1 200 OK",
        "\r\nHTTP/1.1 200 OK",
        "http/1.1 200 OK",
        "ICY 200 OK",
        "HTTP/1.1 200 O\0K",
        "HTTP/1.1 200 O\rK",
        "<html>",
        "HTTP/1.1 abc OK",
        "HTTP/1.1 000 OK",
    ];
    for line in bad {
        assert_eq!(
            parse(format!("{line}\r\n\r\n").as_bytes()).unwrap_err().kind(),
            Kind::MalformedResponse,
            "{line:?}"
        );
    }
    assert!(parse(b"HTTP/1.1 200 OK\n\n").is_err());
    assert!(parse(b"HTTP/1.1 200 OK\nX: y\r\n\r\n").is_err());
}

#[test]
fn sizes_are_limited() {
    let endless = format!("HTTP/1.1 200 OK\r\nX: {}", "a".repeat(4096));
    assert!(parse(endless.as_bytes()).is_err());
    assert!(parse(format!("{endless}\r\n\r\n").as_bytes()).is_err());
    assert!(with(&"X: y\r\n".repeat(21)).is_err());
    assert!(with(&"X: y\r\n".repeat(20)).is_ok());
}
