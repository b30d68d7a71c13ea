use std::time::Duration;

use bytes::{Bytes, BytesMut};
use plan::{Limits, Network};
use rustls::pki_types::ServerName;
use std::rc::Rc;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::context::Settings;
use crate::testing::{Certificate, Scripted, Server, settings};
use crate::{ConnectionCounters, OpenConnections};

const LOOPBACK: ([u8; 4], u16) = ([127, 0, 0, 1], 0);

async fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(server.address).await.unwrap()
}

/// Asks for `/` over HTTP/2 on a connection on which all that comes before has been sent.
async fn ask_http2(io: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + 'static) -> String {
    let (client, connection) = h2::client::handshake(io).await.unwrap();
    tokio::task::spawn_local(connection);
    let request = http::Request::get("http://a.example/").body(()).unwrap();
    let mut client: h2::client::SendRequest<Bytes> = client.ready().await.unwrap();
    let mut content = client.send_request(request, true).unwrap().0.await.unwrap().into_body();
    let mut whole = BytesMut::new();
    while let Some(bytes) = content.data().await {
        whole.extend_from_slice(&bytes.unwrap());
    }
    String::from_utf8(whole.to_vec()).unwrap()
}

/// Asks for `/` over HTTP/1.1 and gives the whole answer.
async fn ask_http1(mut io: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin) -> String {
    io.write_all(b"GET / HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    io.read_to_string(&mut answer).await.unwrap();
    answer
}

/// Whether the server closes the connection.
async fn is_closed(mut io: TcpStream) -> bool {
    let read = tokio::time::timeout(Duration::from_secs(5), io.read(&mut [0])).await;
    matches!(read, Ok(Ok(0) | Err(_)))
}

#[tokio::test(flavor = "local")]
async fn cores_share_a_port() {
    let first = bind(SocketAddr::from(LOOPBACK)).unwrap();
    let address = first.local_addr().unwrap();
    assert_ne!(address.port(), 0);
    let second = bind(address).unwrap();
    assert_eq!(second.local_addr().unwrap(), address);
    assert!(socket2::SockRef::from(&second).reuse_port().unwrap());
    let taken = ensure_free(second.local_addr().unwrap()).unwrap_err();
    assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
}

#[tokio::test(flavor = "local")]
async fn ipv6_listens_for_ipv6_alone() {
    let Ok(six) = bind("[::]:0".parse().unwrap()) else { return };
    assert!(socket2::SockRef::from(&six).only_v6().unwrap());
    let port = six.local_addr().unwrap().port();
    bind(SocketAddr::from(([0, 0, 0, 0], port))).unwrap();
}

#[tokio::test(flavor = "local")]
async fn both_protocols_are_served_on_one_port() {
    let server = Server::cleartext(Scripted::echo_target(), Limits::default());
    let io = connect(&server).await;
    let client = io.local_addr().unwrap();
    assert_eq!(ask_http2(io).await, format!("http / {client}"));
    let io = connect(&server).await;
    let client = io.local_addr().unwrap();
    let answer = ask_http1(io).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with(&format!("http / {client}")), "{answer}");
    assert_eq!(server.counters.get(Event::Accepted), 2);
}

#[tokio::test(flavor = "local")]
async fn connections_over_the_limit_are_closed_and_counted() {
    let limits = Limits { connections: 2, ..Limits::default() };
    let server = Server::cleartext(Scripted::echo_target(), limits);
    let (first, _second) = (connect(&server).await, connect(&server).await);
    assert!(is_closed(connect(&server).await).await);
    assert_eq!(server.counters.get(Event::Refused), 1);
    // a place that became free is given away again
    drop(first);
    while server.context.open_connections() == 2 {
        tokio::task::yield_now().await;
    }
    assert!(ask_http2(connect(&server).await).await.starts_with("http / "));
}

#[tokio::test(flavor = "local")]
async fn a_stopped_listener_leaves_connections_alone() {
    let Server { address, context, listener, .. } =
        Server::cleartext(Scripted::echo_target(), Limits::default());
    let before = TcpStream::connect(address).await.unwrap();
    let queued = TcpStream::connect(address).await.unwrap();
    listener.stop().await;
    TcpStream::connect(address).await.unwrap_err();
    assert!(ask_http2(before).await.starts_with("http / "));
    assert!(ask_http2(queued).await.starts_with("http / "));
    let again = Listener::start(bind(address).unwrap(), ListenerKind::Http, context).unwrap();
    assert!(ask_http2(TcpStream::connect(again.address()).await.unwrap()).await.starts_with("http / "));
}

