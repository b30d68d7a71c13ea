//! Window: how many calls have succeeded and failed of late. A ring of slices, of which the oldest makes room for the newest,
//! without a lock: each count says which time round the ring it belongs to. Used by `record`.
//!
//! A list of calls, as others keep, was rejected: it needs a lock, and memory for the busiest second. Slices that each core
//! has of its own were rejected too: a breaker is asked for a call to a target, which costs a thousand times as much.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::beginning::Beginning;

const SLICES: u64 = 10;
/// Of a window. Times round the ring are then counted for 13 years.
const SHORTEST: Duration = Duration::from_millis(100);

/// See the module.
#[derive(Debug)]
pub(crate) struct Window {
    beginning: Beginning,
    /// How long a slice is, in nanoseconds.
    slice: u64,
    succeeded: Ring,
    failed: Ring,
}

#[derive(Debug, Default)]
struct Ring([Slice; SLICES as usize]);

/// The time round in the upper half, the count in the lower.
#[derive(Debug, Default)]
struct Slice(AtomicU64);

impl Window {
    /// The slice under way and the nine before it: between nine tenths of `window` and all of it.
    pub(super) fn new(window: Duration) -> Self {
        let nanoseconds = u64::try_from(window.max(SHORTEST).as_nanos()).unwrap_or(u64::MAX);
        let (succeeded, failed) = (Ring::default(), Ring::default());
        Window { beginning: Beginning::default(), slice: nanoseconds / SLICES, succeeded, failed }
    }

    pub(super) fn succeeded(&self, now: Instant) {
        self.succeeded.add(self.number(now));
    }

    pub(super) fn failed(&self, now: Instant) {
        self.failed.add(self.number(now));
    }

    /// How many have succeeded, and failed. Those told by a clock that is a little ahead count.
    pub(super) fn ended(&self, now: Instant) -> (u64, u64) {
        let oldest = (self.number(now) + 1).saturating_sub(SLICES);
        (self.succeeded.since(oldest), self.failed.since(oldest))
    }

    pub(super) fn clear(&self) {
        for ring in [&self.succeeded, &self.failed] {
            ring.0.iter().for_each(|slice| slice.0.store(0, Relaxed));
        }
    }

    /// Of the slice under way.
    fn number(&self, now: Instant) -> u64 {
        self.beginning.nanoseconds(now) / self.slice
    }
}

impl Ring {
    fn add(&self, number: u64) {
        self.0[(number % SLICES) as usize].add(u32::try_from(number / SLICES).unwrap_or(u32::MAX));
    }

    fn since(&self, oldest: u64) -> u64 {
        let slices = self.0.iter().zip(0..).map(|(slice, place)| (slice.read(), place));
        let counted = slices.filter(|((round, _), place)| u64::from(*round) * SLICES + place >= oldest);
        counted.map(|((_, count), _)| u64::from(count)).sum()
    }
}

impl Slice {
    /// The time round that it was last counted in, and the count.
    fn read(&self) -> (u32, u32) {
        unpacked(self.0.load(Relaxed))
    }

    fn add(&self, round: u32) {
        // Who comes so late that the slice has made room is told of a time before the window: the error says just that.
        let _ = self.0.fetch_update(Relaxed, Relaxed, |slice| {
            let (newest, count) = unpacked(slice);
            match round.cmp(&newest) {
                Ordering::Less => None,
                Ordering::Equal => Some(packed(newest, count.saturating_add(1))),
                Ordering::Greater => Some(packed(round, 1)),
            }
        });
    }
}

fn packed(round: u32, count: u32) -> u64 {
    u64::from(round) << 32 | u64::from(count)
}

fn unpacked(slice: u64) -> (u32, u32) {
    ((slice >> 32) as u32, slice as u32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WINDOW: Duration = Duration::from_secs(10);

    #[test]
    fn what_is_older_than_the_window_does_not_count() {
        let (window, start) = (Window::new(WINDOW), Instant::now());
        window.succeeded(start);
        window.failed(start + Duration::from_secs(5));
        assert_eq!(window.ended(start + Duration::from_secs(9)), (1, 1));
        assert_eq!(window.ended(start + WINDOW), (0, 1));
        assert_eq!(window.ended(start + Duration::from_secs(14)), (0, 1));
        assert_eq!(window.ended(start + Duration::from_secs(15)), (0, 0));
        window.failed(start + Duration::from_hours(1));
        assert_eq!(window.ended(start + Duration::from_hours(1)), (0, 1));
    }

    #[test]
    fn no_window_is_too_short_or_too_long() {
        let start = Instant::now();
        for length in [Duration::ZERO, Duration::MAX] {
            let window = Window::new(length);
            window.failed(start);
            window.succeeded(start + Duration::from_millis(50));
            assert_eq!(window.ended(start + Duration::from_millis(80)), (1, 1));
        }
    }

    #[test]
    fn no_count_is_lost_between_threads_as_slices_make_room() {
        let (window, start) = (Window::new(WINDOW), Instant::now());
        window.failed(start);
        let last = start + 20 * WINDOW;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for step in 0..2000 {
                        window.succeeded(start + WINDOW * step / 100);
                    }
                    (0..1000).for_each(|_| window.succeeded(last));
                });
            }
        });
        // Of the 2000 steps, those of the last nine slices of ten.
        assert_eq!(window.ended(last), (4 * (1000 + 90), 0));
    }

    proptest! {
        /// Of the calls of the whole window some may be missing that are older than nine tenths of it, none else; and none
        /// counts that is older than the window. Whatever the rate, and with clocks that are a little apart.
        #[test]
        fn it_counts_the_calls_of_the_last_window(
            calls in proptest::collection::vec((any::<bool>(), 0..3000_u64, 0..400_u64), 1..100),
        ) {
            let (window, start) = (Window::new(WINDOW), Instant::now());
            let (mut elapsed, mut told) = (0, Vec::new());
            for (is_failure, wait, late) in calls {
                elapsed += wait.saturating_sub(2000);
                let at = elapsed.saturating_sub(late);
                let now = start + Duration::from_millis(at);
                if is_failure { window.failed(now) } else { window.succeeded(now) }
                told.push((is_failure, at));
                let (succeeded, failed) = window.ended(start + Duration::from_millis(elapsed));
                for (counted, is_failure) in [(succeeded, false), (failed, true)] {
                    let within = |most| {
                        let calls = told.iter().filter(|(kind, at)| *kind == is_failure && elapsed - at < most);
                        calls.count() as u64
                    };
                    prop_assert!(within(9_000) <= counted && counted <= within(10_000));
                }
            }
        }
    }
}
