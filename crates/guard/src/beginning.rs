//! Beginning: from when on time is counted, so that a moment is one number. In: moments. Out: nanoseconds. Used by limits
//! and budgets.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Moments before the first one that was told have numbers too: threads read the clock before they queue for a lock.
const BEFORE: Duration = Duration::from_hours(1);

/// See the module. It is set by whoever asks first.
#[derive(Debug, Default)]
pub(crate) struct Beginning(OnceLock<Instant>);

impl Beginning {
    /// Nanoseconds since the beginning: none before it, and no more than there are in 584 years.
    pub(crate) fn nanoseconds(&self, now: Instant) -> u64 {
        let beginning = self.0.get_or_init(|| now.checked_sub(BEFORE).unwrap_or(now));
        u64::try_from(now.saturating_duration_since(*beginning).as_nanos()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_keep_their_distance_also_before_the_first() {
        let (beginning, now) = (Beginning::default(), Instant::now());
        let first = beginning.nanoseconds(now);
        assert_eq!(beginning.nanoseconds(now + Duration::from_nanos(5)), first + 5);
        assert_eq!(beginning.nanoseconds(now.checked_sub(Duration::from_nanos(5)).unwrap()), first - 5);
        assert_eq!(beginning.nanoseconds(now + Duration::from_secs(1 << 40)), u64::MAX);
    }
}
