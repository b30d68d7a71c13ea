//! Pace: how soon after a connection the next may be tried, on one core. Pure; time is an argument.

use std::time::{Duration, Instant};

use guard::Backoff;

/// Attempts begin at least so far apart.
const PAUSE: Duration = Duration::from_millis(100);
/// And after failure upon failure so far.
const BACKOFF: Backoff = Backoff::new(PAUSE, Duration::from_secs(1));

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// In a row.
    failures: u32,
    not_before: Option<Instant>,
}

impl Pace {
    /// Whether an attempt may begin.
    pub(crate) fn may_begin(&self, now: Instant) -> bool {
        self.not_before.is_none_or(|instant| now >= instant)
    }

    /// One begins.
    pub(crate) fn begun(&mut self, now: Instant) {
        self.not_before = Some(now + BACKOFF.after(self.failures).max(PAUSE));
    }

    /// It failed, or the connection it made broke before it was of any use.
    pub(crate) fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        self.not_before = Some(now + BACKOFF.after(self.failures));
    }

    /// The connection is of use, so the next failure is a first one, and it is replaced at once.
    pub(crate) fn succeeded(&mut self) {
        *self = Pace::default();
    }

    /// Somebody else has found the server well again: no need to wait.
    pub(crate) fn forget(&mut self) {
        *self = Pace::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_second_and_shrink_with_the_first_use() {
        let mut now = Instant::now();
        let mut pace = Pace::default();
        assert!(pace.may_begin(now));
        for milliseconds in [100, 200, 400, 800, 1000, 1000] {
            pace.begun(now);
            pace.failed(now);
            assert!(!pace.may_begin(now + Duration::from_millis(milliseconds - 1)));
            now += Duration::from_millis(milliseconds);
            assert!(pace.may_begin(now));
        }
        pace.succeeded();
        pace.begun(now);
        assert!(!pace.may_begin(now));
        assert!(pace.may_begin(now + PAUSE));
    }
}
