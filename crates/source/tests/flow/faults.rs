//! Targets that cannot be reached.

use message::{Kind, Retry, Scheme};
use plan::Target;
use testkit::Port;

use crate::support::*;

#[tokio::test(flavor = "local")]
async fn a_refused_connection_names_the_target_and_may_be_retried() {
    let nobody = Port::reserve();
    let port = nobody.number();
    let error = source_at(port).send(get("/")).await.unwrap_err();
    assert_eq!((error.kind(), error.may_retry()), (Kind::Connect, Retry::Always));
    assert_eq!(error.detail(), format!("http://127.0.0.1:{port}: no connection could be made"));
    assert!(error.is_disconnection());
}

#[tokio::test(flavor = "local")]
async fn localhost_needs_no_dns() {
    let port = always("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    for host in ["localhost", "api.localhost"] {
        let mut plan = plan(&[]);
        plan.targets = vec![Target { scheme: Scheme::Http, host: host.to_owned(), port }];
        assert_eq!(answer(&source(plan), get("/")).await, (200, "ok".to_owned()));
    }
}

#[tokio::test(flavor = "local")]
async fn a_name_that_is_no_name_does_not_resolve() {
    let mut plan = plan(&[]);
    plan.targets = vec![Target { scheme: Scheme::Http, host: "no..name".to_owned(), port: 80 }];
    let error = source(plan).send(get("/")).await.unwrap_err();
    assert_eq!((error.kind(), error.may_retry()), (Kind::Resolve, Retry::Always));
}

#[tokio::test(flavor = "local")]
async fn a_handshake_without_end_is_a_connect_timeout() {
    let port = origin(|_, mut peer| async move {
        peer.bytes(1).await;
        tokio::time::pause();
        peer.closed().await;
    })
    .await;
    let mut plan = plan(&[]);
    plan.targets = vec![Target { scheme: Scheme::Https, ..target(port) }];
    plan.verify = false;
    let error = source(plan).send(get("/")).await.unwrap_err();
    assert_eq!((error.kind(), error.may_retry()), (Kind::ConnectTimeout, Retry::Always));
    assert_eq!(error.detail(), format!("https://127.0.0.1:{port}: the TLS handshake took longer than 5s"));
}
