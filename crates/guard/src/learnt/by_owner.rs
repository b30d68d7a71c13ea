//! By owner: what was learnt for each owner of a quota: a source, an account, a caller with a key of its own. In: what tells the
//! owner from others. Out: its [`Learnt`]. Shared by all cores.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quick_cache::sync::Cache;

use super::Learnt;
use super::figures::OwnersFigures;
use crate::fingerprint::{Fingerprint, Fingerprints};

/// See the module. Of more owners than there is room for, those who call seldom are forgotten.
pub struct LearntByOwner {
    longest: Duration,
    /// What tells an owner may be a password, of any length.
    learnt: Cache<Fingerprint, Arc<Learnt>>,
    fingerprints: Fingerprints,
}

impl LearntByOwner {
    /// For so many owners, at least one. `longest`: see [`Learnt::new`].
    pub fn new(most: usize, longest: Duration) -> Self {
        LearntByOwner { longest, learnt: Cache::new(most.max(1)), fingerprints: Fingerprints::default() }
    }

    /// What was learnt for this one, which may be nothing yet.
    pub fn of(&self, owner: &[u8]) -> Arc<Learnt> {
        let fingerprint = self.fingerprints.of(owner);
        let make = || Ok::<_, Infallible>(Learnt::new(self.longest));
        let Ok(learnt) = self.learnt.get_or_insert_with(&fingerprint, make);
        learnt
    }

    /// The same, where there is anything, for whoever only looks.
    pub fn known(&self, owner: &[u8]) -> Option<Arc<Learnt>> {
        self.learnt.peek(&self.fingerprints.of(owner))
    }

    /// What is known now for all of them.
    pub fn figures(&self, now: Instant) -> OwnersFigures {
        OwnersFigures::of(self.learnt.iter().map(|(_, learnt)| learnt), now)
    }

    /// How many are known.
    pub fn len(&self) -> usize {
        self.learnt.len()
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for LearntByOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LearntByOwner").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_owner_has_its_own_and_there_are_no_more_than_there_is_room_for() {
        let owners = LearntByOwner::new(100, Duration::from_mins(1));
        assert!(owners.is_empty());
        assert!(Arc::ptr_eq(&owners.of(b"one"), &owners.of(b"one")));
        assert!(!Arc::ptr_eq(&owners.of(b"one"), &owners.of(b"another")));
        (0..10_000_u32).for_each(|number| drop(owners.of(&number.to_be_bytes())));
        assert!(owners.len() <= 100 && owners.len() > 50, "{}", owners.len());
        assert!(!format!("{owners:?}").contains("one"));
        let alone = LearntByOwner::new(1, Duration::from_mins(1));
        assert!(alone.known(b"").is_none());
        let learnt = alone.of(b"");
        assert!(Arc::ptr_eq(&learnt, &alone.of(b"")) && alone.known(b"").is_some(), "there is room for one");
    }
}
