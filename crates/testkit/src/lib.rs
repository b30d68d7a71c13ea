//! For tests and benchmarks only: origins that misbehave byte by byte, clients that speak raw bytes, a running fleetfoot,
//! real Redis, MariaDB and PostgreSQL servers and a slow link to them.
//!
//! Everything but [`AsyncClient`] blocks, with a deadline: a test reads from top to bottom. Nothing sleeps: what has to wait
//! for another waits at a [`Gate`], or until the other has recorded something. Whatever goes wrong panics and shows the
//! bytes.
#![allow(clippy::panic, reason = "a test kit panics when a test should fail")]

mod binary;
mod certificate;
mod client;
mod command;
mod databases;
mod dates;
mod fleetfoot;
mod footprint;
mod gate;
mod head;
mod lines;
mod metrics;
mod origin;
mod patience;
mod port;
mod process;
mod redis;
mod slow_link;
mod token_signer;

pub use binary::{Finished, program, run_to_end};
pub use certificate::Certificate;
pub use client::{
    Answer, AsyncClient, Broken, END_HEADERS, END_STREAM, Http2Client, Http2Exchange, Http2Frames, Outcome,
    RawClient, block,
};
pub use command::Command;
pub use databases::{MariaDb, Postgres};
pub use dates::http_date;
pub use fleetfoot::Fleetfoot;
pub use footprint::Footprint;
pub use gate::Gate;
pub use head::Head;
pub use lines::Lines;
pub use metrics::Metrics;
pub use origin::{Conversation, Http2Origin, On, Origin, Received, Script, not_modified, ok, status};
pub use patience::wait_until;
pub use port::Port;
pub use redis::{RedisClient, RedisCluster, RedisOptions, RedisSentinel, RedisServer, Reply};
pub use slow_link::SlowLink;
pub use token_signer::{TokenSigner, base64url};

use std::time::Duration;

/// How long anything may take before a test fails. Generous: the machine is busy with other tests.
pub const DEADLINE: Duration = Duration::from_secs(20);
