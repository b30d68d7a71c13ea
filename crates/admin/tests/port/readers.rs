//! What needs no token: life, readiness, metrics; and what holds for every connection.

use admin::Check;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::running::{InJson, PATIENCE, start};

#[tokio::test]
async fn lives_and_shows_what_there_is() {
    let running = start().await;
    let live = running.ask("GET", "/livez").await;
    assert_eq!((live.status, live.text().as_str()), (200, r#"{"live":true}"#));
    assert_eq!(live.field("cache-control"), Some("no-store"));
    let index = running.ask("GET", "/").await;
    assert_eq!(index.status, 200);
    assert!(index.field("content-type").unwrap().starts_with("text/plain"));
    assert!(index.text().contains("/metrics"));
}

#[tokio::test]
async fn readiness_names_what_is_missing() {
    let running = start().await;
    let starting = running.ask("GET", "/readyz").await;
    assert_eq!(starting.status, 503);
    assert_eq!(
        starting.text(),
        r#"{"ready":false,"missing":[{"check":"started","missing":"still starting"}]}"#
    );

    running.readiness.set_started();
    let ready = running.ask("GET", "/readyz").await;
    assert_eq!((ready.status, ready.text().as_str()), (200, r#"{"ready":true}"#));

    running
        .readiness
        .set_checks([Check::new("source api", || Err("none of its 2 targets is healthy".to_owned()))]);
    let unhealthy = running.ask("GET", "/readyz?verbose").await;
    assert_eq!(unhealthy.status, 503);
    let json = unhealthy.json();
    assert_eq!(json["missing"][0]["check"], "source api");
    assert_eq!(json["checks"].as_array().unwrap().len(), 3);

    running.readiness.set_checks([]);
    running.readiness.set_draining();
    assert_eq!(running.ask("GET", "/readyz").await.status, 503);
    assert_eq!(running.ask("GET", "/livez").await.status, 200, "draining is still living");
}

#[tokio::test]
async fn metrics_have_their_media_type() {
    let running = start().await;
    let metrics = running.ask("GET", "/metrics").await;
    assert_eq!(metrics.status, 200);
    let media_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(metrics.field("content-type"), Some(media_type));
    let text = metrics.text();
    assert!(text.contains("fleetfoot_requests_total{cache=\"hit\"} 0\n") && text.ends_with("# EOF\n"));
}

#[tokio::test]
async fn head_has_the_head_alone() {
    let running = start().await;
    for target in ["/", "/livez", "/metrics"] {
        let head = running.ask("HEAD", target).await;
        assert_eq!((head.status, head.text().as_str()), (200, ""), "{target}");
    }
}

#[tokio::test]
async fn the_rest_is_refused_with_a_reason() {
    let running = start().await;
    for target in ["/nothing", "/metrics/", "/metrics/x", "/Livez", "/%6divez"] {
        let unknown = running.ask("GET", target).await;
        assert_eq!(unknown.status, 404, "{target}");
        assert_eq!(unknown.json()["error"], "not-found");
    }
    for method in ["POST", "PUT", "DELETE", "PURGE", "OPTIONS", "TRACE"] {
        let refused = running.ask(method, "/metrics").await;
        assert_eq!(refused.status, 405, "{method}");
        assert_eq!(refused.json()["error"], "method-not-allowed");
        assert_eq!(refused.field("allow"), Some("GET,HEAD"));
    }
}

#[tokio::test]
async fn a_connection_carries_one_request() {
    let running = start().await;
    let text =
        running.send(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(text.matches("HTTP/1.1 200").count(), 1);
    assert!(text.contains("connection: close"));
}

#[tokio::test]
async fn content_is_not_read_and_garbage_is_refused() {
    let running = start().await;
    let text = running.send(b"GET /livez HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n").await;
    assert!(text.starts_with("HTTP/1.1 200"), "{text}");
    assert!(running.send(b"\0\0\r\n\r\n").await.starts_with("HTTP/1.1 400"));
    let fields = "x: y\r\n".repeat(200);
    let text = running.send(format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n").as_bytes()).await;
    assert!(text.starts_with("HTTP/1.1 431"), "{text}");
}

#[tokio::test]
async fn a_head_over_the_limit_is_refused() {
    let running = start().await;
    // The server stops reading and closes: our write may fail, and the answer may be lost to a reset.
    let answer =
        running.send(format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(1 << 20)).as_bytes()).await;
    assert!(!answer.starts_with("HTTP/1.1 200"));
    assert_eq!(running.ask("GET", "/livez").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_says_nothing_is_let_go() {
    let running = start().await;
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(running.connect().await);
    }
    // More silent clients than there are places; time runs by itself while all wait.
    assert_eq!(running.ask("GET", "/livez").await.status, 200);
}

#[tokio::test]
async fn stops_when_told() {
    let running = start().await;
    assert_eq!(running.ask("GET", "/livez").await.status, 200);
    running.stop.send(()).unwrap();
    timeout(PATIENCE, running.server).await.expect("it ends").unwrap();
    assert!(TcpStream::connect(running.address).await.is_err());
}
