//! What a link promises, tried against real servers that are started here, stopped, killed and promoted.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are not inside #[test]")]

mod cluster;
mod listening;
mod sentinel;
mod standalone;
mod tls;
mod trouble;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plan::{Login, ReadMode, RedisSource, RedisTier, Token, Topology};
use redis_link::{Cmd, Link, SharedLink, Value, cmd};
use tokio::runtime::{Builder, LocalOptions};

/// Runs a story as a core does: on a runtime whose futures stay on their thread.
fn on_a_core<F: Future>(story: F) -> F::Output {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).unwrap();
    runtime.block_on(story)
}

const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
const TIMEOUT: Duration = Duration::from_millis(200);

fn plan(topology: Topology) -> RedisSource {
    RedisSource {
        name: "central".to_owned(),
        topology,
        login: Login::default(),
        database: 0,
        verify: true,
        authorities: None,
        connect_timeout: CONNECT_TIMEOUT,
        timeout: TIMEOUT,
        rest: Duration::from_secs(5),
        mode: ReadMode::Central,
        memory: 1 << 20,
        public: false,
        max_stale: Duration::ZERO,
        tier: RedisTier {
            prefix: "fleetfoot:".to_owned(),
            lock: Duration::from_secs(1),
            largest: 1 << 20,
            unheard: Duration::from_secs(1),
        },
    }
}

fn tcp(port: u16) -> plan::RedisServer {
    plan::RedisServer::Tcp { host: "127.0.0.1".to_owned(), port, tls: false }
}

fn standalone(port: u16) -> RedisSource {
    plan(Topology::Standalone(tcp(port)))
}

fn login(plan: RedisSource, user: Option<&str>, password: &str) -> RedisSource {
    let login = Login { user: user.map(str::to_owned), password: Some(Token::new(password.to_owned())) };
    RedisSource { login, ..plan }
}

fn link(plan: RedisSource) -> Link {
    Link::new(SharedLink::new(Arc::new(plan)).unwrap())
}

fn set(key: &str, value: &str) -> Cmd {
    let mut command = cmd("SET");
    command.arg(key).arg(value);
    command
}

fn get(key: &str) -> Cmd {
    let mut command = cmd("GET");
    command.arg(key);
    command
}

fn text(value: &str) -> Value {
    Value::BulkString(value.as_bytes().to_vec())
}

/// Asks until it succeeds; fails when that takes too long.
async fn until_ok(link: &Link, command: &Cmd, most: Duration) -> Value {
    let deadline = Instant::now() + most;
    loop {
        match link.ask(command).await {
            Ok(value) => return value,
            Err(error) => assert!(Instant::now() < deadline, "still failing: {error}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
