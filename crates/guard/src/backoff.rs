//! Backoff: how long to leave alone what has failed several times in a row: twice as long after each failure, up to a
//! bound. With jitter where many wait for the same: otherwise they all come back at the same moment.

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
        let Some(doublings) = failures.checked_sub(1) else {
            return Duration::ZERO;
        };
        // In 128 bits, and not by a factor of 32: some thousand million times a microsecond is less than many a bound.
        let factor = 1_u128.checked_shl(doublings).unwrap_or(u128::MAX);
        let pause = self.first.as_nanos().saturating_mul(factor);
        Duration::from_nanos_u128(pause.min(self.longest.as_nanos()))
    }

    /// The same with full jitter: somewhere between no time at all and [`Backoff::after`], evenly, by a number drawn from
    /// [0, 1). As in AWS, "Exponential backoff and jitter": of the ways to spread it, the one with the least work for all.
    pub fn jittered(&self, failures: u32, random: f64) -> Duration {
        let longest = self.after(failures);
        // What is no number counts as zero, what is more than one as one. Only close to the longest duration there is
        // does a product not fit.
        let share = random.max(0.0);
        Duration::try_from_secs_f64(longest.as_secs_f64() * share).map_or(longest, |pause| pause.min(longest))
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

    #[test]
    fn the_shortest_pause_gets_to_the_bound_too() {
        let backoff = Backoff::new(Duration::from_nanos(1), Duration::MAX);
        assert_eq!(backoff.after(41), Duration::from_nanos(1 << 40));
        assert_eq!(backoff.after(u32::MAX), Duration::MAX);
        assert_eq!(Backoff::new(Duration::ZERO, Duration::MAX).after(u32::MAX), Duration::ZERO);
    }

    #[test]
    fn jitter_is_between_nothing_and_the_whole_pause() {
        let backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));
        let pauses = [0.0, 0.25, 0.5, 1.0].map(|random| backoff.jittered(4, random).as_secs());
        assert_eq!(pauses, [0, 2, 4, 8]);
        assert!(backoff.jittered(4, 1.0_f64.next_down()) <= backoff.after(4));
        assert_eq!(backoff.jittered(0, 0.5), Duration::ZERO);
    }

    #[test]
    fn a_number_that_is_none_makes_no_pause_that_is_none() {
        let longest = Backoff::new(Duration::MAX, Duration::MAX);
        for random in [f64::NAN, f64::NEG_INFINITY, -1.0, 0.0] {
            assert_eq!(longest.jittered(1, random), Duration::ZERO);
        }
        for random in [1.0, 2.0, f64::INFINITY] {
            assert_eq!(longest.jittered(1, random), Duration::MAX);
        }
    }
}
