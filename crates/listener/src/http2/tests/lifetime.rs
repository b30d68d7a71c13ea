//! The life of a connection: idle, draining, and over.

use std::time::Duration;

use bytes::Bytes;
use message::Response;
use plan::Limits;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::Instant;

use super::raw::{END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, Raw, frame, request};
use super::{ask, connect, get, text};
use crate::preface::PREFACE;
use crate::testing::{Scripted, Server, ok};

#[tokio::test(flavor = "local", start_paused = true)]
async fn an_unused_connection_is_closed_with_goaway() {
    let server = Server::cleartext(Scripted::echo_target(), Limits::default());
    let mut raw = Raw::connect(server.address).await;
    raw.send(&frame(HEADERS, END_STREAM | END_HEADERS, 1, &request(&[]))).await;
    assert_eq!(raw.telling_frame().await.unwrap().kind, HEADERS);
    let answered = Instant::now();
    assert_eq!(raw.goaway().await, Some(0));
    assert!(answered.elapsed() >= Limits::default().idle_timeout);
    // it never answers the PING that goes with it, and is not awaited for ever
    while raw.frame().await.is_some() {}
    assert!(answered.elapsed() < Limits::default().idle_timeout + Duration::from_secs(10));
    assert_eq!(server.context.open_connections(), 0);
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn pings_do_not_make_a_connection_used() {
    let server = Server::cleartext(Scripted::echo_target(), Limits::default());
    let mut raw = Raw::connect(server.address).await;
    let begun = Instant::now();
    let closed = loop {
        raw.send(&frame(PING, 0, 0, &[0; 8])).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        match raw.frame().await {
            Some(frame) if frame.kind == GOAWAY => break begun.elapsed(),
            Some(_) => {}
            None => panic!("closed without GOAWAY"),
        }
    };
    assert!(closed < Limits::default().idle_timeout + Duration::from_secs(5), "{closed:?}");
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_client_that_does_not_finish_its_preface_is_not_awaited_for_ever() {
    let server = Server::cleartext(Scripted::echo_target(), Limits::default());
    for beginning in [&b""[..], b"PRI * HT", PREFACE] {
        let begun = Instant::now();
        let mut io = TcpStream::connect(server.address).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut io, beginning).await.unwrap();
        let mut sent = Vec::new();
        let _ = io.read_to_end(&mut sent).await;
        assert!(begun.elapsed() <= Limits::default().idle_timeout + Duration::from_secs(6));
        assert_eq!(server.context.open_connections(), 0);
    }
}

#[tokio::test(flavor = "local")]
async fn draining_lets_requests_under_way_finish() {
    let (release, released) = watch::channel(false);
    let (called, mut calls) = tokio::sync::mpsc::unbounded_channel();
    let handler = Scripted::new(move |_| {
        let mut released = released.clone();
        called.send(()).unwrap();
        async move {
            released.wait_for(|released| *released).await.unwrap();
            Response { ..ok(Bytes::from("finished")) }
        }
    });
    let server = Server::cleartext(handler, Limits::default());
    let mut busy = connect(server.address).await;
    let (answer, _) = busy.send_request(get("/"), true).unwrap();
    calls.recv().await.unwrap();
    let idle = Raw::connect(server.address).await;
    let context = server.context.clone();
    let drained = tokio::task::spawn_local(async move { context.drain().await });
    // the idle one is told, and nobody new is let in
    let mut idle = idle;
    assert_eq!(idle.goaway().await, Some(0));
    drop(idle);
    server.listener.stop().await;
    TcpStream::connect(server.address).await.unwrap_err();
    assert!(!drained.is_finished());
    release.send(true).unwrap();
    assert_eq!(text(answer.await.unwrap()).await, "finished");
    tokio::time::timeout(Duration::from_secs(5), drained).await.unwrap().unwrap();
    assert_eq!(server.context.open_connections(), 0);
    ask(&mut busy, get("/")).await.unwrap_err();
}
