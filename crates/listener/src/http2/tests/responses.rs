//! Responses: heads, content and informational answers as the client gets them.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body::Frame;
use message::{Body, Error, InterimHead, Kind, Request, Response};
use plan::Limits;

use super::{ask, connect, connect_with, get, read_all, text};
use crate::testing::{Scripted, Server, ok};

/// A body of these frames, one after another.
fn frames(frames: Vec<Result<Frame<Bytes>, Error>>) -> Body {
    let mut frames = std::collections::VecDeque::from(frames);
    Body::stream(Scripts(move || frames.pop_front()))
}

struct Scripts<F>(F);

impl<F: FnMut() -> Option<Result<Frame<Bytes>, Error>> + Unpin> http_body::Body for Scripts<F> {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Error>>> {
        std::task::Poll::Ready((self.0)())
    }
}

fn data(text: &'static str) -> Frame<Bytes> {
    Frame::data(Bytes::from_static(text.as_bytes()))
}

async fn script(request: Request) -> Response {
    let mut response = ok("hello");
    match &*request.target {
        "/none" => response.status = StatusCode::NO_CONTENT,
        "/unchanged" => response.status = StatusCode::NOT_MODIFIED,
        "/large" => response.body = Bytes::from(vec![b'x'; 3_000_000]).into(),
        "/trailers" => {
            let trailers = HeaderMap::from_iter([(
                http::HeaderName::from_static("grpc-status"),
                HeaderValue::from_static("0"),
            )]);
            response.body = frames(vec![Ok(data("a")), Ok(data("b")), Ok(Frame::trailers(trailers))]);
        }
        "/breaks-off" => {
            response.body =
                frames(vec![Ok(data("a")), Err(Error::new(Kind::BrokeOff, "the origin broke off"))]);
        }
        "/too-short" => {
            response.fields.insert("content-length", 3.into());
            response.body = frames(vec![Ok(data("a")), Ok(data("b"))]);
        }
        "/too-long" => {
            response.fields.insert("content-length", 3.into());
            response.body = frames(vec![Ok(data("a")), Ok(data("bcd"))]);
        }
        "/connection-fields" => {
            response.fields.insert("connection", "x-secret".parse().unwrap());
            response.fields.insert("x-secret", "1".parse().unwrap());
            response.fields.insert("transfer-encoding", "chunked".parse().unwrap());
        }
        "/early" => {
            for status in [100, 103, 101, 103] {
                let status = StatusCode::from_u16(status).unwrap();
                let mut fields = HeaderMap::new();
                fields.insert("link", "</style.css>".parse().unwrap());
                fields.insert("connection", "close".parse().unwrap());
                request.interim.push(InterimHead { status, fields });
                tokio::task::yield_now().await;
            }
        }
        "/switch" => {
            let early = Bytes::new();
            let io = Box::new(tokio::io::duplex(1).0);
            response.status = StatusCode::SWITCHING_PROTOCOLS;
            response.body = Body::Tunnel(message::Tunnel { early, io });
        }
        _ => {}
    }
    response
}

fn scripted_server() -> Server {
    Server::cleartext(Scripted::new(script), Limits::default())
}

#[tokio::test(flavor = "local")]
async fn requests_arrive_as_they_were_sent() {
    let handler = Scripted::new(|request: Request| async move {
        let host = request.fields.contains_key("host");
        let cookie = request.fields["cookie"].to_str().unwrap().to_owned();
        ok(format!(
            "{} {} {} {} {:?} host:{host} {cookie} {}",
            request.method,
            request.scheme.as_str(),
            request.authority,
            request.target,
            request.version,
            request.body.is_empty()
        ))
    });
    let server = Server::cleartext(handler, Limits::default());
    let mut client = connect(server.address).await;
    let request = http::Request::builder()
        .method("PURGE")
        .uri("https://A.Example:80/a/../%2e%2F;x?b=1&&b=%00")
        .header("host", "a.example")
        .header("cookie", "a=1")
        .header("cookie", "b=2")
        .body(())
        .unwrap();
    // the scheme is the connection's, whatever the client says
    let expected = "PURGE http a.example /a/../%2e%2F;x?b=1&&b=%00 HTTP/2.0 host:false a=1; b=2 true";
    assert_eq!(text(ask(&mut client, request).await.unwrap()).await, expected);
}

#[tokio::test(flavor = "local")]
async fn heads_carry_length_and_date_and_no_connection_fields() {
    let server = scripted_server();
    let mut client = connect(server.address).await;
    let answer = ask(&mut client, get("/connection-fields")).await.unwrap();
    let mut names: Vec<_> = answer.headers().keys().map(http::HeaderName::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["content-length", "date"]);
    assert_eq!(text(answer).await, "hello");
}

