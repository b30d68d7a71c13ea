//! TLS to origins: verified, by whom, and what ALPN decides.

use std::net::Ipv4Addr;
use std::sync::Arc;

use message::{Kind, Scheme};
use plan::{Protocol, Target};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tempfile::NamedTempFile;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::support::*;

/// An HTTPS origin with a certificate for this name, and its authority as a file. Says what ALPN chose; over HTTP/2
/// too.
async fn secure(name: &str, protocols: &[&str]) -> (u16, NamedTempFile) {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let file = NamedTempFile::new().unwrap();
    std::fs::write(&file, authority.pem()).unwrap();
    let mut config =
        ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], PrivateKeyDer::Pkcs8(key.serialize_der().into()))
            .unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::task::spawn_local(async move {
        loop {
            let (tcp, _) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            tokio::task::spawn_local(async move {
                let Ok(mut tls) = acceptor.accept(tcp).await else { return };
                if tls.get_ref().1.alpn_protocol() == Some(b"h2") {
                    crate::http2::echo(tls).await;
                    return;
                }
                let mut input = Vec::new();
                while tls.read_buf(&mut input).await.unwrap_or(0) > 0 {
                    if input.ends_with(b"\r\n\r\n") {
                        let head = String::from_utf8(std::mem::take(&mut input)).unwrap();
                        let host = head.lines().find(|line| line.starts_with("host:")).unwrap().to_owned();
                        let answer =
                            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{host}", host.len());
                        tls.write_all(answer.as_bytes()).await.unwrap();
                    }
                }
            });
        }
    });
    (port, file)
}

fn secure_plan(port: u16, authority: &NamedTempFile) -> plan::HttpSource {
    let mut plan = plan(&[]);
    plan.targets = vec![Target { scheme: Scheme::Https, host: "localhost".to_owned(), port }];
    plan.authorities = Some(authority.path().to_owned());
    plan
}

#[tokio::test(flavor = "local")]
async fn a_certificate_of_a_known_authority_is_accepted() {
    let (port, authority) = secure("localhost", &["http/1.1"]).await;
    let source = source(secure_plan(port, &authority));
    for _ in 0..3 {
        let host = format!("host: localhost:{port}");
        assert_eq!(answer(&source, get("/")).await, (200, host), "an https target gets its own name");
        assert_eq!(source.idle_connections(), 1);
    }
}

#[tokio::test(flavor = "local")]
async fn another_name_or_authority_is_refused() {
    let (port, authority) = secure("other.example", &[]).await;
    let (_, unrelated) = secure("localhost", &[]).await;
    let (fine, _) = secure("localhost", &[]).await;
    for plan in [secure_plan(port, &authority), secure_plan(fine, &unrelated)] {
        let error = source(plan).send(get("/")).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Connect);
        assert!(error.detail().ends_with("the TLS handshake failed"), "{error}");
        assert!(error.to_string().contains("certificate"), "{error}");
    }
}

#[tokio::test(flavor = "local")]
async fn verification_can_be_turned_off() {
    let (port, authority) = secure("other.example", &[]).await;
    let mut plan = secure_plan(port, &authority);
    plan.verify = false;
    assert_eq!(answer(&source(plan), get("/")).await.0, 200);
}

#[tokio::test(flavor = "local")]
async fn alpn_decides_and_the_plan_may_insist() {
    let (both, authority) = secure("localhost", &["h2", "http/1.1"]).await;
    let over = async |protocol: Protocol| {
        let mut plan = secure_plan(both, &authority);
        plan.protocol = protocol;
        let source = source(plan);
        answer(&source, get("/")).await;
        answer(&source, get("/")).await.1
    };
    assert!(over(Protocol::Auto).await.starts_with("GET https://localhost"));
    assert!(over(Protocol::Http2).await.starts_with("GET https://localhost"));
    assert!(over(Protocol::Http1).await.starts_with("host: localhost"));

    let (old, authority) = secure("localhost", &["http/1.1"]).await;
    let auto = source(secure_plan(old, &authority));
    assert!(answer(&auto, get("/")).await.1.starts_with("host: localhost"));
    assert!(answer(&auto, get("/")).await.1.starts_with("host: localhost"));
    let mut plan = secure_plan(old, &authority);
    plan.protocol = Protocol::Http2;
    assert_eq!(source(plan).send(get("/")).await.unwrap_err().kind(), Kind::Connect);
}

#[tokio::test(flavor = "local")]
async fn many_first_requests_make_one_http2_connection() {
    let (port, authority) = secure("localhost", &["h2"]).await;
    let source = source(secure_plan(port, &authority));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let source = source.clone();
        tasks.spawn_local(async move { answer(&source, get("/")).await.0 });
    }
    while let Some(status) = tasks.join_next().await {
        assert_eq!(status.unwrap(), 200);
    }
    assert_eq!(source.idle_connections(), 1);
}

#[test]
fn faults_of_authorities_files_are_told() {
    let fault = |text: &str| {
        let file = NamedTempFile::new().unwrap();
        std::fs::write(&file, text).unwrap();
        let error = source::SharedOrigin::new(Arc::new(secure_plan(1, &file))).err().unwrap();
        assert_eq!(error.kind(), Kind::Internal);
        error.detail().replace(&file.path().display().to_string(), "FILE")
    };
    assert_eq!(fault(""), "source api: the authorities file FILE holds no certificate");
    let nonsense = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    assert_eq!(
        fault(nonsense),
        "source api: the authorities file FILE holds a certificate that is no authority"
    );
}