#[tokio::test(flavor = "local")]
async fn a_dropped_listener_stops() {
    let server = Server::cleartext(Scripted::echo_target(), Limits::default());
    drop(server.listener);
    while let Ok(io) = TcpStream::connect(server.address).await {
        drop(io);
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "local")]
async fn draining_closes_what_has_sent_nothing() {
    let server = Server::cleartext(Scripted::echo_target(), Limits::default());
    let silent = connect(&server).await;
    while server.context.open_connections() == 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::timeout(Duration::from_secs(5), server.context.drain()).await.unwrap();
    assert!(is_closed(silent).await);
    server.listener.stop().await;
}

#[tokio::test(flavor = "local")]
async fn proxy_headers_tell_the_client() {
    let trust = vec![Network { address: "10.0.0.0".parse().unwrap(), prefix: 8 }];
    let settings = Settings { proxy_protocol: true, trust, ..settings(Limits::default()) };
    let trusted = Rc::new(std::cell::Cell::new(false));
    let seen = Rc::clone(&trusted);
    let handler = Scripted::new(move |request| {
        seen.set(request.client.trusted);
        async move { crate::testing::ok(format!("{} {}", request.client.address, request.client.local)) }
    });
    let server = Server::start(handler, ListenerKind::Http, settings);
    let mut io = connect(&server).await;
    io.write_all(b"PROXY TCP4 10.0.0.7 10.0.0.1 4711 80\r\n").await.unwrap();
    assert_eq!(ask_http2(io).await, "10.0.0.7:4711 10.0.0.1:80");
    assert!(trusted.get());
    let mut io = connect(&server).await;
    io.write_all(b"PROXY TCP4 11.0.0.7 10.0.0.1 4711 80\r\n").await.unwrap();
    assert!(ask_http1(io).await.ends_with("11.0.0.7:4711 10.0.0.1:80"));
    assert!(!trusted.get());
    // without one there is no service
    let mut io = connect(&server).await;
    io.write_all(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n").await.unwrap();
    assert!(is_closed(io).await);
    assert_eq!(server.counters.get(Event::ProxyHeaderFailed), 1);
}

#[tokio::test(flavor = "local", start_paused = true)]
async fn late_headers_and_handshakes_are_not_awaited_for_ever() {
    let behind_proxy = Settings { proxy_protocol: true, ..settings(Limits::default()) };
    let server = Server::start(Scripted::echo_target(), ListenerKind::Http, behind_proxy);
    let mut io = connect(&server).await;
    io.write_all(b"PROXY TCP4 ").await.unwrap();
    assert_eq!(io.read(&mut [0]).await.unwrap(), 0);
    assert_eq!(server.counters.get(Event::ProxyHeaderFailed), 1);

    let (acceptor, _) = tls("a.example");
    let server =
        Server::start(Scripted::echo_target(), ListenerKind::Https(acceptor), settings(Limits::default()));
    let mut io = connect(&server).await;
    io.write_all(b"\x16\x03\x01").await.unwrap();
    let _ = io.read(&mut [0]).await;
    assert_eq!(server.counters.get(Event::HandshakeFailed), 1);
}

/// An acceptor with a certificate for this name.
fn tls(name: &str) -> (Acceptor, Certificate) {
    let folder = tempfile::tempdir().unwrap();
    let certificate = Certificate::new(name);
    (Acceptor::load(&certificate.write(folder.path(), "certificate")).unwrap(), certificate)
}

/// A client that trusts this certificate alone and offers these protocols.
fn tls_client(certificate: &Certificate, protocols: &[&str]) -> tokio_rustls::TlsConnector {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.der()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    tokio_rustls::TlsConnector::from(Arc::new(config))
}

async fn handshake(
    client: &tokio_rustls::TlsConnector,
    io: TcpStream,
) -> io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
    client.connect(ServerName::try_from("a.example").unwrap(), io).await
}

