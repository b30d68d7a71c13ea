//! Content of requests: streamed, limited, and given up.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use message::{Kind, Request, Response};
use plan::Limits;

use super::{connect, post, read_all, send_all, text};
use crate::testing::{Scripted, Server, ok};

/// Reads all content and answers with it and its trailers; a failure is answered with its kind.
async fn echo(request: Request) -> Response {
    match request.body.collect().await {
        Ok(content) => {
            let mut response = ok(Bytes::new());
            if let Some(trailers) = content.trailers() {
                response.fields = trailers.clone();
            }
            response.body = content.to_bytes().into();
            response
        }
        Err(error) => {
            let status = match error.kind() {
                Kind::ContentTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
                Kind::ClientTimeout => StatusCode::REQUEST_TIMEOUT,
                _ => StatusCode::BAD_REQUEST,
            };
            Response { status, ..ok(error.kind().word()) }
        }
    }
}

#[tokio::test(flavor = "local")]
async fn content_longer_than_the_windows_is_read_to_its_end() {
    let server = Server::cleartext(Scripted::new(echo), Limits::default());
    let mut client = connect(server.address).await;
    let content = Bytes::from(vec![b'x'; 1_000_000]);
    let (answer, mut sending) = client.send_request(post("/"), false).unwrap();
    let (sent, answer) = tokio::join!(
        async {
            send_all(&mut sending, content.clone(), false).await?;
            let mut trailers = HeaderMap::new();
            trailers.insert("x-checksum", "1".parse().unwrap());
            sending.send_trailers(trailers)
        },
        answer
    );
    sent.unwrap();
    let answer = answer.unwrap();
    assert_eq!(answer.headers()["x-checksum"], "1");
    assert_eq!(read_all(answer.into_body()).await.unwrap().0, content);
}

#[tokio::test(flavor = "local")]
async fn unread_content_fills_its_window_and_no_more() {
    let server = Server::cleartext(
        Scripted::new(|request| async move {
            let _unread = request;
            std::future::pending().await
        }),
        Limits::default(),
    );
    let mut client = connect(server.address).await;
    let (_answer, mut sending) = client.send_request(post("/"), false).unwrap();
    let content = Bytes::from(vec![b'x'; 1_000_000]);
    let sent = tokio::time::timeout(Duration::from_millis(100), send_all(&mut sending, content, true)).await;
    assert!(sent.is_err(), "the server took it all");
}

