//! Percentile: how long most calls have taken of late, for whoever must tell a slow one from the usual: a hedge, a limit that
//! adapts.
//!
//! In: how long each call took, and the time. Out: the duration that a share of them stayed within, of the calls of the last
//! window. As Finagle's windowed histograms: a ring of slices, of which the oldest makes room for the newest. Each core has
//! its own: it needs no lock, and tells what this core sees.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

/// A window moves on by a fifth of itself.
const SLICES: u32 = 5;
/// Of fewer calls nothing is said: the slowest of ten tells nothing of one in a hundred.
const FEWEST: u64 = 100;
/// In microseconds. What takes longer counts as this long.
const LONGEST: u64 = 3_600_000_000;

/// See the module.
#[derive(Debug)]
pub struct Percentile {
    share: f64,
    /// How long a slice is.
    slice: Duration,
    /// The one under way is the last.
    slices: [Histogram<u32>; SLICES as usize],
    /// All of them together.
    all: Histogram<u32>,
    /// When the slice under way began; `None`: no call has been told yet.
    since: Option<Instant>,
    /// What is said, of so many calls: to look it up takes a microsecond, so it is done anew only as they become a tenth
    /// more.
    said: (Duration, u64),
}

impl Percentile {
    /// Of the calls of the last `window`, the time that this share of them (0.99: all but one in a hundred) stayed within.
    /// What is not between zero and one is the nearest that is.
    pub fn new(share: f64, window: Duration) -> Self {
        Percentile {
            share: if share.is_nan() { 1.0 } else { share.clamp(0.0, 1.0) },
            slice: (window / SLICES).max(Duration::from_nanos(1)),
            slices: std::array::from_fn(|_| empty()),
            all: empty(),
            since: None,
            said: (Duration::ZERO, 0),
        }
    }

    /// A call took so long, and has ended now.
    pub fn record(&mut self, took: Duration, now: Instant) {
        self.move_on(now);
        let microseconds = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).clamp(1, LONGEST);
        let [.., newest] = &mut self.slices;
        newest.saturating_record(microseconds);
        self.all.saturating_record(microseconds);
    }

    /// No more than a sixteenth too long, and at least a microsecond. `None` while fewer than a hundred calls have ended
    /// within the window.
    pub fn value(&mut self, now: Instant) -> Option<Duration> {
        self.move_on(now);
        let calls = self.all.len();
        if calls < FEWEST {
            return None;
        }
        let (value, of) = self.said;
        if calls >= of && calls - of <= of / 10 {
            return Some(value);
        }
        let value = Duration::from_micros(self.all.value_at_quantile(self.share));
        self.said = (value, calls);
        Some(value)
    }

    /// Begins the slice that is under way now; those that are too old are forgotten.
    fn move_on(&mut self, now: Instant) {
        let Some(since) = self.since else {
            self.since = Some(now);
            return;
        };
        let passed = now.saturating_duration_since(since).as_nanos() / self.slice.as_nanos();
        if passed == 0 {
            return;
        }
        for _ in 0..passed.min(u128::from(SLICES)) {
            self.slices.rotate_left(1);
            let [.., newest] = &mut self.slices;
            newest.reset();
        }
        self.since =
            Some(match u32::try_from(passed).ok().and_then(|passed| self.slice.checked_mul(passed)) {
                Some(whole) => since + whole,
                None => now,
            });
        self.all.reset();
        for slice in &self.slices {
            self.all.add(slice).expect("both have the same bounds");
        }
        self.said = (Duration::ZERO, 0);
    }
}

/// Two kilobytes; from a microsecond on, to a sixteenth.
fn empty() -> Histogram<u32> {
    Histogram::new_with_bounds(1, LONGEST, 1).expect("the bounds are far enough apart")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WINDOW: Duration = Duration::from_secs(30);

    fn millis(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    fn is_about(value: Option<Duration>, exact: Duration) -> bool {
        value.is_some_and(|value| value >= exact && value <= exact + exact / 16 + Duration::from_micros(1))
    }

    #[test]
    fn of_few_calls_nothing_is_said() {
        let (mut percentile, now) = (Percentile::new(0.99, WINDOW), Instant::now());
        assert_eq!(percentile.value(now), None);
        (0..99).for_each(|_| percentile.record(millis(5), now));
        assert_eq!(percentile.value(now), None);
        percentile.record(millis(5), now);
        assert!(is_about(percentile.value(now), millis(5)));
    }

    #[test]
    fn one_in_a_hundred_is_told_from_the_others() {
        let (mut percentile, now) = (Percentile::new(0.98, WINDOW), Instant::now());
        let mut slow = Percentile::new(0.995, WINDOW);
        for number in 0..1000 {
            let took = if number % 100 == 0 { millis(800) } else { millis(10) };
            percentile.record(took, now);
            slow.record(took, now);
        }
        assert!(is_about(percentile.value(now), millis(10)));
        assert!(is_about(slow.value(now), millis(800)));
    }

    #[test]
    fn what_is_older_than_the_window_is_forgotten() {
        let (mut percentile, start) = (Percentile::new(0.5, WINDOW), Instant::now());
        (0..1000).for_each(|_| percentile.record(millis(100), start));
        let later = start + Duration::from_secs(25);
        (0..600).for_each(|_| percentile.record(millis(10), later));
        assert!(is_about(percentile.value(later), millis(100)), "most are still slow ones");
        let over = start + Duration::from_secs(31);
        assert!(is_about(percentile.value(over), millis(10)));
        assert_eq!(percentile.value(over + WINDOW), None);
        assert_eq!(percentile.value(over + Duration::from_hours(1_000_000)), None);
    }

    #[test]
    fn what_is_asked_or_told_out_of_bounds_is_the_nearest_within() {
        let now = Instant::now();
        for share in [f64::NAN, 7.0, 1.0] {
            let mut percentile = Percentile::new(share, Duration::ZERO);
            (0..100).for_each(|_| percentile.record(Duration::ZERO, now));
            percentile.record(Duration::MAX, now);
            assert!(percentile.value(now).unwrap() >= Duration::from_hours(1));
            assert_eq!(percentile.value(now + Duration::from_secs(1)), None);
        }
    }

    proptest! {
        /// However calls and looks follow each other: the value belongs to calls of the window, and lags by a tenth of
        /// them at most.
        #[test]
        fn it_is_the_percentile_of_the_last_calls(
            share in 0.0..=1.0_f64,
            took in proptest::collection::vec(1..5_000_000_u64, 100..600),
            looks in proptest::collection::vec(any::<bool>(), 600),
        ) {
            let (mut percentile, now) = (Percentile::new(share, WINDOW), Instant::now());
            for (microseconds, look) in took.iter().zip(looks) {
                percentile.record(Duration::from_micros(*microseconds), now);
                if look {
                    percentile.value(now);
                }
            }
            let mut sorted = took.clone();
            sorted.sort_unstable();
            // A tenth more calls, all of them shorter or all of them longer, move it by no more than that many places.
            let (count, place) = (sorted.len(), (share * sorted.len() as f64).ceil() as usize);
            let slack = count / 10 + 1;
            let lowest = sorted[place.saturating_sub(1 + slack).min(count - 1)];
            let highest = sorted[(place + slack).min(count - 1)];
            let value = percentile.value(now).unwrap().as_micros() as u64;
            prop_assert!(value >= lowest && value <= highest + highest / 16 + 1, "{value} in {lowest}..={highest}");
        }
    }
}
