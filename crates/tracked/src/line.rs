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
    /// The life before this one, and when it was last confirmed.
    before: AtomicU64,
    before_confirmed: AtomicU64,
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
        let zero = || AtomicU64::new(0);
        Line { life: zero(), confirmed: zero(), silence, before: zero(), before_confirmed: zero() }
    }

    pub(crate) fn life(&self) -> Life {
        Life(self.life.load(Ordering::Acquire))
    }

    /// As of when what was read in this life is right, if it is fresh as far as the line knows. In a gap nothing is.
    #[inline]
    pub(crate) fn fresh_as_of(&self, life: Life, now: Timestamp) -> Option<Timestamp> {
        let is_this = self.life() == life && life.is_live();
        let confirmed = self.last_confirmed();
        (is_this && now.since(confirmed) <= self.silence).then_some(confirmed)
    }

    /// As of when what was read in this life, and not announced since, was right: when the line was last confirmed in it,
    /// if that is known still.
    pub(crate) fn was_fresh_as_of(&self, life: Life) -> Option<Timestamp> {
        let confirmed = self.last_confirmed();
        // Looked at afterwards: what was confirmed by then was not in a later life.
        if self.life().or_last() == life {
            return Some(confirmed);
        }
        let is_before = || self.before.load(Ordering::Acquire) == life.0;
        let confirmed = is_before().then(|| self.before_confirmed.load(Ordering::Acquire))?;
        is_before().then(|| Timestamp::from_millis(confirmed))
    }

    pub(crate) fn connected(&self, asked: Timestamp) {
        self.disconnected();
        // In this order, so that no life is prolonged by what is known of another one.
        self.before_confirmed.store(0, Ordering::Release);
        self.before.store(self.life().or_last().0, Ordering::Release);
        self.before_confirmed.store(self.confirmed.load(Ordering::Acquire), Ordering::Release);
        self.change(|life| life + 1);
        self.confirmed.store(asked.as_millis(), Ordering::Release);
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
