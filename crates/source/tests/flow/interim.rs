//! Informational answers before the final one.

use std::task::Waker;

use http::StatusCode;
use message::Kind;

use crate::support::*;

#[tokio::test(flavor = "local")]
async fn hints_are_passed_on_and_100_is_not() {
    let port = always(
        "HTTP/1.1 100 Continue\r\n\r\n\
         HTTP/1.1 102 Processing\r\n\r\n\
         HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nConnection: x\r\nX: 1\r\n\r\n\
         HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    )
    .await;
    let source = source_at(port);
    let request = get("/");
    let interim = request.interim.clone();
    assert_eq!(answer(&source, request).await, (200, "ok".to_owned()));
    assert_eq!(interim.take(Waker::noop()).unwrap().status, StatusCode::PROCESSING);
    let hints = interim.take(Waker::noop()).unwrap();
    assert_eq!(hints.status.as_u16(), 103);
    assert_eq!(hints.fields.len(), 1);
    assert_eq!(hints.fields["link"], "</a.css>; rel=preload");
    assert!(interim.take(Waker::noop()).is_none());
    assert_eq!(source.idle_connections(), 1);
}

#[tokio::test(flavor = "local")]
async fn a_flood_of_hints_ends() {
    let flood = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(33) + "HTTP/1.1 204 No Content\r\n\r\n";
    let error = source_at(once(flood.leak().as_bytes()).await).send(get("/")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::MalformedResponse);
    let shower = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(32) + "HTTP/1.1 204 No Content\r\n\r\n";
    let source = source_at(once(shower.leak().as_bytes()).await);
    assert_eq!(answer(&source, get("/")).await.0, 204);
}

#[tokio::test(flavor = "local")]
async fn a_hint_is_there_before_the_final_answer() {
    let port = origin(|_, mut peer| async move {
        peer.head().await;
        peer.send("HTTP/1.1 103 Early Hints\r\n\r\n").await;
        peer.closed().await;
    })
    .await;
    let request = get("/");
    let interim = request.interim.clone();
    let source = source_at(port);
    let hint = std::future::poll_fn(|cx| match interim.take(cx.waker()) {
        Some(head) => std::task::Poll::Ready(head),
        None => std::task::Poll::Pending,
    });
    tokio::select! {
        response = source.send(request) => panic!("{response:?}"),
        head = hint => assert_eq!(head.status.as_u16(), 103),
    }
}
