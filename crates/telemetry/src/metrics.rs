//! Metrics: every figure of the process. Made once by `server`, shared by its recorders and the admin port.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use message::{Clock, Timestamp};

use crate::access_log::{AccessLog, Output};
use crate::config_loads::ConfigLoads;
use crate::counts::CoreCounts;
use crate::owners::Owners;
use crate::purges::{PurgeKind, Purges};
use crate::{Family, render};

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

/// Counters of all cores, where to ask for those of others, and the access log they write to.
#[derive(Debug)]
pub struct Metrics {
    pub(crate) cores: Box<[CoreCounts]>,
    owners: Owners,
    pub(crate) config: ConfigLoads,
    purges: Purges,
    /// Fetches of our own: warm, refresh, explain.
    errands: [AtomicU64; Errand::ALL.len()],
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
            cores: std::iter::repeat_with(CoreCounts::default).take(cores).collect(),
            owners: Owners::default(),
            config: ConfigLoads::default(),
            purges: Purges::default(),
            errands: Default::default(),
            started: Clock::date(),
            access_log: AccessLog::new(cores, output),
        })
    }

    /// The counters of one core, below the number given to [`new`](Self::new).
    pub fn core(&self, core: usize) -> &CoreCounts {
        &self.cores[core]
    }

    /// Where the lines of all recorders go.
    pub fn access_log(&self) -> &AccessLog {
        &self.access_log
    }

    /// Says how to ask owners for their figures, in place of what was said before. `read` is given what is counted here
    /// of purges and errands, and puts it where it is to stand; every name with its unit stands once. A `read` that holds
    /// the `Metrics` itself would keep it alive for ever; let it hold the cache, the pool or a counter.
    pub fn families_from(&self, read: impl Fn(Vec<Family>) -> Vec<Family> + Send + Sync + 'static) {
        self.owners.set(Box::new(read));
    }

    /// Counts a reading of the config, at the start or later, and whether it took effect.
    pub fn config_loaded(&self, now: Timestamp, success: bool) {
        self.config.add(now, success);
    }

    /// Counts a purge.
    pub fn purged(&self, kind: PurgeKind, soft: bool) {
        self.purges.add(kind, soft);
    }

    /// Counts a request that is none of a client's: it is among no other figure of requests.
    pub fn errand(&self, errand: Errand) {
        self.errands[errand as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// What owners keep, and in between what is counted here of purges and errands.
    pub(crate) fn kept(&self) -> Vec<Family> {
        let errands = Family::counter("errands", "Requests of our own, by why; they count as no client's")
            .by(
                ["purpose"],
                Errand::ALL
                    .map(|errand| ([errand.word()], self.errands[errand as usize].load(Ordering::Relaxed))),
            );
        self.owners.families(vec![self.purges.family(), errands])
    }

    /// All figures as OpenMetrics text; see [`CONTENT_TYPE`](Self::CONTENT_TYPE).
    pub fn render(self: &Arc<Self>) -> String {
        render::render(self)
    }
}
