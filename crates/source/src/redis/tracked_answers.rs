//! Tracked answers: the answers of a tracked Redis, and which keys it tells about. Shared by all cores;
//! `tracking` keeps it true.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use message::Timestamp;
use tracked::{Inserted, Ticket, Tracked};

use super::kept_answer::KeptAnswer;

/// See the module.
pub(super) struct TrackedAnswers {
    answers: Tracked<KeptAnswer>,
    /// Beginnings of the keys that Redis tells about; none: of all.
    prefixes: Vec<String>,
    /// Lives of the line so far: a core reads anew from whom the new one leads to.
    lives: AtomicU64,
    /// As of when the line last confirmed what is held, in milliseconds.
    confirmed: AtomicU64,
    pub(super) silence: Duration,
}

impl TrackedAnswers {
    pub(super) fn new(bytes: u64, prefixes: &[String], silence: Duration, max_stale: Duration) -> Self {
        TrackedAnswers {
            answers: Tracked::new(bytes, silence, max_stale),
            prefixes: prefixes.to_vec(),
            lives: AtomicU64::new(0),
            confirmed: AtomicU64::new(0),
            silence,
        }
    }

    /// See [`TrackedAnswers::prefixes`].
    pub(super) fn prefixes(&self) -> &[String] {
        &self.prefixes
    }

    /// Whether Redis tells when this key changes.
    pub(super) fn covers(&self, key: &[u8]) -> bool {
        self.prefixes.is_empty() || self.prefixes.iter().any(|prefix| key.starts_with(prefix.as_bytes()))
    }

    pub(super) fn get(&self, key: &[u8], now: Timestamp) -> Option<KeptAnswer> {
        self.answers.get(key, now)
    }

    /// What was so lately, and how long ago that is, unless that is too long.
    pub(super) fn stale(&self, key: &[u8], now: Timestamp) -> Option<(KeptAnswer, Duration)> {
        self.answers.stale(key, now)
    }

    /// Before a read is sent.
    pub(super) fn begin<'a>(&self, keys: impl IntoIterator<Item = &'a [u8]>) -> Ticket {
        self.answers.begin(keys)
    }

    /// Whether it is held now.
    pub(super) fn insert(&self, ticket: Ticket, key: &[u8], kept: KeptAnswer) -> Inserted {
        let (weight, asked_at, until) = (kept.cost() as u64, kept.asked_at, kept.until);
        self.answers.insert(ticket, key, kept, weight, asked_at, until)
    }

    /// Redis tells from now on.
    pub(super) fn connected(&self, now: Timestamp) {
        self.confirmed.store(now.as_millis(), Relaxed);
        // First: whoever draws a ticket of the new life reads from whom its line leads to.
        self.lives.fetch_add(1, Relaxed);
        self.answers.connected(now);
    }

    /// Whatever was told before `asked_at` has been passed on.
    pub(super) fn confirmed(&self, asked_at: Timestamp) {
        self.confirmed.fetch_max(asked_at.as_millis(), Relaxed);
        self.answers.confirmed(asked_at);
    }

    pub(super) fn invalidate(&self, key: &[u8]) {
        self.answers.invalidate(key);
    }

    pub(super) fn flush(&self) {
        self.answers.flush();
    }

    pub(super) fn disconnected(&self) {
        self.answers.disconnected();
    }

    /// Whether Redis tells now.
    pub(super) fn is_live(&self, now: Timestamp) -> bool {
        let confirmed = Timestamp::from_millis(self.confirmed.load(Relaxed));
        self.answers.is_valid(&self.answers.begin([])) && now.since(confirmed) <= self.silence
    }

    /// Which life this is.
    pub(super) fn life(&self) -> u64 {
        self.lives.load(Relaxed)
    }

    pub(super) fn figures(&self) -> tracked::TrackedFigures {
        self.answers.figures()
    }
}
