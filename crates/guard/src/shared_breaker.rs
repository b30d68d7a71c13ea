//! Shared breaker: a [`Breaker`] that all cores ask. Whoever asks takes a [`Passage`] through it and says on it what came
//! of the call; one that is dropped in silence says that nothing is known.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::breaker::{Breaker, BreakerDecision};

/// See the module. While nothing has failed lately, asking costs one load and no look at a clock.
#[derive(Debug)]
pub struct SharedBreaker {
    breaker: Mutex<Breaker>,
    /// Nothing has failed lately, so nobody needs the lock.
    is_untroubled: AtomicBool,
    recoveries: AtomicU64,
}

/// One call's way through the breaker.
#[derive(Debug)]
pub struct Passage {
    breaker: Arc<SharedBreaker>,
    /// When it was taken, where others wait for what comes of it.
    probe_since: Option<Instant>,
}

/// What a failure did to the breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// It stays as it is.
    No,
    /// It is open from now on.
    Newly,
    /// It had been open, and a probe has failed: it stays open.
    Again,
}

impl SharedBreaker {
    /// A closed one, which is open for no longer than `rest` between probes.
    pub fn new(rest: Duration) -> Arc<Self> {
        Arc::new(SharedBreaker {
            breaker: Mutex::new(Breaker::new(rest)),
            is_untroubled: AtomicBool::new(true),
            recoveries: AtomicU64::new(0),
        })
    }

    /// A way through, unless it is open.
    pub fn pass(self: &Arc<Self>, now: impl FnOnce() -> Instant) -> Option<Passage> {
        let probe_since = if self.is_untroubled.load(Relaxed) {
            None
        } else {
            let now = now();
            match self.lock().try_pass(now) {
                BreakerDecision::Pass => None,
                BreakerDecision::Probe => Some(now),
                BreakerDecision::Refused => return None,
            }
        };
        Some(Passage { breaker: Arc::clone(self), probe_since })
    }

    /// Whether the target is taken for well: from the success of a probe until the breaker opens.
    pub fn is_closed(&self) -> bool {
        self.is_untroubled.load(Relaxed) || self.lock().is_closed()
    }

    /// Whether there is a way through now.
    pub fn would_pass(&self, now: impl FnOnce() -> Instant) -> bool {
        self.is_untroubled.load(Relaxed) || self.lock().would_pass(now())
    }

    /// How often it has been closed again.
    pub fn recoveries(&self) -> u64 {
        self.recoveries.load(Relaxed)
    }

    /// The target has done work that did not pass here. Says whether it was not taken for well.
    pub fn revived(&self) -> bool {
        self.closing(Breaker::revived)
    }

    /// Has the breaker told of a success. Says whether that closed it.
    fn closing(&self, tell: impl FnOnce(&mut Breaker) -> bool) -> bool {
        if self.is_untroubled.load(Relaxed) {
            return false;
        }
        let mut breaker = self.lock();
        let has_closed = tell(&mut breaker);
        if has_closed {
            self.recoveries.fetch_add(1, Relaxed);
        }
        self.is_untroubled.store(breaker.is_untroubled(), Relaxed);
        has_closed
    }

    /// No code that can panic runs under the lock, so a poisoned one is as good as another.
    fn lock(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Passage {
    /// Whether the others wait for what comes of it.
    pub fn is_probe(&self) -> bool {
        self.probe_since.is_some()
    }

    /// The target did its work. Says whether that closed the breaker.
    pub fn succeeded(mut self) -> bool {
        let is_probe = self.probe_since.take().is_some();
        self.breaker.closing(|breaker| breaker.succeeded(is_probe))
    }

    /// It did not.
    pub fn failed(mut self, now: Instant) -> Opened {
        let is_probe = self.probe_since.take().is_some();
        let mut breaker = self.breaker.lock();
        let has_opened = breaker.failed(is_probe, now);
        self.breaker.is_untroubled.store(false, Relaxed);
        match (has_opened, is_probe) {
            (false, _) => Opened::No,
            (true, false) => Opened::Newly,
            (true, true) => Opened::Again,
        }
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        if let Some(since) = self.probe_since {
            self.breaker.lock().abandoned(true, since);
        }
    }
}