#[tokio::test(flavor = "local")]
async fn tls_chooses_the_protocol_by_alpn() {
    let (acceptor, certificate) = tls("a.example");
    let server =
        Server::start(Scripted::echo_target(), ListenerKind::Https(acceptor), settings(Limits::default()));
    let both = tls_client(&certificate, &["h2", "http/1.1"]);
    let io = handshake(&both, connect(&server).await).await.unwrap();
    assert_eq!(io.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    assert!(ask_http2(io).await.starts_with("https / "));
    for offered in [&["http/1.1"][..], &[]] {
        let io = handshake(&tls_client(&certificate, offered), connect(&server).await).await.unwrap();
        let answer = ask_http1(io).await;
        assert!(answer.contains("https / "), "{answer}");
    }
    // whoever speaks something else gets nothing
    let unknown = tls_client(&certificate, &["spdy/3"]);
    handshake(&unknown, connect(&server).await).await.unwrap_err();
    assert!(
        is_closed({
            let mut io = connect(&server).await;
            io.write_all(b"GET / HTTP/1.1\r\nhost: a.example\r\n\r\n").await.unwrap();
            io.read_exact(&mut [0; 7]).await.unwrap(); // the alert
            io
        })
        .await
    );
    assert_eq!(server.counters.get(Event::HandshakeFailed), 2);
}

#[tokio::test(flavor = "local")]
async fn tls_behind_a_proxy_header() {
    let (acceptor, certificate) = tls("a.example");
    let behind_proxy = Settings { proxy_protocol: true, ..settings(Limits::default()) };
    let server = Server::start(Scripted::echo_target(), ListenerKind::Https(acceptor), behind_proxy);
    let mut io = connect(&server).await;
    io.write_all(b"PROXY TCP6 fd00::7 fd00::1 4711 443\r\n").await.unwrap();
    let io = handshake(&tls_client(&certificate, &["h2"]), io).await.unwrap();
    assert_eq!(ask_http2(io).await, "https / [fd00::7]:4711");
}

#[tokio::test(flavor = "local")]
async fn sessions_are_resumed_and_certificates_exchanged() {
    let folder = tempfile::tempdir().unwrap();
    let (old, new) = (Certificate::new("a.example"), Certificate::new("a.example"));
    let acceptor = Acceptor::load(&old.write(folder.path(), "old")).unwrap();
    let kind = ListenerKind::Https(acceptor.clone());
    let server = Server::start(Scripted::echo_target(), kind, settings(Limits::default()));
    let client = tls_client(&old, &["h2"]);
    let mut kinds = Vec::new();
    for _ in 0..2 {
        let io = handshake(&client, connect(&server).await).await.unwrap();
        kinds.push(io.get_ref().1.handshake_kind().unwrap());
        // the tickets come behind the handshake
        assert!(ask_http2(io).await.starts_with("https / "));
    }
    assert_eq!(kinds, [rustls::HandshakeKind::Full, rustls::HandshakeKind::Resumed]);
    acceptor.reload(&new.write(folder.path(), "new")).unwrap();
    handshake(&tls_client(&new, &["h2"]), connect(&server).await).await.unwrap();
    handshake(&tls_client(&old, &["h2"]), connect(&server).await).await.unwrap_err();
}

#[test]
fn only_errors_of_one_connection_are_passed_over_at_once() {
    for (number, one) in
        [(103, true), (104, true), (4, true), (24, false), (23, false), (105, false), (12, false)]
    {
        assert_eq!(concerns_one_connection(&io::Error::from_raw_os_error(number)), one, "errno {number}");
    }
}

#[tokio::test(flavor = "local")]
async fn a_cleartext_http1_task_is_small() {
    let context = CoreContext::new(
        Scripted::echo_target(),
        settings(Limits::default()),
        OpenConnections::new(),
        ConnectionCounters::new(),
    );
    let listener = bind(SocketAddr::from(LOOPBACK)).unwrap();
    let address = listener.local_addr().unwrap();
    let io = TcpStream::connect(address).await.unwrap();
    let addresses = Addresses { client: address, local: address };
    let permit = context.try_enter(1).unwrap();
    let task = opening::cleartext(io, addresses, context.settings(), context.clone(), permit);
    let size = size_of_val(&task);
    assert!(size < 6 * 1024, "{size} bytes for every idle connection");
}
