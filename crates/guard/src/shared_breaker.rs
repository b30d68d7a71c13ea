//! Shared breaker: a [`Breaker`] that all cores ask. Whoever asks takes a [`Passage`] through it and says on it what came
//! of the call; one that is dropped in silence says that nothing is known. Calls that have passed before the breaker opened
//! say nothing either once it has: what they saw may be as old as what opened it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::breaker::record::Record;
use crate::breaker::{Breaker, BreakerDecision, BreakerRule};

/// See the module. While it is closed, passing costs one load; a success costs another where failures in a row count and
/// there was none, and a look at the clock and an addition where their share does.
#[derive(Debug)]
pub struct SharedBreaker {
    record: Record,
    /// Whoever opens or closes it holds the lock.
    breaker: Mutex<Breaker>,
    /// How often it has opened or closed: odd while it is open.
    turns: AtomicU64,
    refused: AtomicU64,
}

/// One call's way through the breaker.
#[derive(Debug)]
pub struct Passage {
    breaker: Arc<SharedBreaker>,
    /// As it was taken.
    turns: u64,
    /// Others wait for what comes of it.
    is_probe: bool,
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
    /// A closed one.
    pub fn new(rule: BreakerRule) -> Arc<Self> {
        Arc::new(SharedBreaker {
            record: Record::new(rule.opens),
            breaker: Mutex::new(Breaker::new(&rule)),
            turns: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        })
    }

    /// A way through, unless it is open. The clock is looked at only where it is.
    pub fn pass(self: &Arc<Self>, now: impl FnOnce() -> Instant) -> Option<Passage> {
        let turns = self.turns.load(Relaxed);
        let (turns, is_probe) = if is_closed(turns) { (turns, false) } else { self.pass_open(now())? };
        Some(Passage { breaker: Arc::clone(self), turns, is_probe })
    }

    fn pass_open(&self, now: Instant) -> Option<(u64, bool)> {
        let mut breaker = self.lock();
        let is_probe = match breaker.try_pass(now) {
            BreakerDecision::Pass => false,
            BreakerDecision::Probe => true,
            BreakerDecision::Refused => {
                self.refused.fetch_add(1, Relaxed);
                return None;
            }
        };
        Some((self.turns.load(Relaxed), is_probe))
    }

    /// Whether the target is taken for well: from when probes have succeeded until the breaker opens.
    pub fn is_closed(&self) -> bool {
        is_closed(self.turns.load(Relaxed))
    }

    /// Whether there is a way through now.
    pub fn would_pass(&self, now: impl FnOnce() -> Instant) -> bool {
        self.is_closed() || self.lock().would_pass(now())
    }

    /// How long until there may be a way through, for who was refused: no time at all where there is one, or where that
    /// hangs on the probe under way.
    pub fn rest(&self, now: Instant) -> Duration {
        self.lock().rest(now)
    }

    /// How often it has opened. A probe that fails keeps it open, and does not count.
    pub fn opened(&self) -> u64 {
        self.turns.load(Relaxed).div_ceil(2)
    }

    /// How often it has been closed again.
    pub fn recoveries(&self) -> u64 {
        self.turns.load(Relaxed) / 2
    }

    /// How many were given no way through.
    pub fn refused(&self) -> u64 {
        self.refused.load(Relaxed)
    }

    /// The target has done work that did not pass here. Says whether it was not taken for well.
    pub fn revived(&self) -> bool {
        if self.is_closed() {
            return false;
        }
        let mut breaker = self.lock();
        let was_open = !self.is_closed();
        if was_open {
            breaker.close();
            self.turn();
        }
        was_open
    }

    /// It has opened or closed. To be said under the lock.
    fn turn(&self) {
        self.record.clear();
        self.turns.fetch_add(1, Relaxed);
    }

