//! Record: what calls through a closed breaker have come to, and whether that opens it.
//!
//! In: what became of each call. Out: of a failure, whether it is one too many. Kept in atomics, so that what succeeds needs
//! no lock. Two that are told at one moment may be told in either order, as may their calls have ended.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Instant;

use super::Opens;
use super::window::Window;

const MILLIONTHS: u64 = 1_000_000;

/// See the module.
#[derive(Debug)]
pub(crate) enum Record {
    InARow {
        failures: AtomicU32,
        most: u32,
    },
    Share {
        /// In whole numbers: with fractions, the third failure of thirty calls at a share of 0.1 would depend on rounding.
        millionths: u64,
        fewest: u32,
        window: Window,
    },
}

impl Record {
    pub(crate) fn new(opens: Opens) -> Self {
        match opens {
            Opens::InARow(most) => Record::InARow { failures: AtomicU32::new(0), most },
            Opens::Share { share, window, fewest } => {
                let share = if share.is_nan() { 1.0 } else { share.clamp(0.0, 1.0) };
                let millionths = (share * MILLIONTHS as f64).round() as u64;
                Record::Share { millionths, fewest, window: Window::new(window) }
            }
        }
    }

    /// Whether a success changes anything. It does not after a success, where failures in a row count.
    pub(crate) fn heeds_success(&self) -> bool {
        match self {
            Record::InARow { failures, .. } => failures.load(Relaxed) != 0,
            Record::Share { .. } => true,
        }
    }

    pub(crate) fn succeeded(&self, now: Instant) {
        match self {
            Record::InARow { failures, .. } => failures.store(0, Relaxed),
            Record::Share { window, .. } => window.succeeded(now),
        }
    }

    /// Says whether that is enough to open.
    pub(crate) fn failed(&self, now: Instant) -> bool {
        match self {
            Record::InARow { failures, most } => failures.fetch_add(1, Relaxed).saturating_add(1) >= *most,
            Record::Share { millionths, fewest, window } => {
                window.failed(now);
                let (succeeded, failed) = window.ended(now);
                let calls = succeeded + failed;
                calls >= u64::from(*fewest) && failed * MILLIONTHS >= millionths * calls
            }
        }
    }

    /// Another time begins: what was before does not count in it.
    pub(crate) fn clear(&self) {
        match self {
            Record::InARow { failures, .. } => failures.store(0, Relaxed),
            Record::Share { window, .. } => window.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn share(share: f64, fewest: u32) -> Record {
        Record::new(Opens::Share { share, window: Duration::from_secs(10), fewest })
    }

    #[test]
    fn the_third_failure_of_thirty_calls_is_a_tenth() {
        let (record, now) = (share(0.1, 1), Instant::now());
        (0..27).for_each(|_| record.succeeded(now));
        assert!(!record.failed(now));
        assert!(!record.failed(now));
        assert!(record.failed(now));
    }

    #[test]
    fn of_few_calls_nothing_is_said() {
        let (record, now) = (share(0.5, 10), Instant::now());
        (0..9).for_each(|_| assert!(!record.failed(now)));
        assert!(record.failed(now));
        record.clear();
        assert!(!record.failed(now));
    }

    #[test]
    fn what_is_no_share_is_the_nearest_that_is() {
        let now = Instant::now();
        for nothing in [-1.0, 0.0] {
            let record = share(nothing, 0);
            (0..1000).for_each(|_| record.succeeded(now));
            assert!(record.failed(now));
        }
        for all in [1.0, 7.0, f64::INFINITY, f64::NAN] {
            let record = share(all, 0);
            assert!(record.failed(now));
            record.succeeded(now);
            assert!(!record.failed(now));
        }
    }

    #[test]
    fn a_success_in_between_starts_the_count_anew() {
        let (record, now) = (Record::new(Opens::InARow(5)), Instant::now());
        for _ in 0..10 {
            (0..4).for_each(|_| assert!(!record.failed(now)));
            assert!(record.heeds_success());
            record.succeeded(now);
            assert!(!record.heeds_success());
        }
        (0..4).for_each(|_| assert!(!record.failed(now)));
        assert!(record.failed(now));
        assert!(Record::new(Opens::InARow(0)).failed(now));
    }
}
