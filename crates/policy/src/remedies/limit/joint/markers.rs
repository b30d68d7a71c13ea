//! Markers: which marker this instance saw last in each part of Redis, as long as it must still be there: a part that has another one, or
//! none, has lost what it was told. Pure; the time is an argument.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::names::PARTS;

/// See the module.
#[derive(Debug)]
pub(super) struct Markers {
    seen: Mutex<[Option<(u64, Instant)>; PARTS]>,
    keep: Duration,
}

impl Markers {
    /// Each is kept in Redis for at least half of `keep` after it was seen: half of that is believed, as clocks differ.
    pub(super) fn new(keep: Duration) -> Self {
        Markers { seen: Mutex::new([None; PARTS]), keep }
    }

    pub(super) fn keep(&self) -> Duration {
        self.keep
    }

    pub(super) fn known(&self, part: usize, now: Instant) -> Option<u64> {
        let (marker, at) = self.lock()[part]?;
        (now.saturating_duration_since(at) < self.keep / 4).then_some(marker)
    }

    pub(super) fn see(&self, part: usize, marker: u64, now: Instant) {
        self.lock()[part] = Some((marker, now));
    }

    /// No code that can panic runs under the lock, so a poisoned one is as good as another.
    fn lock(&self) -> std::sync::MutexGuard<'_, [Option<(u64, Instant)>; PARTS]> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_that_may_have_expired_is_not_missed() {
        let (markers, now) = (Markers::new(Duration::from_secs(8)), Instant::now());
        assert_eq!(markers.known(3, now), None);
        markers.see(3, 7, now);
        assert_eq!((markers.known(3, now + Duration::from_secs(1)), markers.known(4, now)), (Some(7), None));
        assert_eq!(markers.known(3, now + Duration::from_secs(2)), None);
    }
}
