//! The one reader of the wall clock. Everything that decides takes a [`Timestamp`] as an argument instead.

use std::fmt;
use std::ops::Add;
use std::sync::LazyLock;
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

/// Tells the time: the wall clock as it was at start, moved on by the monotonic clock, so that ages never jump
/// when somebody sets the machine's clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock;

static START: LazyLock<(Instant, u64)> = LazyLock::new(|| {
    #[allow(clippy::disallowed_methods)] // this is the one reader
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (Instant::now(), since_epoch.as_millis() as u64)
});

impl Clock {
    /// Now.
    pub fn now() -> Timestamp {
        Self::at(Instant::now())
    }

    /// The timestamp of a moment already read from the monotonic clock; saves a second reading.
    pub fn at(instant: Instant) -> Timestamp {
        let (start, start_millis) = *START;
        Timestamp(start_millis + instant.saturating_duration_since(start).as_millis() as u64)
    }
}
