//! Connections of one's own: blocking, and being told of changes.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use message::Kind;
use redis_link::{PushKind, Value, cmd, pipe};
use testkit::{RedisServer, wait_until};

use crate::{get, link, on_a_core, set, standalone, text};

const LONG: Duration = Duration::from_secs(5);

#[test]
fn what_blocks_keeps_nobody_else_waiting() {
    let server = RedisServer::start();
    on_a_core(async {
        let link = link(standalone(server.port()));
        let mut dedicated = link.dedicated().await.unwrap();
        let mut read = cmd("XREAD");
        read.arg("BLOCK").arg(0).arg("STREAMS").arg("purges").arg("$");
        let writing = async {
            // Longer than the plan's timeout, which does not matter here.
            tokio::time::sleep(Duration::from_millis(300)).await;
            link.ask(cmd("XADD").arg("purges").arg("*").arg("tag").arg("news")).await
        };
        let (heard, written) = tokio::join!(dedicated.ask(&read, LONG), writing);
        written.unwrap();
        assert!(matches!(heard.unwrap(), Value::Map(_)));

        let begun = Instant::now();
        let error = dedicated.ask(&read, Duration::from_millis(100)).await.unwrap_err();
        assert_eq!(error.kind(), Kind::SourceTimeout);
        assert!(begun.elapsed() < Duration::from_secs(1));
    });
}

#[test]
fn changes_are_told_before_later_replies_and_the_end_is_told_too() {
    let server = RedisServer::start();
    on_a_core(async {
        let link = link(standalone(server.port()));
        let heard = Arc::new(Mutex::new(Vec::new()));
        let writing = Arc::clone(&heard);
        let mut listener = link.listening(move |push| writing.lock().unwrap().push(push.kind)).await.unwrap();
        let mut tracking = pipe();
        tracking.cmd("CLIENT").arg("TRACKING").arg("ON").arg("BCAST");
        listener.ask_all(&tracking, LONG).await.unwrap();
        for round in 1..=200 {
            link.ask(&set("a", "1")).await.unwrap();
            // The server has written the change before this reply, so whoever has the reply has been told.
            assert_eq!(listener.ask(&get("a"), LONG).await.unwrap(), text("1"));
            let told = heard.lock().unwrap().clone();
            assert_eq!(told, vec![PushKind::Invalidate; round]);
        }
        server.kill();
        let deadline = Instant::now() + LONG;
        while heard.lock().unwrap().last() != Some(&PushKind::Disconnection) {
            assert!(Instant::now() < deadline);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(listener.ask(&get("a"), LONG).await.unwrap_err().kind(), Kind::BrokeOff);
    });
}

#[test]
fn a_dropped_connection_is_closed() {
    let server = RedisServer::start();
    on_a_core(async {
        let dedicated = link(standalone(server.port())).dedicated().await.unwrap();
        wait_until("listed", || server.clients().len() == 1);
        drop(dedicated);
        tokio::task::yield_now().await;
        wait_until("gone", || server.clients().is_empty());
    });
}
