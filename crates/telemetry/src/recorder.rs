//! Recorder: counts and logs what one core does. Made by `server`, called at the end of every exchange.
//!
//! Recording an exchange answered from a fresh entry is six additions to this core's own counters: nothing allocated,
//! no lock, no clock. With an access log, formatting the line comes on top, straight into the core's buffer, whose
//! memory is used again and again.

use std::cell::Cell;
use std::sync::Arc;

use http::StatusCode;
use message::{Client, Clock, Error};

use crate::counts::Core;
use crate::line::Line;
use crate::{CacheResult, Exchange, Metrics, json_line, text_line};

/// See the module. One per core: a second one for the same core would lose counts.
#[derive(Debug)]
pub struct Recorder {
    metrics: Arc<Metrics>,
    core: usize,
    log: Cell<plan::AccessLog>,
}

impl Recorder {
    /// The recorder of one core, below the number given to [`Metrics::new`].
    pub fn new(metrics: Arc<Metrics>, core: usize, log: plan::AccessLog) -> Self {
        let recorder = Recorder { metrics, core, log: Cell::new(plan::AccessLog::Off) };
        recorder.set_access_log(log);
        recorder
    }

    /// What is logged from now on; for a reload.
    pub fn set_access_log(&self, log: plan::AccessLog) {
        if log != plan::AccessLog::Off {
            self.metrics.access_log().start();
        }
        self.log.set(log);
    }

    /// Counts and logs a finished exchange.
    pub fn record(&self, exchange: &Exchange<'_>) {
        let core = self.counts();
        core.count_result(CacheResult::of(exchange.cache.as_ref()));
        core.count_status(exchange.status);
        core.sent_bytes.add(exchange.bytes);
        core.overhead.record(exchange.overhead());
        if let Some(source_time) = exchange.source_time {
            core.source.record(source_time);
        }
        if let Some((fwd, status)) = exchange.cache.and_then(|status| Some((status.fwd?, status))) {
            core.reasons.add((fwd.word(), status.detail.unwrap_or("")));
        }
        if let Some(error) = exchange.error {
            core.count_error(error);
        }
        if self.log.get() != plan::AccessLog::Off {
            self.log(&Line::of(Clock::now(), exchange));
        }
    }

    /// Counts and logs a request that was refused before it became one: malformed, too large, too slow.
    pub fn refused(&self, client: &Client, error: &Error, status: StatusCode) {
        let core = self.counts();
        core.count_result(CacheResult::None);
        core.count_status(status);
        core.count_error(error);
        if self.log.get() != plan::AccessLog::Off {
            self.log(&Line { now: Clock::now(), client, status, error: Some(error), exchange: None });
        }
    }

    /// Counts a failure that no exchange tells of: a refresh in the background, for one.
    pub fn failed(&self, error: &Error) {
        self.counts().count_error(error);
    }

    /// Counts bytes of request content received.
    pub fn bytes_in(&self, bytes: u64) {
        self.counts().received_bytes.add(bytes);
    }

    fn counts(&self) -> &Core {
        self.metrics.core(self.core)
    }

    #[cold]
    fn log(&self, line: &Line<'_>) {
        let json = self.log.get() == plan::AccessLog::Json;
        let taken = self.metrics.access_log().append(self.core, |buffer| {
            if json { json_line::write(line, buffer) } else { text_line::write(line, buffer) }
        });
        if !taken {
            self.counts().log_lines_dropped.add(1);
        }
    }
}
