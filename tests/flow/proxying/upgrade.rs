//! Connections that leave HTTP: WebSocket and its like pass through, bytes both ways.

use testkit::{Certificate, Fleetfoot, Origin, status};

use crate::setup::{cached, config_with};

const HANDSHAKE: &str = "GET /chat HTTP/1.1\r\nHost: example.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// Switches protocols, sends a first frame right behind the head, and echoes in capitals.
fn echoing() -> Origin {
    let origin = Origin::start();
    origin.on("GET /chat").talk(|connection| {
        let key = connection.request().field("Sec-WebSocket-Key").map(str::to_owned);
        assert_eq!(key.as_deref(), Some("dGhlIHNhbXBsZSBub25jZQ=="));
        connection.send(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\nwelcome",
        );
        loop {
            let bytes = connection.read_some();
            if bytes.is_empty() {
                return;
            }
            connection.send(bytes.to_ascii_uppercase());
        }
    });
    origin
}

#[test]
fn a_websocket_passes_through() {
    let origin = echoing();
    let fleetfoot = cached(&origin);
    let mut client = fleetfoot.connect();
    client.send(HANDSHAKE);
    let head = client.read_head();
    assert!(head.start.starts_with("HTTP/1.1 101"), "{head:?}");
    assert_eq!(head.field("Upgrade"), Some("websocket"));
    assert_eq!(head.field("Sec-WebSocket-Accept"), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    assert_eq!(client.read_exactly(7), b"welcome");
    for word in ["one", "two\0\r\n\r\n", "three"] {
        client.send(word);
        assert_eq!(client.read_exactly(word.len()), word.to_ascii_uppercase().as_bytes());
    }
}

#[test]
fn frames_sent_before_the_101_are_kept() {
    let origin = echoing();
    let fleetfoot = cached(&origin);
    let mut client = fleetfoot.connect();
    client.send(format!("{HANDSHAKE}early"));
    client.read_head();
    assert_eq!(client.read_exactly(12), b"welcomeEARLY");
}

#[test]
fn an_end_on_either_side_ends_the_other() {
    let origin = echoing();
    let fleetfoot = cached(&origin);
    let mut client = fleetfoot.connect();
    client.send(HANDSHAKE);
    client.read_until(b"welcome");
    origin.drop_connections();
    assert!(client.is_closed());
}

#[test]
fn an_origin_that_will_not_switch_answers_as_usual() {
    let origin = Origin::start();
    origin.on("GET /chat").reply(status("426 Upgrade Required", "", "no"));
    let fleetfoot = cached(&origin);
    let mut client = fleetfoot.connect();
    let answer = client.ask(HANDSHAKE);
    assert_eq!((answer.status, answer.text().as_str()), (426, "no"));
    // The connection is still HTTP.
    assert_eq!(client.ask("GET /chat HTTP/1.1\r\nHost: a\r\n\r\n").status, 426);
}

#[test]
fn a_websocket_passes_over_tls() {
    let origin = echoing();
    let certificate = Certificate::new();
    let listen = format!(
        "listen: {{ https: 127.0.0.1:0, admin: 127.0.0.1:0, tls: {{ certificate: {}, key: {} }} }}",
        certificate.file().display(),
        certificate.key_file().display()
    );
    let fleetfoot = Fleetfoot::start(&config_with(origin.address(), "-", &listen));
    let mut client = testkit::RawClient::connect_tls(fleetfoot.https(), &certificate);
    client.send(HANDSHAKE);
    client.read_until(b"welcome");
    client.send("over tls");
    assert_eq!(client.read_exactly(8), b"OVER TLS");
}
