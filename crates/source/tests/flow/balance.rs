//! Several targets: sharing, failing over, health checks.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use message::Kind;
use plan::Health;
use source::{HttpSource, SharedOrigin, check_health};
use testkit::Port;

use crate::support::*;

const A: &str = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na";
const B: &str = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb";

#[tokio::test(flavor = "local")]
async fn targets_take_turns() {
    let source = source(plan(&[always(A).await, always(B).await]));
    let mut got = String::new();
    for _ in 0..6 {
        got += &answer(&source, get("/")).await.1;
    }
    assert!(got == "ababab" || got == "bababa", "{got}");
}

#[tokio::test(flavor = "local")]
async fn a_dead_target_costs_no_request_not_even_a_post() {
    let nobody = Port::reserve();
    let plan = plan(&[nobody.number(), always(B).await]);
    let shared = SharedOrigin::new(Arc::new(plan)).unwrap();
    let source = HttpSource::new(Arc::clone(&shared));
    for _ in 0..6 {
        assert_eq!(answer(&source, post(whole("data"))).await.1, "b");
    }
    let health: Vec<_> = shared.health().into_iter().map(|(_, is_up)| is_up).collect();
    assert_eq!(health, [false, true]);
}

#[tokio::test(flavor = "local")]
async fn when_all_are_dead_the_last_failure_is_told() {
    let nobody = [Port::reserve(), Port::reserve()];
    let source = source(plan(&nobody.each_ref().map(Port::number)));
    for _ in 0..2 {
        assert_eq!(source.send(get("/")).await.unwrap_err().kind(), Kind::Connect);
    }
}

#[tokio::test(flavor = "local")]
async fn a_target_that_dies_with_pooled_connections_is_failed_over() {
    let dead = Rc::new(Cell::new(false));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let is_dead = Rc::clone(&dead);
    let serving = tokio::task::spawn_local(serve(listener, move |_, mut peer| {
        let dead = Rc::clone(&is_dead);
        async move {
            while !peer.head().await.is_empty() && !dead.get() {
                peer.send(A).await;
            }
        }
    }));
    let source = source(plan(&[port, always(B).await]));
    for _ in 0..4 {
        answer(&source, get("/")).await;
    }
    dead.set(true);
    serving.abort();
    let _cancelled = serving.await;
    for _ in 0..4 {
        assert_eq!(answer(&source, get("/")).await.1, "b");
    }
}

#[tokio::test(flavor = "local")]
async fn health_checks_take_a_target_out_and_bring_it_back() {
    let well = Rc::new(Cell::new(true));
    let is_well = Rc::clone(&well);
    let port = origin(move |_, mut peer| {
        let well = Rc::clone(&is_well);
        async move {
            loop {
                let head = peer.head().await;
                if head.is_empty() {
                    return;
                }
                let is_check = head.starts_with("GET /health HTTP/1.1\r\n");
                peer.send(if is_check && !well.get() {
                    "HTTP/1.1 503 Sick\r\nContent-Length: 0\r\n\r\n"
                } else {
                    A
                })
                .await;
            }
        }
    })
    .await;
    let mut plan = plan(&[port, always(B).await]);
    plan.health = Some(Health {
        method: Method::GET,
        target: "/health".to_owned(),
        interval: Duration::from_millis(5),
        timeout: Duration::from_secs(2),
        unhealthy_after: 2,
        healthy_after: 2,
    });
    let shared = SharedOrigin::new(Arc::new(plan)).unwrap();
    let source = HttpSource::new(Arc::clone(&shared));
    tokio::task::spawn_local(check_health(Arc::clone(&shared)));
    let until = async |first: bool| {
        while shared.health()
            != [(format!("http://127.0.0.1:{port}"), first), (shared.health()[1].0.clone(), true)]
        {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    well.set(false);
    tokio::time::timeout(Duration::from_secs(10), until(false)).await.unwrap();
    for _ in 0..4 {
        assert_eq!(answer(&source, get("/")).await.1, "b");
    }
    well.set(true);
    tokio::time::timeout(Duration::from_secs(10), until(true)).await.unwrap();
    let (one, two) = (answer(&source, get("/")).await.1, answer(&source, get("/")).await.1);
    assert_ne!(one, two, "both take part again");
}

#[tokio::test(flavor = "local")]
async fn when_the_checks_find_all_down_nothing_is_sent() {
    let nobody = Port::reserve();
    let mut plan = plan(&[nobody.number()]);
    plan.health = Some(Health {
        method: Method::HEAD,
        target: "/".to_owned(),
        interval: Duration::from_millis(5),
        timeout: Duration::from_secs(2),
        unhealthy_after: 1,
        healthy_after: 1,
    });
    let shared = SharedOrigin::new(Arc::new(plan)).unwrap();
    tokio::task::spawn_local(check_health(Arc::clone(&shared)));
    let source = HttpSource::new(Arc::clone(&shared));
    let all_down = async {
        loop {
            match source.send(get("/")).await.unwrap_err().kind() {
                Kind::NoHealthyTarget => break,
                kind => assert_eq!(kind, Kind::Connect),
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), all_down).await.unwrap();
}
