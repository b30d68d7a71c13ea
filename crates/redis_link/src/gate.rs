//! Gate: the breaker of one server, shared by all cores, and the figures it feeds. Who asks takes a `Passage` through
//! it and says on it what came of the request; one that is dropped in silence says that nothing is known.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::breaker::{Breaker, Verdict};
use crate::figures::Counters;

/// See the module.
pub(crate) struct Gate {
    breaker: Mutex<Breaker>,
    /// Nothing has failed lately, so nobody needs the lock.
    untroubled: AtomicBool,
    recoveries: AtomicU64,
    counters: Arc<Counters>,
}

impl Gate {
    pub(crate) fn new(counters: Arc<Counters>, rest: Duration) -> Arc<Self> {
        Arc::new(Gate {
            breaker: Mutex::new(Breaker::new(rest)),
            untroubled: AtomicBool::new(true),
            recoveries: AtomicU64::new(0),
            counters,
        })
    }

    /// A way through, unless the breaker is open.
    pub(crate) fn pass(self: &Arc<Self>) -> Option<Passage> {
        let probe = if self.untroubled.load(Ordering::Relaxed) {
            false
        } else {
            match self.lock().try_pass(Instant::now()) {
                Verdict::Pass => false,
                Verdict::Probe => true,
                Verdict::Refused => {
                    self.counters.refused();
                    return None;
                }
            }
        };
        Some(Passage { gate: Arc::clone(self), probe, said: false })
    }

    /// Whether the server is taken for well: from the success of a probe until the breaker opens.
    pub(crate) fn is_closed(&self) -> bool {
        self.untroubled.load(Ordering::Relaxed) || self.lock().is_closed()
    }

    /// Whether there is one now.
    pub(crate) fn is_open_to_requests(&self) -> bool {
        self.untroubled.load(Ordering::Relaxed) || self.lock().would_pass(Instant::now())
    }

    /// How often the breaker has been closed again.
    pub(crate) fn recoveries(&self) -> u64 {
        self.recoveries.load(Ordering::Relaxed)
    }

    /// The server has done work that did not pass here. Says whether it was not taken for well.
    pub(crate) fn revived(&self) -> bool {
        if self.untroubled.load(Ordering::Relaxed) {
            return false;
        }
        let mut breaker = self.lock();
        let has_closed = breaker.revived();
        if has_closed {
            self.recoveries.fetch_add(1, Ordering::Relaxed);
        }
        self.untroubled.store(breaker.is_untroubled(), Ordering::Relaxed);
        has_closed
    }

    /// No code that can panic runs under the lock, so a poisoned one is as good as another.
    fn lock(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn succeeded(&self, probe: bool) -> bool {
        if self.untroubled.load(Ordering::Relaxed) {
            return false;
        }
        let mut breaker = self.lock();
        let has_closed = breaker.succeeded(probe);
        if has_closed {
            self.recoveries.fetch_add(1, Ordering::Relaxed);
        }
        self.untroubled.store(breaker.is_untroubled(), Ordering::Relaxed);
        has_closed
    }

    fn failed(&self, probe: bool) -> bool {
        self.counters.failed();
        let mut breaker = self.lock();
        let has_opened = breaker.failed(probe, Instant::now());
        if has_opened {
            self.counters.opened();
        }
        self.untroubled.store(false, Ordering::Relaxed);
        has_opened && !probe
    }
}

/// One request's way through the gate.
pub(crate) struct Passage {
    gate: Arc<Gate>,
    probe: bool,
    said: bool,
}

impl Passage {
    /// Whether the others wait for what comes of it.
    pub(crate) fn is_probe(&self) -> bool {
        self.probe
    }

    /// The server did its work. Says whether that closed the breaker.
    pub(crate) fn succeeded(mut self) -> bool {
        self.said = true;
        self.gate.succeeded(self.probe)
    }

    /// It did not. Says whether that opened the breaker, and not again after a probe.
    pub(crate) fn failed(mut self) -> bool {
        self.said = true;
        self.gate.failed(self.probe)
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        if self.probe && !self.said {
            self.gate.lock().abandoned(true, Instant::now());
        }
    }
}
