//! What happened, counted and logged.
//!
//! `server` makes one [`Metrics`] for the process and one [`Recorder`] per core, and hands every finished
//! [`Exchange`] to its core's recorder: a few additions to counters that no other core writes and, where an access log
//! is wanted, one line into the core's buffer. What others count they give as [`Family`], when `admin` asks
//! [`Metrics::render`] for all of it as text.

mod access_log;
mod config_loads;
mod counter;
mod counts;
mod date;
mod exchange;
mod family;
mod histogram;
mod json_line;
mod line;
mod metrics;
mod outcome;
mod owners;
mod purges;
mod reasons;
mod recorder;
mod redacted;
mod render;
#[cfg(test)]
mod samples;
mod text_line;

pub use access_log::AccessLog;
pub use date::date;
pub use exchange::Exchange;
pub use family::{Family, Value};
pub use metrics::{Errand, Metrics};
pub use outcome::CacheResult;
pub use purges::PurgeKind;
pub use recorder::Recorder;
pub use redacted::redacted;
