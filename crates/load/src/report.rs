//! Report: what came of a run. Made from the merged tally by `run`; shown by `compare`, or as JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::Scenario;
use crate::tally::Tally;

/// What came of a run, the warm-up aside.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The scenario's name.
    pub name: String,
    /// Connections kept busy.
    pub connections: usize,
    /// Whole answers received, of any status.
    pub requests: u64,
    /// Requests without a whole answer.
    pub errors: Errors,
    /// Whole answers by status.
    pub by_status: BTreeMap<u16, u64>,
    /// Requests under way when the time was up; neither answers nor errors.
    pub unfinished: u64,
    /// Connections made after each client's first: the server closed one, or a request failed on it.
    pub reconnects: u64,
    /// Bytes received, heads and framing included.
    pub bytes: u64,
    /// The time measured; in JSON `duration_s`, in seconds.
    #[serde(rename = "duration_s", serialize_with = "seconds")]
    pub duration: Duration,
    /// Whole answers per second.
    pub rps: f64,
    /// From wanting to send a request, connecting included where that was needed, to the answer's last byte.
    pub latency: Latency,
    /// Each second of it, by when requests were sent.
    pub timeline: Vec<Second>,
}

/// What was sent in one second, and what became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Second {
    /// Seconds since the warm-up was over.
    pub at: u64,
    /// Whole answers, of any status.
    pub requests: u64,
    /// Requests without a whole answer, and answers that are not 2xx.
    pub failed: u64,
    /// All but one in twenty were faster; to two digits. In JSON `p95_ms`.
    #[serde(rename = "p95_ms", serialize_with = "milliseconds")]
    pub p95: Duration,
    /// The slowest, to two digits. In JSON `max_ms`.
    #[serde(rename = "max_ms", serialize_with = "milliseconds")]
    pub max: Duration,
}

/// Requests without a whole answer, by what went wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Errors {
    /// No connection could be made.
    pub connect: u64,
    /// No whole answer within the timeout.
    pub timeout: u64,
    /// The connection ended before the answer did.
    pub broke_off: u64,
    /// What came was not an answer, or came when nobody asked.
    pub malformed: u64,
}

impl Errors {
    /// All of them.
    pub const fn total(&self) -> u64 {
        self.connect + self.timeout + self.broke_off + self.malformed
    }
}

/// How long answers took; to three digits. In JSON in milliseconds, named `mean_ms` and so on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// The average.
    #[serde(rename = "mean_ms", serialize_with = "milliseconds")]
    pub mean: Duration,
    /// The fastest.
    #[serde(rename = "min_ms", serialize_with = "milliseconds")]
    pub min: Duration,
    /// Half were faster.
    #[serde(rename = "p50_ms", serialize_with = "milliseconds")]
    pub p50: Duration,
    /// Nine in ten were faster.
    #[serde(rename = "p90_ms", serialize_with = "milliseconds")]
    pub p90: Duration,
    /// All but one in twenty were faster.
    #[serde(rename = "p95_ms", serialize_with = "milliseconds")]
    pub p95: Duration,
    /// All but one in a hundred were faster.
    #[serde(rename = "p99_ms", serialize_with = "milliseconds")]
    pub p99: Duration,
    /// The slowest.
    #[serde(rename = "max_ms", serialize_with = "milliseconds")]
    pub max: Duration,
}

impl Report {
    pub(crate) fn new(scenario: &Scenario, tally: &Tally, duration: Duration) -> Self {
        let requests = tally.latencies.len();
        let rps = if duration.is_zero() { 0.0 } else { requests as f64 / duration.as_secs_f64() };
        Report {
            name: scenario.name.clone(),
            connections: scenario.connections,
            requests,
            errors: tally.errors,
            by_status: tally.statuses().collect(),
            unfinished: tally.unfinished,
            reconnects: tally.reconnects,
            bytes: tally.bytes,
            duration,
            rps,
            latency: Latency {
                mean: Duration::from_secs_f64(tally.latencies.mean() / 1e6),
                min: Duration::from_micros(tally.latencies.min()),
                p50: tally.latency_at(0.5),
                p90: tally.latency_at(0.9),
                p95: tally.latency_at(0.95),
                p99: tally.latency_at(0.99),
                max: Duration::from_micros(tally.latencies.max()),
            },
            timeline: tally.timeline.seconds(),
        }
    }

    /// Requests without a whole answer, and answers that are not 2xx.
    pub fn failed(&self) -> u64 {
        self.errors.total() + self.not_successful()
    }

    /// Whole answers whose status is not 2xx.
    pub fn not_successful(&self) -> u64 {
        self.requests - self.by_status.range(200..300).map(|(_, count)| count).sum::<u64>()
    }
}

fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64() * 1000.0)
}
