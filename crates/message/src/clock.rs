//! The one reader of the clocks. Everything that decides takes a [`Timestamp`] as an argument instead.
//!
//! There are two kinds of time. *Moments* are what ages and waits are made of: they go on evenly, a suspended machine's
//! sleep included, whatever somebody sets the wall clock to. *Dates* are what stands in fields, signatures, logs and
//! tiers: they are what the wall clock says now. Both are timestamps, so that without a jump they are the same; where one
//! is compared with the other, a [`Skew`] stands between them.

use std::fmt;
use std::ops::Add;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// From milliseconds since the epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Timestamp(millis)
    }

    /// From whole seconds since the epoch, the resolution of an HTTP date.
    pub const fn from_secs(secs: u64) -> Self {
        Timestamp(secs.saturating_mul(1000))
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Whole seconds since the epoch, rounded down.
    pub const fn as_secs(self) -> u64 {
        self.0 / 1000
    }

    /// How long after `earlier` this is; zero when it is not after.
    pub const fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// `duration` before this, not before the epoch.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Self {
        Timestamp(self.0.saturating_sub(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
    }

    /// This moment for the standard library and for HTTP dates.
    pub fn to_system_time(self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(self.0)
    }
}

/// Saturates instead of overflowing: a lifetime may come from the network.
impl Add<Duration> for Timestamp {
    type Output = Timestamp;

    fn add(self, duration: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}

/// How far dates are ahead of moments: by how much the wall clock was set since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skew(i64);

impl Skew {
    /// The wall clock was never set.
    pub const NONE: Skew = Skew(0);

    /// Where the date is this one at that moment.
    pub const fn between(moment: Timestamp, date: Timestamp) -> Self {
        Skew(date.0.wrapping_sub(moment.0).cast_signed())
    }

    /// The date of a moment.
    #[must_use]
    pub const fn date_of(self, moment: Timestamp) -> Timestamp {
        Timestamp(moment.0.saturating_add_signed(self.0))
    }

    /// The moment of a date.
    #[must_use]
    pub const fn moment_of(self, date: Timestamp) -> Timestamp {
        Timestamp(date.0.saturating_add_signed(self.0.saturating_neg()))
    }
}

/// Tells the time.
#[derive(Clone, Copy, Debug)]
pub struct Clock;

static START: LazyLock<(Instant, ClockReading)> = LazyLock::new(|| (Instant::now(), ClockReading::take()));

/// Moments begin no earlier (2020), so that there is room before them for what is older than this process, also on a
/// machine that does not know the date yet when it starts.
const LEAST: Timestamp = Timestamp::from_secs(1_577_836_800);

/// Milliseconds that the machine has been asleep since the start.
static ASLEEP: AtomicU64 = AtomicU64::new(0);

impl Clock {
    /// This moment.
    pub fn now() -> Timestamp {
        Self::at(Instant::now())
    }

    /// A moment already read from the monotonic clock; saves a second reading.
    pub fn at(instant: Instant) -> Timestamp {
        let (start, reading) = &*START;
        let awake = instant.saturating_duration_since(*start).as_millis() as u64;
        Timestamp(reading.date.max(LEAST).0 + awake + ASLEEP.load(Relaxed))
    }

    /// The date now.
    pub fn date() -> Timestamp {
        #[allow(clippy::disallowed_methods)] // this is the one reader
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(since_epoch.as_millis() as u64)
    }

    /// Between this moment and its date.
    pub fn skew() -> Skew {
        Skew::between(Self::now(), Self::date())
    }
}

/// All clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// The wall clock.
    pub date: Timestamp,
    /// How long the machine has run.
    pub awake: Duration,
    /// The same, with the time it was suspended.
    pub passed: Duration,
}

impl ClockReading {
    /// Reads them.
    pub fn take() -> Self {
        use rustix::time::{ClockId, Timespec, clock_gettime};
        let duration = |time: Timespec| Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32);
        ClockReading {
            date: Clock::date(),
            awake: duration(clock_gettime(ClockId::Monotonic)),
            passed: duration(clock_gettime(ClockId::Boottime)),
        }
    }

    /// How long the machine was suspended between an earlier reading and this one.
    pub fn asleep_since(&self, earlier: &ClockReading) -> Duration {
        let asleep = |reading: &ClockReading| reading.passed.saturating_sub(reading.awake);
        asleep(self).saturating_sub(asleep(earlier))
    }

    /// By how much the wall clock was set between an earlier reading and this one: milliseconds, forward or back.
    pub fn set_since(&self, earlier: &ClockReading) -> i64 {
        let passed = self.passed.saturating_sub(earlier.passed).as_millis() as u64;
        Skew::between(Timestamp(earlier.date.0.saturating_add(passed)), self.date).0
    }

    /// Makes moments of now on count what the machine slept. To be called every now and then.
    pub fn make_known(&self) {
        ASLEEP.store(self.asleep_since(&START.1).as_millis() as u64, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: ClockReading = ClockReading {
        date: Timestamp::from_secs(1_000_000),
        awake: Duration::from_secs(51),
        passed: Duration::from_secs(61),
    };

    fn later(date: u64, awake: u64, passed: u64) -> ClockReading {
        ClockReading {
            date: START.date + Duration::from_secs(date),
            awake: START.awake + Duration::from_secs(awake),
            passed: START.passed + Duration::from_secs(passed),
        }
    }

    #[test]
    fn a_clock_that_was_set_and_a_machine_that_slept_are_told_apart() {
        for (reading, set, asleep) in [
            (later(10, 10, 10), 0, 0),
            (later(3610, 10, 10), 3_600_000, 0),
            (later(3610, 10, 3610), 0, 3600),
            (later(10, 10, 3610), -3_600_000, 3600),
        ] {
            assert_eq!(reading.set_since(&START), set, "{reading:?}");
            assert_eq!(reading.asleep_since(&START).as_secs(), asleep, "{reading:?}");
        }
        let back = ClockReading { date: START.date.minus(Duration::from_hours(1)), ..later(0, 0, 0) };
        assert_eq!(back.set_since(&START), -3_600_000);
    }

    #[test]
    fn a_skew_leads_there_and_back() {
        let (moment, date) = (Timestamp::from_secs(5000), Timestamp::from_secs(1400));
        for skew in [Skew::between(moment, date), Skew::between(date, moment), Skew::NONE] {
            assert_eq!(skew.moment_of(skew.date_of(moment)), moment);
        }
        assert_eq!(Skew::between(moment, date).date_of(moment), date);
        assert_eq!(Skew::between(moment, date).date_of(Timestamp::from_secs(1)), Timestamp::default());
    }

    #[test]
    fn without_a_jump_moments_are_dates() {
        let apart = Clock::now().since(Clock::date()) + Clock::date().since(Clock::now());
        assert!(apart < Duration::from_mins(1), "{apart:?}");
    }
}
