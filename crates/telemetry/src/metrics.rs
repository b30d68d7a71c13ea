//! Metrics: every figure of the process. Made once by `server`, shared by its recorders and the admin port.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use message::{Clock, Timestamp};

use crate::access_log::{AccessLog, Output};
use crate::counts::Core;
use crate::gauges::{Family, Gauges, Reading, RedisFigures, TargetHealth};
use crate::purges::{PurgeKind, Purges};
use crate::render;

/// Why something was fetched without a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Errand {
    /// Somebody had the cache warmed.
    Warm,
    /// What was used most, after a purge.
    Refresh,
    /// Somebody asked for an explanation.
    Explain,
}

impl Errand {
    /// Every one, in the order of the enum.
    pub(crate) const ALL: [Errand; 3] = [Errand::Warm, Errand::Refresh, Errand::Explain];

    /// The word for metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Errand::Warm => "warm",
            Errand::Refresh => "refresh",
            Errand::Explain => "explain",
        }
    }
}

/// Counters of all cores, the gauges, and the access log they write to.
#[derive(Debug)]
pub struct Metrics {
    pub(crate) cores: Box<[Core]>,
    pub(crate) gauges: Gauges,
    pub(crate) purges: Purges,
    /// Fetches of our own: warm, refresh, explain.
    pub(crate) errands: [AtomicU64; Errand::ALL.len()],
    pub(crate) started: Timestamp,
    access_log: AccessLog,
}

impl Metrics {
    /// The media type of what [`render`](Self::render) gives: OpenMetrics text, which Prometheus reads.
    pub const CONTENT_TYPE: &'static str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /// Figures for so many cores, all zero; the access log goes to standard output.
    pub fn new(cores: usize) -> Arc<Self> {
        Self::with_output(cores, Box::new(std::io::stdout()))
    }

    /// The same, with the access log going elsewhere: to a file, or to a test.
    pub fn with_output(cores: usize, output: Output) -> Arc<Self> {
        Arc::new(Metrics {
            cores: std::iter::repeat_with(Core::default).take(cores).collect(),
            gauges: Gauges::default(),
            purges: Purges::default(),
            errands: Default::default(),
            started: Clock::date(),
            access_log: AccessLog::new(cores, output),
        })
    }

    /// The counters of one core, below the number given to [`new`](Self::new).
    pub fn core(&self, core: usize) -> &Core {
        &self.cores[core]
    }

    /// Where the lines of all recorders go.
    pub fn access_log(&self) -> &AccessLog {
        &self.access_log
    }

    /// Says where a gauge gets its figure from, in place of what was said before. A `read` that holds the `Metrics`
    /// itself would keep it alive for ever; let it hold the cache, the pool or a counter.
    pub fn read_from(&self, reading: Reading, read: impl Fn() -> u64 + Send + Sync + 'static) {
        self.gauges.lock().readings[reading as usize] = Some(Box::new(read));
    }

    /// Says where to learn how often what happened to connections, as words and counts since the start, in place of
    /// what was said before. The words become the label `event`; each stands once.
    pub fn connections_from(&self, read: impl Fn() -> Vec<(&'static str, u64)> + Send + Sync + 'static) {
        self.gauges.lock().connections = Some(Box::new(read));
    }

    /// Says where to learn which targets are healthy, in place of what was said before.
    pub fn targets_from(&self, read: impl Fn() -> Vec<TargetHealth> + Send + Sync + 'static) {
        self.gauges.lock().targets = Some(Box::new(read));
    }

    /// Where the figures of each Redis that is read from come from.
    pub fn redis_from(&self, read: impl Fn() -> Vec<RedisFigures> + Send + Sync + 'static) {
        self.gauges.lock().redis = Some(Box::new(read));
    }

    /// Where the figures of databases, modules and routes with many calls come from.
    pub fn families_from(&self, read: impl Fn() -> Vec<Family> + Send + Sync + 'static) {
        self.gauges.lock().families = Some(Box::new(read));
    }

    /// Counts a reading of the config, at the start or later, and whether it took effect.
    pub fn config_loaded(&self, now: Timestamp, success: bool) {
        let config = &mut self.gauges.lock().config;
        config.last_failed = !success;
        if success {
            config.succeeded += 1;
            config.last_success = Some(now);
        } else {
            config.failed += 1;
        }
    }

    /// Counts a purge.
    pub fn purged(&self, kind: PurgeKind, soft: bool) {
        self.purges.add(kind, soft);
    }

    /// Counts a request that is none of a client's: it is among no other figure of requests.
    pub fn errand(&self, errand: Errand) {
        self.errands[errand as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// All figures as OpenMetrics text; see [`CONTENT_TYPE`](Self::CONTENT_TYPE).
    pub fn render(self: &Arc<Self>) -> String {
        render::render(self)
    }
}
