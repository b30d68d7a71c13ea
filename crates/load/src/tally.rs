//! Tally: what one worker counts, and how several become one. Filled by `client`, read by `report`.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::report::Errors;
use crate::timeline::Timeline;

/// The longest latency told apart, in microseconds: as long as the longest run.
pub(crate) const LONGEST_MICROS: u64 = crate::Scenario::LONGEST.as_micros() as u64;
/// One more than the largest status.
const STATUSES: usize = 1000;

/// Why a request got no whole answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Connect,
    Timeout,
    BrokeOff,
    Malformed,
    /// The run ended first; not the server's fault.
    Unfinished,
}

/// See the module.
pub(crate) struct Tally {
    /// In microseconds, to three digits.
    pub(crate) latencies: Histogram<u64>,
    pub(crate) timeline: Timeline,
    by_status: Box<[u64; STATUSES]>,
    pub(crate) errors: Errors,
    pub(crate) unfinished: u64,
    pub(crate) reconnects: u64,
    pub(crate) bytes: u64,
    /// When the last answer counted was whole.
    pub(crate) last: Option<Instant>,
}

impl Tally {
    /// Of a run that is measured from this moment.
    pub(crate) fn new(from: Instant) -> Self {
        Tally {
            timeline: Timeline::new(from),
            latencies: Histogram::new_with_bounds(1, LONGEST_MICROS, 3)
                .expect("the bounds are constants within what the histogram allows"),
            by_status: Box::new([0; STATUSES]),
            errors: Errors::default(),
            unfinished: 0,
            reconnects: 0,
            bytes: 0,
            last: None,
        }
    }

    /// A whole answer.
    pub(crate) fn answer(&mut self, status: u16, started: Instant, whole: Instant, bytes: u64) {
        let latency = whole.duration_since(started);
        let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX).max(1);
        self.latencies.saturating_record(micros);
        self.timeline.answer(started, micros, (200..300).contains(&status));
        if let Some(count) = self.by_status.get_mut(usize::from(status)) {
            *count += 1;
        }
        self.bytes += bytes;
        self.last = self.last.max(Some(whole));
    }

    /// No whole answer; `bytes` of one came.
    pub(crate) fn failure(&mut self, failure: Failure, started: Instant, bytes: u64) {
        self.bytes += bytes;
        if failure != Failure::Unfinished {
            self.timeline.failure(started);
        }
        match failure {
            Failure::Connect => self.errors.connect += 1,
            Failure::Timeout => self.errors.timeout += 1,
            Failure::BrokeOff => self.errors.broke_off += 1,
            Failure::Malformed => self.errors.malformed += 1,
            Failure::Unfinished => self.unfinished += 1,
        }
    }

    /// Adds what another worker counted.
    pub(crate) fn merge(&mut self, other: &Tally) {
        self.latencies.add(&other.latencies).expect("every histogram has the same bounds");
        self.timeline.merge(&other.timeline);
        for (mine, others) in self.by_status.iter_mut().zip(other.by_status.iter()) {
            *mine += others;
        }
        self.errors.connect += other.errors.connect;
        self.errors.timeout += other.errors.timeout;
        self.errors.broke_off += other.errors.broke_off;
        self.errors.malformed += other.errors.malformed;
        self.unfinished += other.unfinished;
        self.reconnects += other.reconnects;
        self.bytes += other.bytes;
        self.last = self.last.max(other.last);
    }

    /// The statuses that came, with how often.
    pub(crate) fn statuses(&self) -> impl Iterator<Item = (u16, u64)> {
        (0..).zip(self.by_status.iter().copied()).filter(|(_, count)| *count > 0)
    }

    /// The latency that this share of the requests did not exceed.
    pub(crate) fn latency_at(&self, quantile: f64) -> Duration {
        Duration::from_micros(self.latencies.value_at_quantile(quantile))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tallies_become_one() {
        let start = Instant::now();
        let (mut one, mut two) = (Tally::new(start), Tally::new(start));
        one.answer(200, start, start + Duration::from_millis(1), 10);
        two.answer(200, start, start + Duration::from_millis(3), 10);
        two.answer(503, start, start + Duration::from_millis(2), 10);
        two.failure(Failure::Timeout, start, 5);
        one.failure(Failure::Unfinished, start, 0);
        one.merge(&two);
        assert_eq!(one.statuses().collect::<Vec<_>>(), [(200, 2), (503, 1)]);
        assert_eq!((one.errors.timeout, one.unfinished, one.bytes), (1, 1, 35));
        assert_eq!(one.last, Some(start + Duration::from_millis(3)));
        assert_eq!(one.latencies.len(), 3);
        assert!((1998..=2002).contains(&one.latency_at(0.5).as_micros()), "{:?}", one.latency_at(0.5));
    }

    #[test]
    fn latencies_out_of_range_count_at_its_ends() {
        let start = Instant::now();
        let mut tally = Tally::new(start);
        tally.answer(200, start, start, 0);
        tally.answer(200, start, start + Duration::from_hours(3), 0);
        assert_eq!(tally.latencies.len(), 2);
        assert_eq!(tally.latency_at(0.1), Duration::from_micros(1));
    }
}
