//! What happened, counted and logged.
//!
//! `server` makes one [`Metrics`] for the process and one [`Recorder`] per core, and hands every finished
//! [`Exchange`] to its core's recorder: a few additions to counters that no other core writes and, where an access log
//! is wanted, one line into the core's buffer. `admin` asks [`Metrics::render`] for all of it as text.

mod access_log;
mod counter;
mod counts;
mod date;
mod exchange;
mod gauges;
mod histogram;
mod json_line;
mod line;
mod metrics;
mod outcome;
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
pub use gauges::{Family, Reading, RedisFigures, TargetHealth, TrackedFigures};
pub use metrics::{Errand, Metrics};
pub use outcome::CacheResult;
pub use purges::PurgeKind;
pub use recorder::Recorder;
pub use redacted::redacted;
