//! Fingerprint: a key from the network as 128 bits. In: its bytes. Out: a number that takes its place. Used by limits, lines
//! and what is learnt by owner.
//!
//! Keys are not kept: a long one would take as much memory as it likes. Two keys with the same fingerprint would share a
//! quota or a line. Whoever can find such a pair can use up somebody else's, so half of it is SipHash, which is made to give
//! nothing away: foldhash alone was rejected, as it promises nothing to those who choose their keys. It is the other half,
//! against chance, for 64 bits are few; SipHash a second time took ten times as long.

use std::hash::{BuildHasher, Hasher, RandomState};

/// A key's bytes, hashed with a secret. Secret and even already, so a map of them may use the quickest hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Fingerprint(pub(crate) u64, pub(crate) u64);

/// Makes them. Those of two of these cannot be compared.
#[derive(Debug, Default)]
pub(crate) struct Fingerprints {
    secret: RandomState,
    spread: foldhash::quality::RandomState,
}

impl Fingerprints {
    /// The same for the same bytes.
    pub(crate) fn of(&self, key: &[u8]) -> Fingerprint {
        Fingerprint(hash(&self.secret, key), hash(&self.spread, key))
    }
}

fn hash(with: &impl BuildHasher, key: &[u8]) -> u64 {
    let mut hasher = with.build_hasher();
    hasher.write(key);
    hasher.finish()
}
