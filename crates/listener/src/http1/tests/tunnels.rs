//! Tunnels: connections that switch protocols, and those that must not.

use http::header::UPGRADE;
use message::Tunnel;

use super::*;

const WEBSOCKET: &str =
    "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\n";
const SWITCHING: &str =
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n";

/// Switches, with `origin` behind it.
fn switching(origin: DuplexStream, early: &'static str) -> Response {
    let mut response = Response::new(StatusCode::SWITCHING_PROTOCOLS);
    response.fields.insert(UPGRADE, HeaderValue::from_static("websocket"));
    response.body = Body::Tunnel(Tunnel { early: Bytes::from(early), io: Box::new(origin) });
    response
}

fn connect(early: &'static str) -> (Peer, DuplexStream) {
    let (origin, other) = tokio::io::duplex(1024);
    let origin = RefCell::new(Some(origin));
    let limits = Limits { idle_timeout: Duration::from_secs(30), ..Limits::default() };
    let peer = Peer::connect_with(limits, move |request| {
        assert_eq!(request.fields[UPGRADE], "websocket");
        let origin = origin.take().unwrap();
        async move {
            tokio::time::sleep(Duration::from_millis(10)).await;
            switching(origin, early)
        }
    });
    (peer, other)
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn bytes_pass_both_ways_the_early_ones_first() {
    let (mut peer, mut origin) = connect("early ");
    peer.send(format!("{GET_FRESH}{WEBSOCKET}ahead ")).await;
    peer.expect(format!("{FRESH}{SWITCHING}early ")).await;
    peer.send("of time").await;
    let mut read = [0; 13];
    origin.read_exact(&mut read).await.unwrap();
    assert_eq!(&read, b"ahead of time");
    origin.write_all(b"bird").await.unwrap();
    peer.expect("bird").await;
    // Each side may close by itself.
    origin.shutdown().await.unwrap();
    let mut rest = Vec::new();
    peer.io.read_to_end(&mut rest).await.unwrap();
    assert!(rest.is_empty());
    peer.send("bye").await;
    drop(peer.io);
    origin.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"bye");
    timeout(A_WHILE, peer.serving).await.expect("an end").unwrap();
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn a_silent_tunnel_is_closed_a_talking_one_is_not() {
    let (mut peer, mut origin) = connect("");
    peer.send(WEBSOCKET).await;
    peer.expect(SWITCHING).await;
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_secs(25)).await;
        origin.write_all(b"x").await.unwrap();
        peer.expect("x").await;
    }
    let start = tokio::time::Instant::now();
    peer.expect_end().await;
    let waited = start.elapsed().as_secs();
    assert!((30..=60).contains(&waited), "{waited}");
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn an_origin_may_decline() {
    let mut peer = Peer::connect(|_| async { with_content("plain") });
    peer.send(format!("{WEBSOCKET}{GET_FRESH}")).await;
    peer.expect(format!("{}{FRESH}", sent("plain"))).await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn an_origin_may_not_switch_unasked() {
    for request in [
        GET_FRESH.replace("fresh", "other"),
        WEBSOCKET.replace("websocket", "h2c"),
        WEBSOCKET.replace("Upgrade\r\n", "x\r\n"),
        WEBSOCKET.replace("\r\n\r\n", "\r\nContent-Length: 1\r\n\r\nx"),
    ] {
        let mut peer = Peer::connect(|request| async move {
            assert!(!request.fields.contains_key(UPGRADE));
            switching(tokio::io::duplex(1).0, "early")
        });
        peer.send(request).await;
        peer.expect("HTTP/1.1 502 Bad Gateway\r\ndate: D\r\ncontent-length: 0\r\n\r\n").await;
    }
    let mut peer = Peer::connect(|_| async { response(101) });
    peer.send(WEBSOCKET).await;
    peer.expect("HTTP/1.1 502 Bad Gateway\r\ndate: D\r\ncontent-length: 0\r\n\r\n").await;
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn nobody_speaks_http2_behind_an_upgrade() {
    let mut peer = Peer::connect(|request| async move {
        assert!(!request.fields.contains_key(UPGRADE) && !request.fields.contains_key("http2-settings"));
        with_content("plain")
    });
    peer.send(concat!(
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n",
        "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"
    ))
    .await;
    peer.expect(sent("plain")).await;
}
