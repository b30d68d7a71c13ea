//! Request content on its way to the origin.

use std::rc::Rc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use http_body::Frame;
use http_body_util::BodyExt;
use message::{Body, Error, Kind};

use crate::support::*;

/// What an origin gets behind the head, up to `end`.
async fn sent(body: Body, end: &'static [u8]) -> (String, String) {
    let notes = Notes::default();
    let noted = Rc::clone(&notes);
    let port = origin(move |_, mut peer| {
        let notes = Rc::clone(&noted);
        async move {
            let head = peer.head().await;
            let content = peer.until(end).await;
            notes.borrow_mut().extend([head, String::from_utf8(content).unwrap()]);
            peer.send("HTTP/1.1 204 No Content\r\n\r\n").await;
            peer.closed().await;
        }
    })
    .await;
    let source = source_at(port);
    assert_eq!(answer(&source, post(body)).await.0, 204);
    assert_eq!(source.idle_connections(), 1);
    let mut notes = notes.borrow_mut();
    let content = notes.pop().unwrap();
    (notes.pop().unwrap(), content)
}

#[tokio::test(flavor = "local")]
async fn whole_bodies_have_a_length() {
    let (head, content) = sent(whole("hello!"), b"!").await;
    assert!(head.contains("\r\ncontent-length: 6\r\n") && !head.contains("transfer-encoding"), "{head}");
    assert_eq!(content, "hello!");
    let (head, _) = sent(Body::Empty, b"").await;
    assert!(head.contains("\r\ncontent-length: 0\r\n"), "{head}");
}

#[tokio::test(flavor = "local")]
async fn arriving_bodies_are_chunked() {
    let (head, content) = sent(Pieces::body(&["hello", " ", "world"]), b"0\r\n\r\n").await;
    assert!(
        head.contains("\r\ntransfer-encoding: chunked\r\n") && !head.contains("content-length"),
        "{head}"
    );
    assert_eq!(content, "5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\n");
}

#[tokio::test(flavor = "local")]
async fn large_chunks_and_trailers_are_framed_as_well() {
    let large: &'static str = "x".repeat(100_000).leak();
    let mut trailers = HeaderMap::new();
    trailers.insert("x-sum", HeaderValue::from_static("7"));
    let pieces = Pieces(
        [large, "y", large]
            .map(|piece| Ok(Frame::data(Bytes::from_static(piece.as_bytes()))))
            .into_iter()
            .chain([Ok(Frame::trailers(trailers))])
            .collect(),
    );
    let (_, content) = sent(Body::stream(pieces), b"7\r\n\r\n").await;
    assert_eq!(content, format!("186a0\r\n{large}\r\n1\r\ny\r\n186a0\r\n{large}\r\n0\r\nx-sum: 7\r\n\r\n"));
}

#[tokio::test(flavor = "local")]
async fn a_small_body_goes_out_with_its_head() {
    let notes = Notes::default();
    let noted = Rc::clone(&notes);
    let port = origin(move |_, mut peer| {
        let notes = Rc::clone(&noted);
        async move {
            let mut first = vec![0; 4096];
            let length = tokio::io::AsyncReadExt::read(&mut peer.stream, &mut first).await.unwrap();
            notes.borrow_mut().push(String::from_utf8_lossy(&first[..length]).into_owned());
            peer.send("HTTP/1.1 204 No Content\r\n\r\n").await;
        }
    })
    .await;
    answer(&source_at(port), post(Pieces::body(&["hello"]))).await;
    assert!(notes.borrow()[0].ends_with("\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), "{notes:?}");
}

#[tokio::test(flavor = "local")]
async fn a_body_that_fails_is_the_clients_fault_and_leaves_no_whole_request() {
    let notes = Notes::default();
    let noted = Rc::clone(&notes);
    let port = origin(move |_, mut peer| {
        let notes = Rc::clone(&noted);
        async move {
            peer.head().await;
            let mut rest = Vec::new();
            let _reset = tokio::io::AsyncReadExt::read_to_end(&mut peer.stream, &mut rest).await;
            notes.borrow_mut().push(String::from_utf8(rest).unwrap());
        }
    })
    .await;
    let pieces =
        Pieces([Ok(Frame::data(Bytes::from("a"))), Err(Error::new(Kind::ClientGone, "gone"))].into());
    let error = source_at(port).send(post(Body::stream(pieces))).await.unwrap_err();
    assert_eq!(error.kind(), Kind::ClientGone);
    while notes.borrow().is_empty() {
        tokio::task::yield_now().await;
    }
    assert!(!notes.borrow()[0].contains("0\r\n\r\n"));
}

#[tokio::test(flavor = "local")]
async fn an_early_final_answer_is_taken() {
    let port = origin(|_, mut peer| async move {
        peer.head().await;
        peer.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig").await;
    })
    .await;
    let (_sender, body) = Sent::body();
    let source = source_at(port);
    assert_eq!(answer(&source, post(body)).await, (413, "big".to_owned()));
    assert_eq!(source.idle_connections(), 0, "the request was never finished");
}

#[tokio::test(flavor = "local")]
async fn an_origin_that_closes_behind_an_early_answer_is_still_heard() {
    let port = origin(|_, mut peer| async move {
        peer.head().await;
        peer.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
            .await;
        tokio::io::AsyncWriteExt::shutdown(&mut peer.stream).await.unwrap();
        peer.closed().await;
    })
    .await;
    let body = Body::from(Bytes::from(vec![b'x'; 32 << 20]));
    assert_eq!(answer(&source_at(port), post(body)).await, (413, "big".to_owned()));
}

#[tokio::test(flavor = "local")]
async fn both_ways_at_once() {
    let port = origin(|_, mut peer| async move {
        peer.head().await;
        peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
        loop {
            let line = String::from_utf8(peer.until(b"\r\n").await).unwrap();
            let length = usize::from_str_radix(line.trim(), 16).unwrap();
            let data = peer.bytes(length + 2).await;
            peer.send(line).await;
            peer.send(data).await;
            if length == 0 {
                break;
            }
        }
        peer.closed().await;
    })
    .await;
    let source = source_at(port);
    let (sender, body) = Sent::body();
    let mut response = source.send(post(body)).await.unwrap();
    for word in ["one", "two", "three"] {
        sender.send(word.into()).unwrap();
        assert_eq!(response.body.frame().await.unwrap().unwrap().into_data().unwrap(), word);
    }
    drop(sender);
    assert!(response.body.frame().await.is_none());
    assert_eq!(source.idle_connections(), 1, "both sides ended well");
}
