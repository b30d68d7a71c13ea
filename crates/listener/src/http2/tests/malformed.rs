//! Requests that are refused: each is answered with 400 or a reset of its stream, and never reaches the handler.

use std::cell::Cell;
use std::rc::Rc;

use message::{Kind, Response};
use plan::Limits;

use super::raw::{
    DATA, END_HEADERS, END_STREAM, Frame, HEADERS, PROTOCOL_ERROR, RST_STREAM, Raw, fields, frame, request,
};
use super::{ask, connect, get};
use crate::testing::{Scripted, Server, ok};

type Line<'a> = (&'a [u8], &'a [u8]);

/// How a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// By h2.
    Reset,
    /// By us.
    BadRequest,
    /// By h2, which cannot go on reading the connection.
    GoAway,
}

/// Sends frames on stream 1 and tells what came back.
async fn refusal_of(server: &Server, frames: &[u8]) -> Refusal {
    let mut raw = Raw::connect(server.address).await;
    raw.send(frames).await;
    match raw.telling_frame().await.expect("an answer") {
        Frame { kind: HEADERS, payload, .. } if payload[0] == 0x8c => Refusal::BadRequest,
        reset @ Frame { kind: RST_STREAM, stream: 1, .. } if reset.code() == PROTOCOL_ERROR => Refusal::Reset,
        Frame { kind: super::raw::GOAWAY, .. } => Refusal::GoAway,
        other => panic!("{other:?}"),
    }
}

fn whole_request(section: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_STREAM | END_HEADERS, 1, section)
}

/// A server whose handler must not be called.
fn strict_server() -> (Server, Rc<Cell<u32>>) {
    let called = Rc::new(Cell::new(0));
    let counting = Rc::clone(&called);
    let handler = Scripted::new(move |_| {
        counting.set(counting.get() + 1);
        async { ok("called") }
    });
    (Server::cleartext(handler, Limits::default()), called)
}

