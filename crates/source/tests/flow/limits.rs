//! What is bounded: time in each phase, connections, heads.

use std::rc::Rc;
use std::time::Duration;

use http_body_util::BodyExt;
use message::{Kind, Retry};
use tokio::time::Instant;

use crate::support::*;

#[tokio::test(flavor = "local")]
async fn an_origin_that_never_answers() {
    let port = origin(|_, mut peer| async move {
        peer.head().await;
        tokio::time::pause();
        peer.closed().await;
    })
    .await;
    let start = Instant::now();
    let error = source_at(port).send(get("/")).await.unwrap_err();
    assert_eq!((error.kind(), error.may_retry()), (Kind::SourceTimeout, Retry::Never));
    assert_eq!(error.detail(), format!("http://127.0.0.1:{port}: no answer within 10s"));
    assert!(start.elapsed() >= Duration::from_secs(10));
}

#[tokio::test(flavor = "local")]
async fn a_head_that_drips_gets_no_extra_time() {
    let port = origin(|_, mut peer| async move {
        peer.head().await;
        tokio::time::pause();
        for byte in b"HTTP/1.1 200 OK\r\nX-Slow: aaaaaaaaaaaaaaaaaaaaaaaaaaa" {
            peer.send([*byte]).await;
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    })
    .await;
    let error = source_at(port).send(get("/")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::SourceTimeout);
}

#[tokio::test(flavor = "local")]
async fn content_may_be_slow_as_long_as_it_comes() {
    let port = origin(|_, mut peer| async move {
        peer.head().await;
        tokio::time::pause();
        for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n" {
            peer.send([*byte]).await;
        }
        for byte in b"slo" {
            tokio::time::sleep(Duration::from_secs(9)).await;
            peer.send([*byte]).await;
        }
        peer.closed().await;
    })
    .await;
    let mut response = source_at(port).send(get("/")).await.unwrap();
    for byte in ["s", "l", "o"] {
        assert_eq!(response.body.frame().await.unwrap().unwrap().into_data().unwrap(), byte);
    }
    let error = response.body.frame().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), Kind::SourceTimeout);
    assert_eq!(error.detail(), format!("http://127.0.0.1:{port}: no content came for 10s"));
}

#[tokio::test(flavor = "local")]
async fn a_slow_client_is_not_the_origins_fault() {
    let port = always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let source = source_at(port);
    answer(&source, get("/")).await;
    let port = origin(|_, mut peer| async move {
        peer.until(b"0\r\n\r\n").await;
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    })
    .await;
    let source = source_at(port);
    let (sender, body) = Sent::body();
    tokio::task::spawn_local(async move {
        sender.send("a".into()).unwrap();
        tokio::time::sleep(Duration::from_millis(50)).await;
        tokio::time::pause();
        tokio::time::sleep(Duration::from_secs(59)).await;
        sender.send("b".into()).unwrap();
    });
    assert_eq!(answer(&source, post(body)).await, (200, "ok".to_owned()));
}

#[tokio::test(flavor = "local")]
async fn an_origin_that_does_not_take_the_content() {
    let port = origin(|_, mut peer| async move {
        peer.head().await;
        tokio::time::pause();
        tokio::time::sleep(Duration::from_secs(100)).await;
    })
    .await;
    let body = message::Body::from(bytes::Bytes::from(vec![b'x'; 64 << 20]));
    let error = source_at(port).send(post(body)).await.unwrap_err();
    assert_eq!(error.kind(), Kind::SourceTimeout);
    assert!(error.detail().ends_with("the request's content was not taken within 10s"), "{error}");
}

#[tokio::test(flavor = "local")]
async fn connections_are_limited_and_waited_for() {
    let notes = Notes::default();
    let noted = Rc::clone(&notes);
    let port = origin(move |number, mut peer| {
        let notes = Rc::clone(&noted);
        async move {
            while !peer.head().await.is_empty() {
                notes.borrow_mut().push(number.to_string());
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
            }
        }
    })
    .await;
    let mut plan = plan(&[port]);
    plan.connections = 2;
    let source = source(plan);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let source = source.clone();
        tasks.spawn_local(async move { answer(&source, get("/")).await });
    }
    while let Some(answer) = tasks.join_next().await {
        assert_eq!(answer.unwrap(), (200, "ok".to_owned()));
    }
    assert_eq!(notes.borrow().len(), 20);
    assert!(notes.borrow().iter().all(|number| number == "0" || number == "1"), "{notes:?}");
    assert_eq!(source.idle_connections(), 2);
}

#[tokio::test(flavor = "local")]
async fn waiting_for_a_connection_ends() {
    let port = origin(|_, mut peer| async move {
        peer.head().await;
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n").await;
        peer.closed().await;
    })
    .await;
    let mut plan = plan(&[port]);
    plan.connections = 1;
    let source = source(plan);
    let busy = source.send(get("/")).await.unwrap();
    tokio::time::pause();
    let error = source.send(get("/")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Overloaded);
    let detail = "all 1 connections are in use, and none became free within 5s";
    assert_eq!(error.detail(), format!("http://127.0.0.1:{port}: {detail}"));
    tokio::time::resume();
    drop(busy);
    source.send(get("/")).await.unwrap();
}

#[tokio::test(flavor = "local")]
async fn so_many_may_wait_and_no_more() {
    let port = origin(|_, mut peer| async move { peer.closed().await }).await;
    let mut plan = plan(&[port]);
    plan.connections = 1;
    let source = source(plan);
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..=1024 {
        let source = source.clone();
        tasks.spawn_local(async move { source.send(get("/")).await.map(drop) });
    }
    for _ in 0..200 {
        tokio::task::yield_now().await; // until each of them has had its turn
    }
    let error = source.send(get("/")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::Overloaded);
    assert!(error.detail().ends_with("1024 requests wait already"), "{error}");
}

#[tokio::test(flavor = "local")]
async fn a_head_without_end_is_refused() {
    let lines = format!("HTTP/1.1 200 OK\r\nX-Long: {}", "a".repeat(70_000));
    let error = source_at(once(lines.leak().as_bytes()).await).send(get("/")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::MalformedResponse);
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(300));
    let error = source_at(once(many.leak().as_bytes()).await).send(get("/")).await.unwrap_err();
    assert_eq!(error.kind(), Kind::MalformedResponse);
}

#[tokio::test(flavor = "local")]
async fn large_content_arrives_whole() {
    let length = 5_000_000;
    let port = origin(move |_, mut peer| async move {
        while !peer.head().await.is_empty() {
            peer.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n")).await;
            peer.send(vec![b'x'; length]).await;
        }
    })
    .await;
    let source = source_at(port);
    for _ in 0..2 {
        let (_, text) = answer(&source, get("/")).await;
        assert!(text.len() == length && text.bytes().all(|byte| byte == b'x'));
        assert_eq!(source.idle_connections(), 1);
    }
}
