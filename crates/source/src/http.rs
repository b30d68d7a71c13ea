//! HTTP sources. In: a [`message::Request`]. Out: a [`message::Response`] whose body is still arriving. Called by
//! whoever walks the rooms (`server`), by the cache for its fills, and by the health checks in here.
//!
//! A request goes through these files: `send` → `outgoing` (with `forwarded`) → `choose` (with `health`) → `origin` →
//! `connect` (`name`, `dns`, `dial`, `tls`) or `pool` → `exchange` (`upload`) → `answer`; or, over HTTP/2,
//! `http2_session` → `http2_exchange` (`http2_upload`) → `http2_answer`.

mod answer;
mod check;
mod choose;
mod connect;
mod connection;
mod dial;
mod dns;
mod exchange;
mod forwarded;
mod health;
mod http2_answer;
mod http2_exchange;
mod http2_session;
mod http2_upload;
mod name;
mod origin;
mod outgoing;
mod pool;
mod send;
mod shared_origin;
mod tether;
mod tls;
mod transport;
mod upgrade;
mod upload;

pub use check::check_health;
pub use send::HttpSource;
pub use shared_origin::SharedOrigin;