    /// No code that can panic runs under the lock, so a poisoned one is as good as another.
    fn lock(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Passage {
    /// Whether the others wait for what comes of it.
    pub fn is_probe(&self) -> bool {
        self.is_probe
    }

    /// The target did its work. Says whether that closed the breaker.
    pub fn succeeded(mut self, now: impl FnOnce() -> Instant) -> bool {
        let breaker = &self.breaker;
        if !std::mem::take(&mut self.is_probe) {
            if breaker.record.heeds_success() && self.counts() {
                breaker.record.succeeded(now());
            }
            return false;
        }
        let mut state = breaker.lock();
        let has_closed = self.counts() && state.probe_succeeded();
        if has_closed {
            breaker.turn();
        }
        has_closed
    }

    /// It did not.
    pub fn failed(mut self, now: Instant) -> Opened {
        let is_probe = std::mem::take(&mut self.is_probe);
        let mut state = self.breaker.lock();
        if !self.counts() {
            return Opened::No;
        }
        if is_probe {
            state.probe_failed(now);
            return Opened::Again;
        }
        if !self.breaker.record.failed(now) {
            return Opened::No;
        }
        state.open(now);
        self.breaker.turn();
        Opened::Newly
    }

    /// Whether the breaker has neither opened nor closed since it was taken.
    fn counts(&self) -> bool {
        self.breaker.turns.load(Relaxed) == self.turns
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        if self.is_probe {
            let mut state = self.breaker.lock();
            if self.counts() {
                state.abandoned();
            }
        }
    }
}

fn is_closed(turns: u64) -> bool {
    turns.is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::breaker::Opens;

    const SECOND: Duration = Duration::from_secs(1);
    const RULE: BreakerRule =
        BreakerRule { opens: Opens::InARow(2), first_rest: SECOND, longest_rest: SECOND, probes: 1 };
    const SHARE: BreakerRule = BreakerRule {
        opens: Opens::Share { share: 0.5, window: Duration::from_secs(10), fewest: 4 },
        ..RULE
    };

    fn no_clock() -> Instant {
        panic!("nobody has to know the time")
    }

    fn pass(breaker: &Arc<SharedBreaker>) -> Passage {
        breaker.pass(no_clock).unwrap()
    }

    fn opened(rule: BreakerRule, now: Instant) -> Arc<SharedBreaker> {
        let breaker = SharedBreaker::new(rule);
        while breaker.is_closed() {
            pass(&breaker).failed(now);
        }
        breaker
    }

    #[test]
    fn what_goes_well_needs_no_lock() {
        let (told, heard) = mpsc::channel();
        for (rule, is_clock_needed) in [(RULE, false), (SHARE, true)] {
            let (breaker, told) = (SharedBreaker::new(rule), told.clone());
            let _lock = breaker.lock();
            let other = Arc::clone(&breaker);
            std::thread::spawn(move || {
                let now = || if is_clock_needed { Instant::now() } else { no_clock() };
                pass(&other).succeeded(now);
                drop(pass(&other));
                told.send(other.is_closed())
            });
            assert_eq!(heard.recv_timeout(Duration::from_secs(20)), Ok(true));
        }
    }

    #[test]
    fn it_counts_what_it_does() {
        let start = Instant::now();
        let breaker = SharedBreaker::new(RULE);
        assert_eq!((pass(&breaker).failed(start), breaker.opened()), (Opened::No, 0));
        assert_eq!((pass(&breaker).failed(start), breaker.opened()), (Opened::Newly, 1));
        assert!(breaker.pass(|| start).is_none() && !breaker.would_pass(|| start));
        assert_eq!((breaker.rest(start), breaker.refused()), (SECOND, 1));
        let probe = breaker.pass(|| start + SECOND).unwrap();
        assert!(probe.is_probe() && breaker.pass(|| start + SECOND).is_none());
        assert_eq!((probe.failed(start + SECOND), breaker.opened()), (Opened::Again, 1));
        assert!(breaker.pass(|| start + 2 * SECOND).unwrap().succeeded(no_clock));
        assert!(breaker.is_closed() && !pass(&breaker).is_probe());
        assert_eq!((breaker.opened(), breaker.recoveries(), breaker.refused()), (1, 1, 2));
    }

    #[test]
    fn who_passed_before_it_opened_neither_closes_it_nor_keeps_it_open_nor_opens_it_again() {
        let start = Instant::now();
        let later = start + SECOND;
        let breaker = SharedBreaker::new(RULE);
        let mut before: Vec<_> = (0..6).map(|_| pass(&breaker)).collect();
        let mut before = || before.pop().unwrap();
        assert_eq!([(); 2].map(|()| pass(&breaker).failed(start)), [Opened::No, Opened::Newly]);
        assert!(!before().succeeded(no_clock));
        assert_eq!(before().failed(start + SECOND / 2), Opened::No);
        assert!(breaker.pass(|| later).unwrap().succeeded(no_clock), "the rest was no longer");
        (0..2).for_each(|_| assert_eq!(before().failed(later), Opened::No));
        assert_eq!(pass(&breaker).failed(later), Opened::No);
        before().succeeded(|| later);
        assert_eq!(pass(&breaker).failed(later), Opened::Newly, "two in a row: the success was of before");
    }

    #[test]
    fn a_probe_of_before_says_nothing_of_the_next_time() {
        let start = Instant::now();
        let [one, two] = [SECOND, 2 * SECOND].map(|after| start + after);
        let fates: [fn(Passage); 3] = [
            drop,
            |probe| assert!(!probe.succeeded(no_clock)),
            |probe| assert_eq!(probe.failed(Instant::now()), Opened::No),
        ];
        for fate in fates {
            let breaker = opened(RULE, start);
            let before = breaker.pass(|| one).unwrap();
            assert!(before.is_probe() && breaker.revived() && !breaker.revived());
            while breaker.is_closed() {
                pass(&breaker).failed(one);
            }
            let next = breaker.pass(|| two).unwrap();
            fate(before);
            assert!(next.is_probe() && breaker.pass(|| two).is_none());
            drop(next);
            assert!(
                breaker.pass(|| two).unwrap().is_probe(),
                "a probe that is dropped makes room for another"
            );
        }
    }

    #[test]
    fn after_a_recovery_the_share_is_counted_anew() {
        let start = Instant::now();
        let breaker = opened(SHARE, start);
        assert!(breaker.pass(|| start + SECOND).unwrap().succeeded(no_clock));
        (0..3).for_each(|_| assert_eq!(pass(&breaker).failed(start + SECOND), Opened::No));
        assert_eq!(pass(&breaker).failed(start + SECOND), Opened::Newly);
    }
}
