//! The line: the connection on which Redis announces changes, as far as freshness is concerned: whether it is live, which
//! of its lives this is, and up to when all that Redis announced is known.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use message::Timestamp;

/// Read by every hit and written rarely, so it has a cache line to itself.
#[repr(align(64))]
pub(crate) struct Line {
    /// See [`Life`].
    life: AtomicU64,
    /// Milliseconds since the epoch.
    confirmed: AtomicU64,
    silence: Duration,
}

/// The number of a life of the line, or of the gap after it. Odd: live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Life(u64);

impl Life {
    pub(crate) fn is_live(self) -> bool {
        self.0 % 2 == 1
    }

    /// The life this is, or the one that ended with this gap; a life nobody lived where a flush or nothing came before.
    fn or_last(self) -> Life {
        Life(self.0.wrapping_sub(1) | 1)
    }
}

impl Line {
    /// Not live yet.
    pub(crate) fn new(silence: Duration) -> Self {
        Line { life: AtomicU64::new(0), confirmed: AtomicU64::new(0), silence }
    }

    pub(crate) fn life(&self) -> Life {
        Life(self.life.load(Ordering::Acquire))
    }

    /// Whether what was read in this life is fresh, as far as the line knows.
    #[inline]
    pub(crate) fn is_fresh(&self, life: Life, now: Timestamp) -> bool {
        self.life() == life && now.since(self.last_confirmed()) <= self.silence
    }

    /// Whether what was read in this life was right at most this long ago.
    pub(crate) fn was_fresh(&self, life: Life, now: Timestamp, most: Duration) -> bool {
        self.life().or_last() == life && now.since(self.last_confirmed()) <= most
    }

    pub(crate) fn connected(&self, asked: Timestamp) {
        // First, so that an old life is not prolonged by what is known of the new one.
        self.disconnected();
        self.confirmed.store(asked.as_millis(), Ordering::Release);
        self.change(|life| life + 1);
    }

    pub(crate) fn confirmed(&self, asked: Timestamp) {
        if self.life().is_live() {
            self.confirmed.fetch_max(asked.as_millis(), Ordering::AcqRel);
        }
    }

    /// Live or not, as before; but in another life.
    pub(crate) fn flushed(&self) {
        self.change(|life| life + 2);
    }

    pub(crate) fn disconnected(&self) {
        self.change(|life| life + life % 2);
    }

    /// One task keeps the line; this holds if there are more.
    fn change(&self, change: impl Fn(u64) -> u64) {
        let mut life = self.life.load(Ordering::Relaxed);
        while let Err(now) =
            self.life.compare_exchange_weak(life, change(life), Ordering::AcqRel, Ordering::Relaxed)
        {
            life = now;
        }
    }

    fn last_confirmed(&self) -> Timestamp {
        // Acquired, and so the counters that are looked at next are at least as new.
        Timestamp::from_millis(self.confirmed.load(Ordering::Acquire))
    }
}
