//! Health: whether a target is worth trying. Told by connects (passive) and by health checks (active), asked by
//! `choose`; shared by all cores.
//!
//! Two judgements with two consequences. A target that the active checks found down gets no request at all, as with
//! HAProxy and Varnish: who configures checks wants them obeyed. A target that merely refused a connection is passed
//! over for a while, but tried when there is no better one, as with nginx: without checks nobody else would find out
//! that it is back.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use guard::Backoff;
use message::Timestamp;

/// How long failed connects in a row keep a target out before it is tried again.
const REST: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));

/// See the module. Starts healthy.
#[derive(Debug, Default)]
pub(super) struct Health {
    found_down: AtomicBool,
    failures: AtomicU32,
    /// Milliseconds, as [`Timestamp`]; zero: not resting.
    rests_until: AtomicU64,
}

impl Health {
    /// False when the active checks took the target out.
    pub(super) fn is_up(&self) -> bool {
        !self.found_down.load(Relaxed)
    }

    /// True while the target is passed over after failed connects. `now` is asked for only when it matters.
    pub(super) fn is_resting(&self, now: impl FnOnce() -> Timestamp) -> bool {
        match self.rests_until.load(Relaxed) {
            0 => false,
            until => now().as_millis() < until,
        }
    }

    /// What the active checks found. True when this changed something.
    pub(super) fn found(&self, up: bool) -> bool {
        self.found_down.swap(!up, Relaxed) == up
    }

    /// A connection was made.
    pub(super) fn connected(&self) {
        if self.failures.load(Relaxed) != 0 {
            self.failures.store(0, Relaxed);
            self.rests_until.store(0, Relaxed);
        }
    }

    /// No connection could be made. Gives the time the target now rests, or `None` when it rests already: many
    /// requests that fail at once count as one failure.
    pub(super) fn connect_failed(&self, now: Timestamp) -> Option<Duration> {
        if self.is_resting(|| now) {
            return None;
        }
        let rest = REST.after(self.failures.fetch_add(1, Relaxed).saturating_add(1));
        self.rests_until.store((now + rest).as_millis(), Relaxed);
        Some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_double_the_rest_up_to_a_bound() {
        let health = Health::default();
        let mut now = Timestamp::from_secs(1_000);
        for seconds in [1, 2, 4, 8, 16, 30, 30] {
            let rest = Duration::from_secs(seconds);
            assert_eq!(health.connect_failed(now), Some(rest));
            assert!(health.is_resting(|| now));
            now = now + rest;
            assert!(!health.is_resting(|| now), "after {seconds} s it is tried again");
        }
    }

    #[test]
    fn simultaneous_failures_count_once() {
        let health = Health::default();
        let now = Timestamp::from_secs(1_000);
        assert_eq!(health.connect_failed(now), Some(REST.first));
        assert_eq!(health.connect_failed(now), None);
        assert_eq!(health.connect_failed(now + REST.first), Some(REST.first * 2));
    }

    #[test]
    fn a_connection_forgives_everything() {
        let health = Health::default();
        let now = Timestamp::from_secs(1_000);
        health.connect_failed(now);
        health.connected();
        assert!(!health.is_resting(|| now));
        assert_eq!(health.connect_failed(now), Some(REST.first));
    }

    #[test]
    fn checks_say_when_they_changed_something() {
        let health = Health::default();
        assert!(!health.found(true));
        assert!(health.found(false));
        assert!(!health.is_up());
        assert!(!health.found(false));
        assert!(health.found(true));
        assert!(health.is_up());
    }
}
