//! A source against origins that misbehave byte by byte, over loopback.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a story that goes wrong should stop there"
)]

mod balance;
mod expect;
mod faults;
mod framing;
mod heads;
mod http2;
mod interim;
mod limits;
mod pool;
mod support;
mod tls;
mod upgrade;
mod upload;