#[tokio::test(flavor = "local")]
async fn some_answers_have_no_content() {
    let server = scripted_server();
    let mut client = connect(server.address).await;
    let mut head = get("/");
    *head.method_mut() = Method::HEAD;
    for (request, length) in [(head, Some("5")), (get("/none"), None), (get("/unchanged"), Some("5"))] {
        let answer = ask(&mut client, request).await.unwrap();
        assert_eq!(answer.headers().get("content-length").map(|value| value.to_str().unwrap()), length);
        assert!(answer.body().is_end_stream());
    }
}

#[tokio::test(flavor = "local")]
async fn large_content_and_trailers_arrive_whole() {
    let server = scripted_server();
    let mut client = connect(server.address).await;
    let large = ask(&mut client, get("/large")).await.unwrap();
    assert_eq!(large.headers()["content-length"], "3000000");
    assert_eq!(read_all(large.into_body()).await.unwrap().0.len(), 3_000_000);
    let trailers = ask(&mut client, get("/trailers")).await.unwrap();
    let (content, trailers) = read_all(trailers.into_body()).await.unwrap();
    assert_eq!(
        (&content[..], &trailers.unwrap()["grpc-status"]),
        (&b"ab"[..], &HeaderValue::from_static("0"))
    );
}

#[tokio::test(flavor = "local")]
async fn content_that_breaks_off_resets_the_stream() {
    let server = scripted_server();
    let mut client = connect(server.address).await;
    for target in ["/breaks-off", "/too-short", "/too-long"] {
        // what still waits for the socket is given up with the stream, the head too
        let error = match ask(&mut client, get(target)).await {
            Ok(answer) => read_all(answer.into_body()).await.unwrap_err(),
            Err(error) => error,
        };
        assert_eq!(error.reason(), Some(h2::Reason::INTERNAL_ERROR), "{target}");
    }
    assert_eq!(ask(&mut client, get("/")).await.unwrap().status(), 200);
}

#[tokio::test(flavor = "local")]
async fn informational_answers_are_passed_on() {
    let server = scripted_server();
    let mut client = connect(server.address).await;
    let (mut answer, _) = client.send_request(get("/early"), true).unwrap();
    let mut statuses = Vec::new();
    while let Some(interim) = std::future::poll_fn(|cx| answer.poll_informational(cx)).await {
        let interim = interim.unwrap();
        assert_eq!(interim.headers()["link"], "</style.css>");
        assert_eq!(interim.headers().len(), 1);
        statuses.push(interim.status().as_u16());
    }
    assert_eq!(statuses, [100, 103, 103]);
    assert_eq!(text(answer.await.unwrap()).await, "hello");
}

#[tokio::test(flavor = "local")]
async fn a_stream_cannot_switch_protocols() {
    let server = scripted_server();
    let mut client = connect(server.address).await;
    assert_eq!(ask(&mut client, get("/switch")).await.unwrap().status(), 500);
    assert_eq!(server.handler.refused.borrow()[0].kind(), Kind::Internal);
}

#[tokio::test(flavor = "local")]
async fn an_answer_is_made_no_faster_than_it_is_taken() {
    let made = std::rc::Rc::new(std::cell::Cell::new(0));
    let counter = std::rc::Rc::clone(&made);
    let handler = Scripted::new(move |_| {
        let counter = std::rc::Rc::clone(&counter);
        async move {
            let body = Scripts(move || {
                counter.set(counter.get() + 16_384);
                Some(Ok(Frame::data(Bytes::from_static(&[b'x'; 16_384]))))
            });
            Response { body: Body::stream(body), ..ok("") }
        }
    });
    let server = Server::cleartext(handler, Limits::default());
    let mut client = connect(server.address).await;
    let mut answer = ask(&mut client, get("/")).await.unwrap().into_body();
    tokio::time::sleep(Duration::from_millis(50)).await;
    // the client's window is 64 KiB, and one more piece may wait
    assert!(made.get() <= 128 * 1024, "{} bytes were made for nobody", made.get());
    for _ in 0..20 {
        let bytes = answer.data().await.unwrap().unwrap();
        answer.flow_control().release_capacity(bytes.len()).unwrap();
    }
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_client_that_takes_nothing_is_not_served_for_ever() {
    let server = scripted_server();
    let mut stingy = h2::client::Builder::new();
    stingy.initial_window_size(0);
    let mut client = connect_with(&stingy, server.address).await;
    let asked = tokio::time::Instant::now();
    let answer = ask(&mut client, get("/large")).await.unwrap();
    let error = read_all(answer.into_body()).await.unwrap_err();
    assert_eq!(error.reason(), Some(h2::Reason::CANCEL));
    assert!(asked.elapsed() >= Limits::default().body_timeout);
}
