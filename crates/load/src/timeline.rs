//! Timeline: a run second by second, so that one bad moment is not lost among many good ones. Part of the tally.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::report::Second;
use crate::tally::LONGEST_MICROS;

/// See the module. At most an hour of seconds, some ten kilobytes each.
pub(crate) struct Timeline {
    from: Instant,
    seconds: Vec<Counted>,
}

struct Counted {
    /// In microseconds, to two digits.
    latencies: Histogram<u32>,
    failed: u64,
}

impl Timeline {
    /// Of a run that is measured from this moment.
    pub(crate) fn new(from: Instant) -> Self {
        Timeline { from, seconds: Vec::new() }
    }

    /// A request sent then was answered after so many microseconds, well or not.
    pub(crate) fn answer(&mut self, sent: Instant, micros: u64, successful: bool) {
        let second = self.second(sent);
        second.latencies.saturating_record(micros);
        second.failed += u64::from(!successful);
    }

    /// A request sent then got no whole answer.
    pub(crate) fn failure(&mut self, sent: Instant) {
        self.second(sent).failed += 1;
    }

    /// Adds that of another worker of the same run.
    pub(crate) fn merge(&mut self, other: &Timeline) {
        self.grow(other.seconds.len());
        for (mine, others) in self.seconds.iter_mut().zip(&other.seconds) {
            mine.latencies.add(&others.latencies).expect("every histogram has the same bounds");
            mine.failed += others.failed;
        }
    }

    /// For the report; seconds in which nothing was sent are there too.
    pub(crate) fn seconds(&self) -> Vec<Second> {
        let second = |(at, counted): (u64, &Counted)| Second {
            at,
            requests: counted.latencies.len(),
            failed: counted.failed,
            p95: Duration::from_micros(counted.latencies.value_at_quantile(0.95)),
            max: Duration::from_micros(counted.latencies.max()),
        };
        (0..).zip(&self.seconds).map(second).collect()
    }

    fn second(&mut self, sent: Instant) -> &mut Counted {
        let place = sent.saturating_duration_since(self.from).as_secs() as usize;
        self.grow(place + 1);
        &mut self.seconds[place]
    }

    fn grow(&mut self, length: usize) {
        if self.seconds.len() < length {
            self.seconds.resize_with(length, Counted::new);
        }
    }
}

impl Counted {
    fn new() -> Self {
        Counted {
            latencies: Histogram::new_with_bounds(1, LONGEST_MICROS, 2)
                .expect("the bounds are constants within what the histogram allows"),
            failed: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_second_has_what_was_sent_in_it() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let (mut one, mut two) = (Timeline::new(start), Timeline::new(start));
        one.answer(at(0), 1_000, true);
        one.answer(at(999), 3_000_000, true);
        two.answer(at(2_000), 2_000, false);
        two.failure(at(2_999));
        one.merge(&two);
        let seconds = one.seconds();
        let counts: Vec<_> =
            seconds.iter().map(|second| (second.at, second.requests, second.failed)).collect();
        assert_eq!(counts, [(0, 2, 0), (1, 0, 0), (2, 1, 2)]);
        assert!(seconds[0].max >= Duration::from_millis(2_970), "{:?}", seconds[0]);
        assert_eq!(seconds[1].max, Duration::ZERO);
        assert!(seconds[2].p95.as_micros().abs_diff(2_000) <= 20, "{:?}", seconds[2]);
    }
}
