//! Recorder: counts and logs what one core does. Made by `server`, called at the end of every exchange.
//!
//! Recording an exchange answered from a fresh entry is six additions to this core's own counters: nothing allocated,
//! no lock, no clock. With an access log, formatting the line comes on top, straight into the core's buffer, whose
//! memory is used again and again.

use std::cell::Cell;
use std::sync::Arc;

use http::StatusCode;
use message::{Client, Clock, Error};

use crate::counts::CoreCounts;
use crate::line::LogLine;
use crate::{CacheResult, Errand, Exchange, Metrics, PurgeKind, json_line, text_line};

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

    /// Whether lines are written at all; without them, the words of an exchange need not be kept for it.
    pub fn is_logging(&self) -> bool {
        self.log.get() != plan::AccessLog::Off
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
            core.reasons.add((fwd.word(), status.detail));
        }
        if let Some(error) = exchange.error {
            core.count_error(error);
        }
        if self.is_logging() {
            self.log(&LogLine::of(Clock::date(), exchange));
        }
    }

    /// Counts and logs a request that was refused before it became one: malformed, too large, too slow.
    pub fn refused(&self, client: &Client, error: &Error, status: StatusCode) {
        let core = self.counts();
        core.count_result(CacheResult::None);
        core.count_status(status);
        core.count_error(error);
        if self.log.get() != plan::AccessLog::Off {
            self.log(&LogLine { now: Clock::date(), client, status, error: Some(error), exchange: None });
        }
    }

    /// Counts a failure that no exchange tells of: a refresh in the background, for one.
    pub fn failed(&self, error: &Error) {
        self.counts().count_error(error);
    }

    /// Counts a purge that a write brought about.
    pub fn purged(&self, kind: PurgeKind, soft: bool) {
        self.metrics.purged(kind, soft);
    }

    /// Counts a request of our own, which is counted as no client's.
    pub fn errand(&self, errand: Errand) {
        self.metrics.errand(errand);
    }

    /// Counts bytes of request content received.
    pub fn bytes_in(&self, bytes: u64) {
        self.counts().received_bytes.add(bytes);
    }

    fn counts(&self) -> &CoreCounts {
        self.metrics.core(self.core)
    }

    #[cold]
    fn log(&self, line: &LogLine<'_>) {
        let json = self.log.get() == plan::AccessLog::Json;
        let taken = self.metrics.access_log().append(self.core, |buffer| {
            if json { json_line::write(line, buffer) } else { text_line::write(line, buffer) }
        });
        if !taken {
            self.counts().log_lines_dropped.add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::Mutex;
    use std::time::Duration;

    use message::Kind;

    use super::*;
    use crate::samples::{self, Sample};

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_recorder_may_move_to_its_cores_thread() {
        fn assert_send<T: Send>() {}
        assert_send::<Recorder>();
    }

    #[test]
    fn a_hit_counts_as_one_and_asked_nobody() {
        let metrics = Metrics::new(2);
        Recorder::new(Arc::clone(&metrics), 1, plan::AccessLog::Off).record(&Sample::hit().exchange());
        let core = metrics.core(1);
        assert_eq!(core.results[CacheResult::Hit as usize].get(), 1);
        assert_eq!(core.classes[1].get(), 1);
        assert_eq!(core.sent_bytes.get(), 1024);
        assert_eq!(core.reasons.counts().count(), 0);
        assert_eq!(metrics.core(0).sent_bytes.get(), 0);
    }

    #[test]
    fn overhead_is_what_the_source_did_not_take() {
        let sample = Sample::miss();
        assert_eq!(sample.exchange().overhead(), Duration::from_micros(1340));
        let early = Sample { duration: Duration::ZERO, ..Sample::miss() };
        assert_eq!(early.exchange().overhead(), Duration::ZERO);
    }

    #[test]
    fn the_log_follows_what_it_is_set_to() {
        let output = Kept::default();
        let metrics = Metrics::with_output(1, Box::new(output.clone()));
        let recorder = Recorder::new(Arc::clone(&metrics), 0, plan::AccessLog::Off);
        let sample = Sample::hit();
        recorder.record(&sample.exchange());
        recorder.set_access_log(plan::AccessLog::Text);
        recorder.record(&sample.exchange());
        recorder.set_access_log(plan::AccessLog::Json);
        recorder.record(&sample.exchange());
        let error = Error::new(Kind::ClientTimeout, "no head in time");
        recorder.refused(&samples::client(), &error, StatusCode::REQUEST_TIMEOUT);
        recorder.set_access_log(plan::AccessLog::Off);
        recorder.record(&sample.exchange());
        metrics.access_log().flush();

        let written = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
        let lines: Vec<&str> = written.lines().collect();
        assert_eq!(lines.len(), 3, "{written}");
        assert!(lines[0].ends_with(" hit ttl=4"), "{written}");
        assert!(lines[1].starts_with('{') && lines[1].contains(r#""cache":"hit""#), "{written}");
        assert!(lines[2].contains(r#""error":"client-timeout""#), "{written}");
        assert!(!written.contains("5EC4E7"), "{written}");
        assert_eq!(metrics.core(0).results[CacheResult::Hit as usize].get(), 4);
        assert_eq!(metrics.core(0).log_lines_dropped.get(), 0);
    }
}
