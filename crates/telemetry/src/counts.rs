//! Counts: the counters of one core. Its recorder alone writes them; `render` adds all cores up.

use message::{Error, Kind};

use crate::counter::Counter;
use crate::histogram::Histogram;
use crate::outcome::CacheResult;
use crate::reasons::Reasons;

/// The classes `1xx` to `5xx`; a status from 600 on is none of them and counts as `5xx` (RFC 9110 §15).
pub(crate) const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// Counters of one core. Aligned to two cache lines (they are fetched in pairs), so that cores never share one.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct CoreCounts {
    pub(crate) results: [Counter; CacheResult::ALL.len()],
    pub(crate) classes: [Counter; CLASSES.len()],
    pub(crate) sent_bytes: Counter,
    pub(crate) overhead: Histogram,
    pub(crate) source: Histogram,
    pub(crate) reasons: Reasons,
    pub(crate) errors: Errors,
    pub(crate) received_bytes: Counter,
    pub(crate) log_lines_dropped: Counter,
}

/// One counter for each kind.
#[derive(Debug)]
pub(crate) struct Errors([Counter; Kind::ALL.len()]);

/// The standard library has none for arrays of more than 32.
impl Default for Errors {
    fn default() -> Self {
        Errors([const { Counter::new() }; Kind::ALL.len()])
    }
}

impl Errors {
    /// The counter of a kind.
    pub(crate) fn of(&self, kind: Kind) -> &Counter {
        // `message` sees to it that each kind's number is its place in the list.
        &self.0[kind as usize]
    }
}

impl CoreCounts {
    pub(crate) fn count_result(&self, result: CacheResult) {
        self.results[result as usize].add(1);
    }

    pub(crate) fn count_status(&self, status: http::StatusCode) {
        let class = usize::from(status.as_u16() / 100).clamp(1, CLASSES.len()) - 1;
        self.classes[class].add(1);
    }

    pub(crate) fn count_error(&self, error: &Error) {
        self.errors.of(error.kind()).add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_the_places_in_the_lists() {
        for (index, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
        }
        for (index, result) in CacheResult::ALL.into_iter().enumerate() {
            assert_eq!(result as usize, index);
        }
    }

    #[test]
    fn a_status_counts_in_its_class() {
        let core = CoreCounts::default();
        for status in [101, 200, 204, 304, 404, 500, 599, 600, 999] {
            core.count_status(http::StatusCode::from_u16(status).unwrap());
        }
        assert_eq!(core.classes.each_ref().map(Counter::get), [1, 2, 1, 1, 4]);
    }
}
