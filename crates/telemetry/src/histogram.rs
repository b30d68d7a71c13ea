//! Histogram: how long things took, in buckets that stand at 1, 1.5, 2, 3, 4, 6, 8, … µs up to 67 s.
//!
//! Log-linear: every power of two is cut into two equal steps, so a bucket's bounds lie at most half of the lower
//! one apart, and finding a bucket is a division by a constant, `leading_zeros` and a shift. No float, no search, no
//! allocation. One core writes, anybody reads; `render` adds the cores' histograms up in a [`Snapshot`].

use std::time::Duration;

use crate::counter::Counter;

/// The finest step: half of the lowest bound.
const UNIT_NANOS: u64 = 500;

/// Bounds from 2^0 to 2^26 µs, two for each power of two but the last.
const BOUNDS: usize = 26 * 2 + 1;

/// One more for what is longer than the last bound.
const BUCKETS: usize = BOUNDS + 1;

/// Counts of durations; see the module.
#[derive(Debug)]
pub(crate) struct Histogram {
    buckets: [Counter; BUCKETS],
    nanos: Counter,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { buckets: [const { Counter::new() }; BUCKETS], nanos: Counter::default() }
    }
}

impl Histogram {
    /// Counts one duration.
    pub(crate) fn record(&self, duration: Duration) {
        let nanos = nanos(duration);
        self.buckets[bucket(nanos)].add(1);
        self.nanos.add(nanos);
    }
}

/// A duration in nanoseconds; 584 years at most.
fn nanos(duration: Duration) -> u64 {
    duration.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(duration.subsec_nanos()))
}

/// The bucket whose upper bound is the lowest that is not below `nanos`: bounds are inclusive, as `le` says.
fn bucket(nanos: u64) -> usize {
    let units = nanos.saturating_sub(1) / UNIT_NANOS;
    if units < 2 {
        return 0;
    }
    let octave = units.ilog2(); // 1 for (1 µs, 2 µs]
    let upper_half = (units >> (octave - 1)) & 1;
    let bucket = 1 + (octave as usize - 1) * 2 + upper_half as usize;
    bucket.min(BOUNDS)
}

/// The inclusive upper bound of a bucket in nanoseconds; the last bucket has none.
fn bound(bucket: usize) -> Option<u64> {
    match bucket {
        0 => Some(2 * UNIT_NANOS),
        1..BOUNDS => {
            let (octave, upper_half) = ((bucket - 1) / 2, (bucket as u64 - 1) % 2);
            Some(((3 + upper_half) * UNIT_NANOS) << octave)
        }
        _ => None,
    }
}

/// Several histograms added up.
#[derive(Debug)]
pub(crate) struct Snapshot {
    buckets: [u64; BUCKETS],
    nanos: u64,
}

impl Snapshot {
    /// The sum of all of these.
    pub(crate) fn of<'a>(histograms: impl Iterator<Item = &'a Histogram>) -> Self {
        let mut sum = Snapshot { buckets: [0; BUCKETS], nanos: 0 };
        for histogram in histograms {
            for (total, count) in sum.buckets.iter_mut().zip(&histogram.buckets) {
                *total = total.wrapping_add(count.get());
            }
            sum.nanos = sum.nanos.wrapping_add(histogram.nanos.get());
        }
        sum
    }

    /// How many durations were counted. Taken from the buckets, so that it always fits them.
    pub(crate) fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The sum of all durations in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        self.nanos as f64 / 1e9
    }

    /// Each bucket's inclusive upper bound in seconds with its own count (not cumulated).
    pub(crate) fn buckets(&self) -> Vec<(f64, u64)> {
        let seconds = |bucket| bound(bucket).map_or(f64::INFINITY, |nanos| nanos as f64 / 1e9);
        self.buckets.iter().enumerate().map(|(bucket, count)| (seconds(bucket), *count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bounds_are_the_documented_ones() {
        let micros: Vec<f64> = (0..9).map(|bucket| bound(bucket).unwrap() as f64 / 1e3).collect();
        assert_eq!(micros, [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0]);
        assert_eq!(bound(BOUNDS - 1), Some(67_108_864_000));
        assert_eq!(bound(BOUNDS), None);
    }

    #[test]
    fn a_bound_belongs_to_the_bucket_it_ends() {
        for each in 0..BOUNDS {
            let end = bound(each).unwrap();
            assert_eq!(bucket(end), each);
            assert_eq!(bucket(end + 1), each + 1);
        }
    }

    #[test]
    fn the_shortest_and_the_longest_have_a_bucket() {
        assert_eq!(bucket(0), 0);
        assert_eq!(bucket(u64::MAX), BOUNDS);
        let histogram = Histogram::default();
        histogram.record(Duration::ZERO);
        histogram.record(Duration::MAX);
        assert_eq!(Snapshot::of([&histogram].into_iter()).count(), 2);
    }

    proptest! {
        #[test]
        fn a_duration_falls_between_its_buckets_bounds(nanos in prop_oneof![0..10_000u64, 0..100_000_000_000u64, any::<u64>()]) {
            let found = bucket(nanos);
            prop_assert!(bound(found).is_none_or(|bound| nanos <= bound));
            prop_assert!(found == 0 || nanos > bound(found - 1).unwrap());
        }

        #[test]
        fn longer_never_falls_into_a_lower_bucket(one in any::<u64>(), other in any::<u64>()) {
            prop_assert_eq!(one.cmp(&other).is_lt() && bucket(one) > bucket(other), false);
        }

        #[test]
        fn bounds_of_a_bucket_lie_at_most_half_apart(each in 1..BOUNDS) {
            let (low, high) = (bound(each - 1).unwrap(), bound(each).unwrap());
            prop_assert!(high > low && high - low <= low / 2);
        }

        #[test]
        fn cores_add_up(durations in prop::collection::vec((0..3usize, 0..100_000_000_000u64), 0..200)) {
            let cores: [Histogram; 3] = Default::default();
            for (core, nanos) in &durations {
                cores[*core].record(Duration::from_nanos(*nanos));
            }
            let sum = Snapshot::of(cores.iter());
            prop_assert_eq!(sum.count(), durations.len() as u64);
            prop_assert_eq!(sum.nanos, durations.iter().map(|(_, nanos)| nanos).sum::<u64>());
            prop_assert_eq!(sum.buckets().iter().map(|(_, count)| count).sum::<u64>(), sum.count());
        }
    }
}
