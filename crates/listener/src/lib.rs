//! Sockets → requests: accept, PROXY protocol, TLS, HTTP/1.1, HTTP/2, upgrade.
//!
//! The server makes one [`CoreContext`] per core and starts a [`Listener`] for each address on it; connections then
//! run as tasks of that core and call the [`Handler`]. What the cores share is the [`OpenConnections`] (how many connections are
//! open) and the [`Acceptor`] (certificates).
//!
//! ```text
//! accept → opening ─┬─ proxy_protocol ─┬─ tls ──┬─→ http1
//!                   └──────────────────┴─ preface ─→ http2
//! ```

mod accept;
mod connection;
mod context;
mod counters;
mod date;
mod drain;
mod early;
mod handler;
mod http1;
mod http2;
mod open_connections;
mod opening;
mod preface;
mod proxy_protocol;
mod tls;
mod trust;

pub use accept::{Listener, ListenerKind, bind, ensure_free};
pub use context::{CoreContext, Settings};
pub use counters::{ConnectionCounters, Event};
pub use date::write as write_date;
pub use handler::Handler;
pub use open_connections::OpenConnections;
pub use tls::{Acceptor, TlsError};

#[cfg(test)]
mod testing;
