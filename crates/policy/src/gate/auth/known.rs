//! Known: tokens that were found good, so that a signature is checked once and not for each hit. Bounded in number, shared by all
//! cores; it holds fingerprints, never tokens.

use message::Timestamp;
use quick_cache::UnitWeighter;
use quick_cache::sync::{Cache, DefaultLifecycle};

use super::fingerprint::Fingerprint;
use jwt::Validity;

/// Tokens that are known at once. Of more, those not seen for long are checked again.
const MOST: u64 = 65_536;
/// Room that is made at first.
const AT_FIRST: usize = 4096;

/// See the module.
pub(super) struct Known(Cache<Fingerprint, Found, UnitWeighter, foldhash::fast::RandomState>);

/// What was found of a token.
#[derive(Clone, Copy)]
struct Found {
    validity: Validity,
    /// Which set of a provider had its key; `None`: a set that does not change.
    set: Option<u64>,
}

impl Known {
    pub(super) fn new() -> Self {
        let hasher = foldhash::fast::RandomState::default();
        Known(Cache::with(AT_FIRST, MOST, UnitWeighter, hasher, DefaultLifecycle::default()))
    }

    /// It is good, as long as this set of keys is the one in use.
    pub(super) fn remember(&self, token: Fingerprint, validity: Validity, set: Option<u64>) {
        self.0.insert(token, Found { validity, set });
    }

    /// Whether it is known to be good now. `current`: the number of the set in use.
    pub(super) fn has(
        &self,
        token: &Fingerprint,
        current: impl FnOnce() -> Option<u64>,
        now: Timestamp,
    ) -> bool {
        let Some(found) = self.0.get(token) else { return false };
        found.validity.check(now).is_ok() && (found.set.is_none() || found.set == current())
    }
}