#[tokio::test(flavor = "local")]
async fn fields_that_could_be_read_in_two_ways() {
    let (server, called) = strict_server();
    let cases: &[(Line<'_>, Refusal)] = &[
        ((b"x", b"a\r\nb: c"), Refusal::GoAway),
        ((b"x", b"a\nb"), Refusal::GoAway),
        ((b"x", b"a\rb"), Refusal::GoAway),
        ((b"x", b"a\0b"), Refusal::GoAway),
        ((b"x\r\ny", b"a"), Refusal::GoAway),
        ((b"x\0", b"a"), Refusal::GoAway),
        ((b"x:y", b"a"), Refusal::GoAway),
        ((b"x y", b"a"), Refusal::GoAway),
        ((b"X", b"a"), Refusal::GoAway),
        ((b"", b"a"), Refusal::GoAway),
        ((b":unknown", b"a"), Refusal::GoAway),
        ((b"x", b" a"), Refusal::BadRequest),
        ((b"x", b"a "), Refusal::BadRequest),
        ((b"x", b"\ta"), Refusal::BadRequest),
        ((b"x", b"a\t"), Refusal::BadRequest),
        ((b"transfer-encoding", b"chunked"), Refusal::Reset),
        ((b"connection", b"close"), Refusal::Reset),
        ((b"keep-alive", b"timeout=5"), Refusal::Reset),
        ((b"proxy-connection", b"close"), Refusal::Reset),
        ((b"upgrade", b"websocket"), Refusal::Reset),
        ((b"te", b"gzip"), Refusal::Reset),
        ((b"te", b"trailers, gzip"), Refusal::Reset),
        ((b"transfer_encoding", b"chunked"), Refusal::BadRequest),
        ((b"content_length", b"5"), Refusal::BadRequest),
        ((b"host", b"b.example"), Refusal::BadRequest),
        ((b"host", b"a.example/x"), Refusal::BadRequest),
        ((b"host", b""), Refusal::BadRequest),
        ((b"content-length", b"5"), Refusal::Reset),
        ((b"content-length", b"+0"), Refusal::Reset),
        ((b"content-length", b"0, 0"), Refusal::Reset),
        ((b"content-length", b""), Refusal::BadRequest),
        ((b"content-length", b"00"), Refusal::BadRequest),
        // a pseudo-header field behind others, repeated, or of responses
        ((b":path", b"/late"), Refusal::Reset),
        ((b":status", b"200"), Refusal::Reset),
    ];
    for (line, expected) in cases {
        let refusal = refusal_of(&server, &whole_request(&request(&[*line]))).await;
        let (name, value) = (line.0.escape_ascii(), line.1.escape_ascii());
        assert_eq!(refusal, *expected, "{name}: {value}");
    }
    let late: &[Line<'_>] = &[(b":method", b"GET"), (b":scheme", b"http"), (b"x", b"y"), (b":path", b"/")];
    assert_eq!(refusal_of(&server, &whole_request(&fields(late))).await, Refusal::Reset);
    let repeated = request(&[(b"content-length", b"0"), (b"content-length", b"0")]);
    assert_eq!(refusal_of(&server, &whole_request(&repeated)).await, Refusal::BadRequest);
    let two_hosts = request(&[(b"host", b"a.example"), (b"host", b"a.example")]);
    assert_eq!(refusal_of(&server, &whole_request(&two_hosts)).await, Refusal::BadRequest);
    assert_eq!(called.get(), 0);
}

#[tokio::test(flavor = "local")]
async fn pseudo_header_fields_that_name_no_resource() {
    let (server, called) = strict_server();
    let head = |method: &'static [u8], authority: &'static [u8], path: &'static [u8]| {
        let all: [Line<'_>; 4] =
            [(b":method", method), (b":scheme", b"http"), (b":authority", authority), (b":path", path)];
        let present: Vec<_> = all.into_iter().filter(|(_, value)| *value != b"-").collect();
        whole_request(&fields(&present))
    };
    let cases = [
        (head(b"GET", b"a.example", b"/a b"), Refusal::Reset),
        (head(b"GET", b"a.example", b"/a\tb"), Refusal::Reset),
        (head(b"GET", b"a.example", b"/a\r\nb"), Refusal::Reset),
        (head(b"GET", b"a.example", b"/a\0"), Refusal::Reset),
        (head(b"GET", b"a.example", b"/a\x7f"), Refusal::Reset),
        (head(b"GET", b"a.example", b"http://b.example/"), Refusal::Reset),
        (head(b"GET", b"a.example", b"a"), Refusal::Reset),
        (head(b"GET", b"a.example", b""), Refusal::Reset),
        (head(b"GET", b"a.example", b"-"), Refusal::Reset),
        (head(b"GET", b"-", b"-"), Refusal::BadRequest),
        (head(b"GET", b"-", b"/"), Refusal::BadRequest),
        (head(b"GET", b"a.example", b"*"), Refusal::BadRequest),
        (head(b"GET", b"a.example", b"?a"), Refusal::BadRequest),
        (head(b"GET", b"a.example", b"/\xc3\xa9"), Refusal::BadRequest),
        (head(b"GET", b"user@a.example", b"/"), Refusal::BadRequest),
        (head(b"GET", b"a.example/x", b"/"), Refusal::Reset),
        (head(b"GET", b"a.example, b.example", b"/"), Refusal::Reset),
        (head(b"GET", b"", b"/"), Refusal::Reset),
        (head(b"GE T", b"a.example", b"/"), Refusal::GoAway),
        (head(b"-", b"a.example", b"/"), Refusal::Reset),
        (head(b"CONNECT", b"a.example:443", b"/"), Refusal::Reset),
        (
            whole_request(&fields(&[(b":method", b"CONNECT"), (b":authority", b"a.example:443")])),
            Refusal::BadRequest,
        ),
        (
            whole_request(&fields(&[
                (b":method", b"CONNECT"),
                (b":scheme", b"http"),
                (b":authority", b"a.example"),
                (b":path", b"/"),
                (b":protocol", b"websocket"),
            ])),
            Refusal::Reset,
        ),
    ];
    for (index, (frames, expected)) in cases.into_iter().enumerate() {
        assert_eq!(refusal_of(&server, &frames).await, expected, "case {index}: {}", frames.escape_ascii());
    }
    assert_eq!(called.get(), 0);
    assert!(server.handler.refused.borrow().iter().all(|error| error.kind() == Kind::MalformedRequest));
}

/// Answers once it has read all content, with the kind of the failure if there was one.
fn reading_server() -> Server {
    let handler = Scripted::new(|request| async move {
        match http_body_util::BodyExt::collect(request.body).await {
            Ok(content) => ok(content.to_bytes()),
            Err(error) => Response { status: http::StatusCode::BAD_REQUEST, ..ok(error.kind().word()) },
        }
    });
    Server::cleartext(handler, Limits::default())
}

#[tokio::test(flavor = "local")]
async fn content_length_is_compared_with_the_content() {
    let server = reading_server();
    let head = request(&[(b"content-length", b"5")]);
    let begun = frame(HEADERS, END_HEADERS, 1, &head);
    for content in [&b"four"[..], b"sixsix", b""] {
        let frames = [begun.clone(), frame(DATA, END_STREAM, 1, content)].concat();
        assert_eq!(refusal_of(&server, &frames).await, Refusal::Reset, "{}", content.len());
    }
    let short_before_trailers = [
        begun.clone(),
        frame(DATA, 0, 1, b"four"),
        frame(HEADERS, END_STREAM | END_HEADERS, 1, &fields(&[(b"x", b"y")])),
    ];
    assert_eq!(refusal_of(&server, &short_before_trailers.concat()).await, Refusal::Reset);
}

#[tokio::test(flavor = "local")]
async fn trailers_that_belong_in_the_head() {
    let server = reading_server();
    for name in [&b"host"[..], b"authorization", b"content-length", b"content-type"] {
        let mut raw = Raw::connect(server.address).await;
        let head = frame(HEADERS, END_HEADERS, 1, &request(&[]));
        let trailers = frame(HEADERS, END_STREAM | END_HEADERS, 1, &fields(&[(name, b"1")]));
        raw.send(&[head, frame(DATA, 0, 1, b"data"), trailers].concat()).await;
        let answer = raw.telling_frame().await.unwrap();
        assert_eq!((answer.kind, answer.payload[0]), (HEADERS, 0x8c), "{}", name.escape_ascii());
    }
}

#[tokio::test(flavor = "local")]
async fn heads_over_the_limits() {
    let limits = Limits { head_size: 16 * 1024, header_count: 10, ..Limits::default() };
    let server = Server::cleartext(Scripted::echo_target(), limits);
    let mut client = connect(server.address).await;
    let mut many = get("/");
    for number in 0..11 {
        many.headers_mut().append("x-many", number.into());
    }
    assert_eq!(ask(&mut client, many).await.unwrap().status(), 431);
    assert_eq!(server.handler.refused.borrow()[0].kind(), Kind::HeadTooLarge);
    let mut large = get("/");
    large.headers_mut().insert("x-large", "x".repeat(17 * 1024).parse().unwrap());
    assert_eq!(ask(&mut client, large).await.unwrap().status(), 431);
    // the connection goes on
    assert_eq!(ask(&mut client, get("/")).await.unwrap().status(), 200);
}
