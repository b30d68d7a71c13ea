//! Outcomes: what became of calls at one layer of one place, counted over all cores: only what is worth telling, so that a layer
//! with nothing to do counts nothing. In: what happened. Out: one family of metrics for all remedies.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// What a remedy did with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was refused.
    Refused,
    /// It went on after it had waited for its turn.
    Queued,
    /// It was given up: it had waited in vain for its turn, or took too long.
    Late,
    /// It was made once more.
    Again,
    /// It was not made once more, for there was no budget left.
    Denied,
    /// What was made once more was the better one.
    Won,
    /// Something that the config says was given instead.
    StoodIn,
    /// It was the failure that opened a breaker.
    Opened,
    /// It was the probe that closed a breaker.
    Closed,
    /// It was answered without asking.
    Answered,
    /// It, or its answer, was changed by a function.
    Changed,
    /// A function that it was to be changed by failed.
    Failed,
    /// It was made to wait on purpose.
    Delayed,
    /// It was made to fail on purpose.
    Aborted,
    /// The content of its answer was broken off on purpose.
    Cut,
    /// It passed by what this instance may let pass for itself, since others could not be asked.
    Local,
    /// It passed, and nobody could count it.
    Uncounted,
    /// It was refused, since nobody could count it.
    Unavailable,
}

impl Outcome {
    const COUNT: usize = Outcome::Unavailable as usize + 1;

    /// As metrics call it.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Refused => "refused",
            Outcome::Queued => "queued",
            Outcome::Late => "late",
            Outcome::Again => "again",
            Outcome::Denied => "denied",
            Outcome::Won => "won",
            Outcome::StoodIn => "stood-in",
            Outcome::Opened => "opened",
            Outcome::Closed => "closed",
            Outcome::Answered => "answered",
            Outcome::Changed => "changed",
            Outcome::Failed => "failed",
            Outcome::Delayed => "delayed",
            Outcome::Aborted => "aborted",
            Outcome::Cut => "cut",
            Outcome::Local => "local",
            Outcome::Uncounted => "uncounted",
            Outcome::Unavailable => "unavailable",
        }
    }
}

/// Where a layer counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The route, as written; `(steps of NAME)`: the steps of all routes that ask this source.
    pub route: Box<str>,
    /// The name of the policy.
    pub policy: Box<str>,
    /// The remedy, as it is written in a policy.
    pub remedy: &'static str,
}

/// What became of calls at one place.
#[derive(Debug)]
pub struct Outcomes {
    /// Those that may happen there.
    known: &'static [Outcome],
    counts: [AtomicU64; Outcome::COUNT],
}

/// Those of all places. A place keeps its counts over a reload.
#[derive(Debug, Default)]
pub struct Tally(Arc<Mutex<BTreeMap<Place, Arc<Outcomes>>>>);

impl Outcomes {
    /// One more.
    pub(crate) fn count(&self, outcome: Outcome) {
        self.counts[outcome as usize].fetch_add(1, Relaxed);
    }
}

impl Tally {
    /// That of the plan after this one.
    pub(crate) fn of_next(&self) -> Tally {
        Tally(Arc::clone(&self.0))
    }

    /// Where the layer of a place counts; it may tell of these.
    pub fn at(&self, place: Place, known: &'static [Outcome]) -> Arc<Outcomes> {
        let made = || Arc::new(Outcomes { known, counts: Default::default() });
        Arc::clone(self.lock().entry(place).or_insert_with(made))
    }

    /// Of those places that the plan still has: how often each outcome was.
    pub fn counts(&self) -> Vec<([String; 4], u64)> {
        let mut places = self.lock();
        places.retain(|_, outcomes| Arc::strong_count(outcomes) > 1);
        let each = places.iter().flat_map(|(place, outcomes)| {
            outcomes.known.iter().map(|outcome| {
                let Place { route, policy, remedy } = place;
                let labels = [&**route, policy, remedy, outcome.word()].map(str::to_owned);
                (labels, outcomes.counts[*outcome as usize].load(Relaxed))
            })
        });
        each.collect()
    }

    /// No code that can panic runs under the lock, so a poisoned one is as good as another.
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Place, Arc<Outcomes>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(route: &str) -> Place {
        Place { route: route.into(), policy: "p".into(), remedy: "retry" }
    }

    #[test]
    fn a_place_keeps_its_counts_as_long_as_a_plan_has_it() {
        let tally = Tally::default();
        let known = &[Outcome::Again, Outcome::Denied];
        let first = tally.at(place("/a"), known);
        first.count(Outcome::Again);
        let next = tally.of_next();
        next.at(place("/a"), known).count(Outcome::Again);
        let told = |labels: [&str; 4], count| (labels.map(str::to_owned), count);
        let expected = [told(["/a", "p", "retry", "again"], 2), told(["/a", "p", "retry", "denied"], 0)];
        assert_eq!(next.counts(), expected);
        drop(first);
        assert!(next.counts().is_empty());
    }
}
