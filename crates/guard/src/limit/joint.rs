//! Joint: one limit that several instances keep together: they count at one server, and each for itself while that is gone.
//!
//! In: the time, and what became of questions to the server. Out: whom to ask of the next call ([`Way`]). Shared by all cores of
//! an instance as one [`Joint`]; nothing here knows how the server is asked.
//!
//! ```text
//!             three questions in a row fail
//!   together ───────────────────────────────► alone     a part of the limit, spent at first
//!      ▲ ▲                                      │
//!      │ └──────────────── a heartbeat is heard ┤       nothing was let through alone
//!      │   after a while                        ▼
//!      └──────────────────────────────────── settling   the server and the part both have to agree
//! ```
//!
//! What is let through alone is not known to the server, and the other way round. So a quota is never handed from one to the
//! other: the part begins spent, and what was let through alone is waited out (`standing` says how long, and why that is
//! enough). `part` is what an instance may do alone, `quota` the limit in numbers that the server's scripts count with exactly.
//! `simulation` tests all of it.

mod part;
mod quota;
#[cfg(test)]
mod simulation;
mod standing;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Allowance, LimitDecision, Limits};
use standing::Standing;

pub use quota::{Count, JointQuota};

/// See the module.
#[derive(Debug)]
pub struct Joint(Mutex<Standing>);

/// Whom to ask whether a call is let through.
#[derive(Debug)]
pub enum Way {
    /// The server; as if the whole quota had been taken at this moment by its clock, in microseconds, if it was not taken
    /// later. Zero: it was not.
    Together(u64),
    /// Whatever this lets through, the server; both count.
    Settling(Arc<Limits>),
    /// [`Joint::take_alone`].
    Alone,
}

/// How long things take at most between instances and their server.
#[derive(Clone, Copy, Debug)]
pub struct Delays {
    /// Until a question has been answered or has failed.
    pub answer: Duration,
    /// From when a server is back until all who counted alone have heard of it.
    pub lag: Duration,
}

impl Joint {
    /// An instance that was seen no longer ago than this is one of those that share the limit.
    pub const LATELY: Duration = Duration::from_mins(1);

    /// All cores of all instances may do so much together. For `keys` at once while it counts alone.
    pub fn new(allowance: Allowance, keys: usize, delays: Delays) -> Self {
        Joint(Mutex::new(Standing::new(allowance, keys, delays)))
    }

    /// Whom to ask now.
    pub fn way(&self, now: Instant) -> Way {
        self.lock().way(now)
    }

    /// A question was answered.
    pub fn answered(&self, now: Instant) {
        self.lock().answered(now);
    }

    /// A question was not answered: nobody knows whether it was counted, so whatever was asked for is not done. Says whether
    /// this instance counts alone from now on.
    pub fn failed(&self, now: Instant) -> bool {
        self.lock().failed(now)
    }

    /// A heartbeat was answered: so many instances have been seen lately, and the server's clock shows this, in microseconds.
    /// Says whether this instance had counted alone.
    pub fn seen(&self, now: Instant, instances: u64, clock: u64) -> bool {
        self.lock().seen(now, instances, clock)
    }

    /// Takes one of what this instance may do alone; `None`: it is not alone any more.
    pub fn take_alone(&self, key: &[u8], now: Instant) -> Option<LimitDecision> {
        self.lock().take_alone(key, now)
    }

    /// What it would say, without taking anything.
    pub fn peek_alone(&self, key: &[u8], now: Instant) -> Option<LimitDecision> {
        self.lock().peek_alone(key, now)
    }

    /// Whether calls are counted at the server.
    pub fn is_together(&self) -> bool {
        !self.lock().is_alone()
    }

    /// How many instances there are, as far as it was ever heard.
    pub fn instances(&self) -> u64 {
        self.lock().instances()
    }

    /// How many keys are told apart alone, and how many of those were forgotten for there were too many.
    pub fn keys(&self) -> (u64, u64) {
        self.lock().keys()
    }

    /// No code that can panic runs under the lock, so a poisoned one is as good as another.
    fn lock(&self) -> MutexGuard<'_, Standing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
