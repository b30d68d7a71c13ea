//! How answers end: every framing, and every way to get it wrong.

use std::rc::Rc;

use http_body_util::BodyExt;
use message::{Body, Kind};
use tokio::sync::Notify;

use crate::support::*;

/// The content, or what went wrong with the head or with the content.
async fn outcome(bytes: &'static [u8]) -> Result<String, (&'static str, Kind)> {
    let source = source_at(once(bytes).await);
    let response = source.send(get("/")).await.map_err(|error| ("head", error.kind()))?;
    content(response).await.map(|(text, _)| text).map_err(|error| ("content", error.kind()))
}

#[tokio::test(flavor = "local")]
async fn every_proper_framing_is_read() {
    for (bytes, text) in [
        (&b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"[..], "hello"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
            "hello",
        ),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end"),
        (b"HTTP/1.0 200 OK\r\n\r\nas in the old days", "as in the old days"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", ""),
    ] {
        assert_eq!(outcome(bytes).await.unwrap(), text, "{}", bytes.escape_ascii());
    }
}

#[tokio::test(flavor = "local")]
async fn garbage_in_the_head_is_a_malformed_response() {
    for bytes in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!"[..],
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\r\n folded\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
        b"HTTP/1.1 200 OK\nX: a\n\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/2.0 200 OK\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2p1\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: surprise\r\n\r\n",
    ] {
        assert_eq!(outcome(bytes).await, Err(("head", Kind::MalformedResponse)), "{}", bytes.escape_ascii());
    }
}

#[tokio::test(flavor = "local")]
async fn garbage_in_the_content_never_looks_complete() {
    let chunked = |rest: &str| -> &'static [u8] {
        Vec::leak(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{rest}").into_bytes())
    };
    for rest in [
        "0x5\r\nhello\r\n",
        "5 \r\nhello\r\n0\r\n\r\n",
        "5\nhello\r\n",
        "5\r\nhello!\r\n",
        "\r\n",
        "-1\r\n\r\n",
    ] {
        assert_eq!(outcome(chunked(rest)).await, Err(("content", Kind::MalformedResponse)), "{rest:?}");
    }
    for rest in ["", "5", "5\r\nhel", "5\r\nhello", "5\r\nhello\r\n", "5\r\nhello\r\n0\r\n"] {
        assert_eq!(outcome(chunked(rest)).await, Err(("content", Kind::BrokeOff)), "{rest:?}");
    }
    let short = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello";
    assert_eq!(outcome(short).await, Err(("content", Kind::BrokeOff)));
}

#[tokio::test(flavor = "local")]
async fn a_break_in_the_head_is_told_from_silence() {
    let source = source_at(once(b"").await);
    let error = source.send(get("/")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::BrokeOff);
    assert!(error.detail().contains("before it answered"), "{error}");
    let source = source_at(once(b"HTTP/1.1 200 O").await);
    let error = source.send(get("/")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::BrokeOff);
    assert!(error.detail().contains("amid the head"), "{error}");
}

#[tokio::test(flavor = "local")]
async fn a_reset_is_a_break_also_where_the_end_would_do() {
    for head in ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n"] {
        let read = Rc::new(Notify::new());
        let then = Rc::clone(&read);
        let port = origin(move |_, mut peer| {
            let read = Rc::clone(&then);
            async move {
                peer.head().await;
                peer.send(head).await;
                peer.send("some").await;
                read.notified().await;
                peer.reset();
            }
        })
        .await;
        let mut response = source_at(port).send(get("/")).await.unwrap();
        let first = response.body.frame().await.unwrap().unwrap();
        assert_eq!(first.into_data().unwrap(), "some");
        read.notify_one();
        let error = response.body.frame().await.unwrap().unwrap_err();
        assert_eq!(error.kind(), Kind::BrokeOff);
        assert!(response.body.frame().await.is_none());
    }
}

#[tokio::test(flavor = "local")]
async fn no_content_where_none_belongs() {
    let port = always("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nETag: \"x\"\r\n\r\n").await;
    let source = source_at(port);
    for _ in 0..2 {
        let response = source.send(request(http::Method::HEAD, "/")).await.unwrap();
        assert_eq!(response.fields["content-length"], "1000");
        assert!(matches!(response.body, Body::Empty));
        assert_eq!(source.idle_connections(), 1);
    }
    let port = always("HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n").await;
    let response = source_at(port).send(get("/")).await.unwrap();
    assert_eq!(response.fields["content-length"], "1000");
    assert!(response.body.is_empty());
}

#[tokio::test(flavor = "local")]
async fn lengths_are_told_where_known() {
    let port = origin(|_, mut peer| async move {
        peer.head().await;
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe").await;
        peer.bytes(1).await;
    })
    .await;
    let mut response = source_at(port).send(get("/")).await.unwrap();
    assert!(response.fields.get("content-length").is_none());
    assert_eq!(response.body.exact_length(), Some(5));
    response.body.frame().await.unwrap().unwrap();
    assert_eq!(response.body.exact_length(), Some(3));
}

#[tokio::test(flavor = "local")]
async fn trailers_arrive_behind_the_content() {
    let port = always(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 7\r\n\r\n",
    )
    .await;
    let source = source_at(port);
    let response = source.send(get("/")).await.unwrap();
    assert!(response.fields.get("transfer-encoding").is_none());
    let (text, trailers) = content(response).await.unwrap();
    assert_eq!((text.as_str(), trailers.unwrap()["x-sum"].to_str().unwrap()), ("hi", "7"));
    assert_eq!(source.idle_connections(), 1, "a complete chunked answer leaves the connection usable");
}
