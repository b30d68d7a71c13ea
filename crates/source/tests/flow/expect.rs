//! `Expect: 100-continue`: the content waits until the origin wants it.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::Frame;
use message::{Body, Error};

use crate::support::*;

/// A body that tells when it is first asked for its content, as the listener needs it to send its own `100`.
struct Watched(Rc<Cell<bool>>, Option<&'static str>);

impl http_body::Body for Watched {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        self.0.set(true);
        Poll::Ready(self.1.take().map(|text| Ok(Frame::data(Bytes::from(text)))))
    }
}

fn expecting() -> (Rc<Cell<bool>>, message::Request) {
    let asked = Rc::new(Cell::new(false));
    let body = Body::stream(Watched(Rc::clone(&asked), Some("content")));
    (asked, with(post(body), &[("expect", "100-continue")]))
}

#[tokio::test(flavor = "local")]
async fn the_content_follows_the_100() {
    let (asked, request) = expecting();
    let seen = Rc::clone(&asked);
    let port = origin(move |_, mut peer| {
        let asked = Rc::clone(&seen);
        async move {
            let head = peer.head().await;
            assert!(head.contains("\r\nexpect: 100-continue\r\n"), "{head}");
            assert!(!asked.get(), "nobody has asked the client yet");
            peer.send("HTTP/1.1 100 Continue\r\n\r\n").await;
            peer.until(b"content\r\n0\r\n\r\n").await;
            peer.send("HTTP/1.1 204 No Content\r\n\r\n").await;
            peer.closed().await;
        }
    })
    .await;
    let source = source_at(port);
    assert_eq!(answer(&source, request).await.0, 204);
    assert!(asked.get());
    assert_eq!(source.idle_connections(), 1);
}

#[tokio::test(flavor = "local")]
async fn a_refusal_spares_the_content() {
    let (asked, request) = expecting();
    let source = source_at(always("HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n").await);
    assert_eq!(answer(&source, request).await.0, 417);
    assert!(!asked.get());
    assert_eq!(source.idle_connections(), 0);
}

#[tokio::test(flavor = "local")]
async fn an_origin_that_says_nothing_gets_the_content_after_a_second() {
    let (_, request) = expecting();
    let port = origin(|_, mut peer| async move {
        peer.head().await;
        tokio::time::pause();
        let before = tokio::time::Instant::now();
        peer.until(b"content\r\n0\r\n\r\n").await;
        assert!(before.elapsed().as_secs() >= 1);
        peer.send("HTTP/1.1 204 No Content\r\n\r\n").await;
    })
    .await;
    assert_eq!(answer(&source_at(port), request).await.0, 204);
}

#[tokio::test(flavor = "local")]
async fn nothing_is_expected_without_content() {
    let port = origin(|_, mut peer| async move {
        assert!(!peer.head().await.contains("expect"));
        peer.send("HTTP/1.1 204 No Content\r\n\r\n").await;
    })
    .await;
    let request = with(post(Body::Empty), &[("expect", "100-continue")]);
    assert_eq!(answer(&source_at(port), request).await.0, 204);
}
