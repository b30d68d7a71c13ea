//! Leaving HTTP: WebSocket and the like.

use http::StatusCode;
use message::{Body, Kind, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::*;

fn websocket() -> Request {
    with(get("/chat"), &[("connection", "Upgrade"), ("upgrade", "websocket"), ("sec-websocket-key", "abc")])
}

#[tokio::test(flavor = "local")]
async fn a_switched_connection_is_a_tunnel() {
    let port = origin(|_, mut peer| async move {
        let head = peer.head().await;
        for line in ["connection: upgrade", "upgrade: websocket", "sec-websocket-key: abc"] {
            assert!(head.contains(&format!("\r\n{line}\r\n")), "{head}");
        }
        peer.send("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: WebSocket\r\nX: 1\r\n\r\nearly").await;
        assert_eq!(peer.bytes(4).await, b"ping");
        peer.send("pong").await;
    })
    .await;
    let source = source_at(port);
    let response = source.send(websocket()).await.unwrap();
    assert_eq!(response.status, StatusCode::SWITCHING_PROTOCOLS);
    let names: Vec<_> = response.fields.keys().map(http::HeaderName::as_str).collect();
    assert_eq!(names, ["x", "upgrade"]);
    let Body::Tunnel(mut tunnel) = response.body else { panic!("no tunnel") };
    let mut got = tunnel.early.to_vec();
    tunnel.io.write_all(b"ping").await.unwrap();
    tunnel.io.read_to_end(&mut got).await.unwrap();
    assert_eq!(got, b"earlypong");
}

#[tokio::test(flavor = "local")]
async fn an_origin_that_does_not_switch_just_answers() {
    let source = source_at(always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await);
    assert_eq!(answer(&source, websocket()).await, (200, "ok".to_owned()));
    assert_eq!(source.idle_connections(), 0, "what the origin thinks of the connection now is unknown");
}

#[tokio::test(flavor = "local")]
async fn nobody_is_switched_unasked_or_elsewhere() {
    for answer in [
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket, other\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    ] {
        let error = source_at(always(answer).await).send(websocket()).await.unwrap_err();
        assert_eq!(error.kind(), Kind::MalformedResponse, "{answer}");
    }
}

#[tokio::test(flavor = "local")]
async fn h2c_and_half_asked_upgrades_are_not_forwarded() {
    let port = origin(|_, mut peer| async move {
        let head = peer.head().await;
        assert!(!head.contains("upgrade") && !head.contains("http2-settings"), "{head}");
        peer.send("HTTP/1.1 204 No Content\r\n\r\n").await;
    })
    .await;
    let source = source_at(port);
    for fields in [
        &[("connection", "upgrade, http2-settings"), ("upgrade", "h2c"), ("http2-settings", "AA")][..],
        &[("upgrade", "websocket")],
        &[("connection", "upgrade")],
    ] {
        assert_eq!(answer(&source, with(get("/"), fields)).await.0, 204);
    }
}
