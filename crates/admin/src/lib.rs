//! The admin port: whether the process lives and is ready, and what it counted. It has its own listener and never
//! answers on a data port.
//!
//! `server` makes an [`Admin`] from its [`Metrics`](telemetry::Metrics) and a [`Readiness`], and runs [`serve`] on a
//! thread with a runtime of its own, so that a core that is busy does not make the process look dead, and a scrape
//! does not make a request wait. Readers only in this version: `GET` and `HEAD`.

mod answers;
mod readiness;
mod serve;

pub use answers::Admin;
pub use readiness::{Check, Finding, Readiness, Report};
pub use serve::serve;