#[tokio::test(flavor = "local")]
async fn content_over_the_limit() {
    let limits = Limits { body_size: 100_000, ..Limits::default() };
    let server = Server::cleartext(Scripted::new(echo), limits);
    let mut client = connect(server.address).await;
    // declared: refused before anybody is asked
    let mut declared = post("/");
    declared.headers_mut().insert("content-length", 100_001.into());
    let (answer, mut sending) = client.send_request(declared, false).unwrap();
    assert_eq!(answer.await.unwrap().status(), 413);
    let reset = std::future::poll_fn(|cx| sending.poll_reset(cx)).await.unwrap();
    assert_eq!(reset, h2::Reason::NO_ERROR);
    assert_eq!(server.handler.refused.borrow()[0].kind(), Kind::ContentTooLarge);
    // not declared: found while reading
    let (answer, mut sending) = client.send_request(post("/"), false).unwrap();
    let content = Bytes::from(vec![b'x'; 200_000]);
    let (_, answer) = tokio::join!(send_all(&mut sending, content, true), answer);
    assert_eq!(answer.unwrap().status(), 413);
    let reset = std::future::poll_fn(|cx| sending.poll_reset(cx)).await.unwrap();
    assert_eq!(reset, h2::Reason::NO_ERROR);
    // at the limit: fine
    let (answer, mut sending) = client.send_request(post("/"), false).unwrap();
    let content = Bytes::from(vec![b'x'; 100_000]);
    let (sent, answer) = tokio::join!(send_all(&mut sending, content, true), answer);
    sent.unwrap();
    assert_eq!(answer.unwrap().status(), 200);
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_client_that_sends_no_content_is_not_awaited_for_ever() {
    let server = Server::cleartext(Scripted::new(echo), Limits::default());
    let mut client = connect(server.address).await;
    let (answer, mut sending) = client.send_request(post("/"), false).unwrap();
    send_all(&mut sending, Bytes::from("some"), false).await.unwrap();
    let asked = tokio::time::Instant::now();
    assert_eq!(answer.await.unwrap().status(), 408);
    assert!(asked.elapsed() >= Limits::default().body_timeout);
}

#[tokio::test(flavor = "local")]
async fn expecting_clients_are_told_to_continue_when_content_is_read() {
    let server = Server::cleartext(Scripted::new(echo), Limits::default());
    let mut client = connect(server.address).await;
    let mut request = post("/");
    request.headers_mut().insert("expect", "100-continue".parse().unwrap());
    let (mut answer, mut sending) = client.send_request(request, false).unwrap();
    let interim = std::future::poll_fn(|cx| answer.poll_informational(cx)).await.unwrap().unwrap();
    assert_eq!(interim.status(), 100);
    send_all(&mut sending, Bytes::from("hello"), true).await.unwrap();
    assert_eq!(text(answer.await.unwrap()).await, "hello");
}

#[tokio::test(flavor = "local")]
async fn a_conversation_goes_both_ways_at_once() {
    // as gRPC does: the head of the answer, and messages, before the request has ended
    let handler = Scripted::new(|request: Request| async move { Response { body: request.body, ..ok("") } });
    let server = Server::cleartext(handler, Limits::default());
    let mut client = connect(server.address).await;
    let mut request = post("/grpc.Service/Method");
    request.headers_mut().insert("te", "trailers".parse().unwrap());
    let (answer, mut sending) = client.send_request(request, false).unwrap();
    let mut answer = answer.await.unwrap().into_body();
    for message in ["one", "two", "three"] {
        send_all(&mut sending, Bytes::from(message), false).await.unwrap();
        assert_eq!(answer.data().await.unwrap().unwrap(), message);
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", "0".parse().unwrap());
    sending.send_trailers(trailers.clone()).unwrap();
    assert!(answer.data().await.is_none());
    assert_eq!(answer.trailers().await.unwrap(), Some(trailers));
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn in_a_conversation_the_client_may_be_silent() {
    let handler = Scripted::new(|request: Request| async move { Response { body: request.body, ..ok("") } });
    let server = Server::cleartext(handler, Limits::default());
    let mut client = connect(server.address).await;
    let (answer, mut sending) = client.send_request(post("/"), false).unwrap();
    let mut answer = answer.await.unwrap().into_body();
    tokio::time::sleep(Limits::default().body_timeout * 3).await;
    send_all(&mut sending, Bytes::from("late"), true).await.unwrap();
    assert_eq!(answer.data().await.unwrap().unwrap(), "late");
}

/// Tells when it is dropped.
struct Dropped(Rc<Cell<bool>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

#[tokio::test(flavor = "local")]
async fn a_reset_cancels_the_handler() {
    let dropped = Rc::new(Cell::new(false));
    let witness = Rc::clone(&dropped);
    let (called, mut calls) = tokio::sync::mpsc::unbounded_channel();
    let handler = Scripted::new(move |_| {
        let guard = Dropped(Rc::clone(&witness));
        called.send(()).unwrap();
        async move {
            let _guard = guard;
            std::future::pending().await
        }
    });
    let server = Server::cleartext(handler, Limits::default());
    // by RST_STREAM
    let mut client = connect(server.address).await;
    let (_answer, mut sending) = client.send_request(post("/"), false).unwrap();
    calls.recv().await.unwrap();
    assert!(!dropped.get());
    sending.send_reset(h2::Reason::CANCEL);
    until(|| dropped.get()).await;
    // by the end of the connection
    dropped.set(false);
    let io = tokio::net::TcpStream::connect(server.address).await.unwrap();
    let (client, connection) = h2::client::handshake(io).await.unwrap();
    let connection = tokio::task::spawn_local(connection);
    let (_answer, _sending) = client.ready().await.unwrap().send_request(post("/"), true).unwrap();
    calls.recv().await.unwrap();
    connection.abort();
    until(|| dropped.get()).await;
}

/// Lets other tasks run until it holds.
async fn until(holds: impl Fn() -> bool) {
    let holding = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), holding).await.expect("it never held");
}
