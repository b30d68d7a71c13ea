//! The API as its clients see it: over sockets, in paused time, so that the 200 ms pass at once.

#![allow(clippy::unwrap_used)] // in a test, a panic is the report

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use demo_api::{Counts, Endpoint};
use testkit::{Answer, AsyncClient};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;

struct Running {
    address: SocketAddr,
    counts: Counts,
    stop: oneshot::Sender<()>,
    served: JoinHandle<io::Result<()>>,
}

fn start() -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let counts = Counts::new();
    let (stop, stopped) = oneshot::channel();
    let shutdown = async move {
        let _ = stopped.await;
    };
    let served = tokio::spawn(demo_api::serve(listener, counts.clone(), shutdown));
    Running { address, counts, stop, served }
}

/// Asks on a connection of its own, on which nothing follows the answer; and how long it took.
async fn ask(address: SocketAddr, request_line: &str) -> (Answer, Duration) {
    let start = Instant::now();
    let mut client = AsyncClient::connect(address).await;
    let request = format!("{request_line} HTTP/1.1\r\nHost: demo\r\nConnection: close\r\n\r\n");
    let answer = client.ask(request).await;
    assert!(client.is_closed().await, "{answer:?}");
    (answer, start.elapsed())
}

fn assert_answer(answer: &Answer, status: u16, cache_control: &str, body: &str) {
    assert_eq!((answer.status, answer.field("cache-control")), (status, Some(cache_control)), "{answer:?}");
    assert!(answer.text().contains(body), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn the_root_is_slow_and_not_to_be_stored() {
    let api = start();
    let (answer, took) = ask(api.address, "GET /").await;
    assert_answer(&answer, 200, "no-store", r#"{"result":"ok"}"#);
    assert_eq!(answer.field("content-type"), Some("application/json"));
    assert_eq!(answer.field("content-length"), Some("15"));
    assert!(took >= Duration::from_millis(200), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn the_cache_is_as_slow_but_good_for_five_seconds() {
    let api = start();
    let (answer, took) = ask(api.address, "GET /cache?page=1").await;
    assert_answer(&answer, 200, "public, max-age=5", r#"{"result":"ok"}"#);
    assert!(took >= Duration::from_millis(200), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_timeout_takes_as_long_as_asked() {
    let api = start();
    let (answer, took) = ask(api.address, "GET /timeout?t=30s").await;
    assert_answer(&answer, 200, "no-store", "ok");
    assert!(took >= Duration::from_secs(30), "{took:?}");
}

#[tokio::test]
async fn work_keeps_a_core_busy_for_as_long_as_asked() {
    let api = start();
    let (answer, took) = ask(api.address, "GET /simulate-cpu?t=50ms").await;
    assert_answer(&answer, 200, "no-store", "ok");
    assert!(took >= Duration::from_millis(50), "{took:?}");
}

#[tokio::test]
async fn work_nobody_waits_for_any_more_is_given_up() {
    let api = start();
    for asked in 1..=64 {
        let mut client = AsyncClient::connect(api.address).await;
        client.send("GET /simulate-cpu?t=10s HTTP/1.1\r\nHost: demo\r\n\r\n").await;
        while api.counts.of(Endpoint::SimulateCpu) < asked {
            tokio::task::yield_now().await;
        }
    }
    let (answer, took) = ask(api.address, "GET /simulate-cpu?t=1ms").await;
    assert_answer(&answer, 200, "no-store", "ok");
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[tokio::test]
async fn errors_come_with_the_status_asked_for() {
    let api = start();
    let (answer, _) = ask(api.address, "GET /error/503").await;
    assert_answer(&answer, 503, "no-store", r#""error":"Service Unavailable""#);
    let (answer, _) = ask(api.address, "GET /error/204").await;
    assert_answer(&answer, 204, "no-store", "");
}

#[tokio::test]
async fn tags_and_sizes_are_those_asked_for() {
    let api = start();
    let (answer, _) = ask(api.address, "GET /tagged?tags=news,user-7&size=2000").await;
    assert_answer(&answer, 200, "public, max-age=60", r#"{"filler":"xxx"#);
    assert_eq!(answer.field("cache-tag"), Some("news,user-7"));
    assert_eq!(answer.field("content-length"), Some("2000"));
    let (answer, _) = ask(api.address, "GET /tagged").await;
    assert_answer(&answer, 200, "public, max-age=60", r#"{"filler":""}"#);
    assert!(!answer.has("cache-tag"), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn games_and_leagues_say_nothing_of_caching() {
    let api = start();
    for (path, content) in [
        ("/games", r#"[{"id":1,"version":1,"#),
        ("/games/7", r#"{"id":7,"version":1,"#),
        ("/leagues/3", r#"{"id":3,"games":[{"#),
    ] {
        let (answer, took) = ask(api.address, &format!("GET {path}")).await;
        assert!(answer.status == 200 && answer.text().contains(content), "{path}");
        assert!(!answer.has("cache-control") && !answer.has("set-cookie"), "{answer:?}");
        assert!(took >= Duration::from_millis(40), "{path}: {took:?}");
    }
    for path in ["/games/0", "/games/1201", "/games/x", "/leagues/25"] {
        assert_eq!(ask(api.address, &format!("GET {path}")).await.0.status, 404, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_changed_game_is_seen_by_whoever_asks_next() {
    let api = start();
    let (answer, _) = ask(api.address, "PUT /games/7").await;
    assert_answer(&answer, 200, "no-store", r#"{"version":2}"#);
    for path in ["/games", "/games/7", "/leagues/8"] {
        let (answer, _) = ask(api.address, &format!("GET {path}")).await;
        assert!(answer.text().contains(r#""id":7,"version":2,"#), "{path}");
    }
    assert_eq!(ask(api.address, "PUT /games/0").await.0.status, 404);
    assert_eq!((api.counts.of(Endpoint::GameChange), api.counts.of(Endpoint::Game)), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn what_a_page_is_made_of_takes_its_time_or_the_one_asked_for() {
    let api = start();
    for (path, usual, says) in [
        ("/user/42", 40, r#""id":42"#),
        ("/orders/42", 120, r#""user":42"#),
        ("/news/42", 80, r#""reader":42"#),
        ("/weather/42", 200, r#""hours":"#),
        ("/trends/api/realtimetrends?hl=ko", 300, "날씨"),
    ] {
        let (answer, took) = ask(api.address, &format!("GET {path}")).await;
        assert!(answer.status == 200 && answer.text().contains(says), "{answer:?}");
        assert!(!answer.has("cache-control"), "{answer:?}");
        assert!(took >= Duration::from_millis(usual), "{path}: {took:?}");
        let separator = if path.contains('?') { '&' } else { '?' };
        let (same, took) = ask(api.address, &format!("GET {path}{separator}t=2s")).await;
        assert_eq!(same.text(), answer.text());
        assert!(took >= Duration::from_secs(2), "{path}: {took:?}");
    }
    for (path, status) in [("/user/x", 404), ("/user/42?t=1h", 400), ("/trends/api/realtimetrends?t=", 400)] {
        let (answer, _) = ask(api.address, &format!("GET {path}")).await;
        assert_eq!(answer.status, status, "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_crowd_waits_for_the_database() {
    let api = start();
    let asking: Vec<_> = (0..50).map(|_| tokio::spawn(ask(api.address, "GET /leagues/3"))).collect();
    let mut longest = Duration::ZERO;
    for task in asking {
        longest = longest.max(task.await.unwrap().1);
    }
    // 50 queries of 250 ms over two connections.
    assert!(longest >= Duration::from_secs(5), "{longest:?}");
    let (_, alone) = ask(api.address, "GET /leagues/3").await;
    assert!(alone < Duration::from_secs(1), "{alone:?}");
}

#[tokio::test]
async fn bad_parameters_are_explained() {
    let api = start();
    for (request_line, explanation) in [
        ("GET /timeout", "t is missing"),
        ("GET /timeout?t=soon", "500ms"),
        ("GET /timeout?t=61s", "at most 60 s"),
        ("GET /timeout?t=1s&t=2s", "duplicate"),
        ("GET /simulate-cpu?t=11s", "at most 10 s"),
        ("GET /tagged?size=1", "like ?size=2000"),
        ("GET /tagged?size=1048577", "to 1048576"),
        ("GET /tagged?tags=a%0d%0ab", "like ?tags=a,b"),
        ("GET /error/101", "200 to 599"),
        ("GET /error/600", "200 to 599"),
        ("GET /error/teapot", "200 to 599"),
    ] {
        let (answer, _) = ask(api.address, request_line).await;
        assert_answer(&answer, 400, "no-store", explanation);
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_refused_in_json() {
    let api = start();
    let (answer, _) = ask(api.address, "GET /nowhere").await;
    assert_answer(&answer, 404, "no-store", r#"{"error":"no such path"#);
    let (answer, _) = ask(api.address, "DELETE /cache").await;
    assert_answer(&answer, 405, "no-store", r#"{"error":"only GET"#);
    assert_eq!(api.counts.of(Endpoint::Other), 2);
    assert_eq!(api.counts.of(Endpoint::Cache), 0);
}

#[tokio::test(start_paused = true)]
async fn the_stats_say_how_many_requests_came_this_far() {
    let api = start();
    for request_line in ["GET /cache", "GET /cache?n=2", "HEAD /cache", "GET /healthz", "GET /favicon.ico"] {
        ask(api.address, request_line).await;
    }
    let (answer, _) = ask(api.address, "GET /stats").await;
    assert_answer(&answer, 200, "no-store", r#""/cache":3"#);
    assert_answer(&answer, 200, "no-store", r#""/healthz":1"#);
    assert_answer(&answer, 200, "no-store", r#""other":1"#);
    assert_eq!(api.counts.total(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_at_once_wait_together() {
    let api = start();
    let begin = Instant::now();
    let asking: Vec<_> = (0..1000).map(|_| tokio::spawn(ask(api.address, "GET /cache"))).collect();
    for task in asking {
        let (answer, _) = task.await.unwrap();
        assert_answer(&answer, 200, "public, max-age=5", "ok");
    }
    assert_eq!(api.counts.of(Endpoint::Cache), 1000);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

#[tokio::test(start_paused = true)]
async fn stopping_lets_requests_under_way_finish_but_not_for_long() {
    let api = start();
    let quick = tokio::spawn(ask(api.address, "GET /cache"));
    let mut slow = AsyncClient::connect(api.address).await;
    slow.send("GET /timeout?t=60s HTTP/1.1\r\nHost: demo\r\n\r\n").await;
    while api.counts.total() < 2 {
        tokio::task::yield_now().await;
    }
    let begin = Instant::now();
    api.stop.send(()).unwrap();
    api.served.await.unwrap().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    let (answer, _) = quick.await.unwrap();
    assert_answer(&answer, 200, "public, max-age=5", "ok");
}
