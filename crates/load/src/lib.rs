//! A load generator: a [`Scenario`] comes in, a [`Report`] goes out. Used by `fleetfoot demo` and by the benchmarks.
//!
//! Closed loop: each of N connections sends a request, waits for the whole answer, and sends the next. So latencies
//! are those of N patient clients; a server that stalls is asked less, which an open loop would not forgive
//! (coordinated omission). With [`Think`] they are users, who pause after each walk through the list. Always bounded: by a duration, a timeout for each request, and a number of requests if
//! one is given.
//!
//! The way of a run: `scenario` is checked, `target` turns its URLs into addresses and ready request bytes, `run`
//! starts the threads, `worker` one runtime on each, `client` asks over its connection, `answer` and `chunks` find
//! where each answer ends, `think` says when a user asks again, `tally` counts, each second apart in `timeline`, and
//! `report` says what came of it.
//!
//! It does not use the codec of the proxy, so that a mistake there is not measured away here.

mod alarm;
mod answer;
mod chunks;
mod client;
mod compare;
mod error;
mod figures;
mod inbox;
mod report;
mod run;
mod scenario;
mod tally;
mod target;
mod think;
mod timeline;
mod worker;

pub use compare::{Comparison, table};
pub use error::Error;
pub use report::{Errors, Latency, Report, Second};
pub use run::{Phase, Progress, run, run_with_progress};
pub use scenario::Scenario;
pub use think::Think;
