//! Backoff: how long to leave alone what has failed several times in a row: twice as long after each failure, up to a
//! bound.

use std::time::Duration;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// After the first failure.
    pub first: Duration,
    /// The bound.
    pub longest: Duration,
}

impl Backoff {
    /// From `first`, or from `longest` where that is shorter, up to `longest`.
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Backoff { first, longest }
    }

    /// How long after so many failures in a row; none: no time at all.
    pub fn after(&self, failures: u32) -> Duration {
        match failures.checked_sub(1) {
            None => Duration::ZERO,
            Some(doublings) => self.first.saturating_mul(2_u32.saturating_pow(doublings)).min(self.longest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_bound() {
        let backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));
        let pauses: Vec<_> = (0..8).map(|failures| backoff.after(failures).as_secs()).collect();
        assert_eq!(pauses, [0, 1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(backoff.after(u32::MAX).as_secs(), 30);
    }

    #[test]
    fn no_pause_is_longer_than_the_bound() {
        let backoff = Backoff::new(Duration::from_secs(1), Duration::from_millis(100));
        assert_eq!(backoff.after(1), Duration::from_millis(100));
    }
}
