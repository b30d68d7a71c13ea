//! Key counters: how often keys were announced. Stamps: what the counters of a read's keys were before it was sent.
//!
//! Each key has two of them, so that a key which changes all the time does not keep one that shares a counter with it
//! from being held: a stamp is valid while one of its two counts is. The key's own announcements move both.

use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use foldhash::quality::SeedableRandomState;

/// Shared by all cores. Never locked.
pub(crate) struct KeyCounters {
    /// A power of two.
    counts: Box<[AtomicU32]>,
    /// Of quality: two indices are cut from one hash. Seeded, since keys come from clients.
    hasher: SeedableRandomState,
}

/// The counters of one key, and what they were.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    places: [u32; 2],
    counts: [u32; 2],
}

/// The stamps of a read's keys.
#[derive(Clone, Debug)]
pub(crate) enum Stamps {
    One(Stamp),
    /// Shared, so that a copy costs no allocation.
    Many(Arc<[Stamp]>),
}

/// A counter began again at zero: nothing that is held can be told from what was held four billion changes ago.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Overflowed(pub bool);

impl KeyCounters {
    /// At most `most` counters, and two at least.
    pub(crate) fn new(most: u64) -> Self {
        let count = 1_u64 << most.clamp(2, 1 << 31).ilog2();
        let counts = (0..count).map(|_| AtomicU32::new(0)).collect();
        KeyCounters { counts, hasher: SeedableRandomState::random() }
    }

    /// The same places for the same keys each time.
    #[cfg(test)]
    pub(crate) fn seeded(most: u64, seed: u64) -> Self {
        KeyCounters {
            hasher: SeedableRandomState::with_seed(seed, foldhash::SharedSeed::global_fixed()),
            ..KeyCounters::new(most)
        }
    }

    /// Bytes they take.
    pub(crate) fn bytes(&self) -> u64 {
        size_of_val(&*self.counts) as u64
    }

    /// A key was announced.
    pub(crate) fn count(&self, key: &[u8]) -> Overflowed {
        let [first, second] = self.places(key).map(|place| {
            // Released, so that whoever sees the new count also sees what its caller did before.
            self.counts[place as usize].fetch_add(1, Ordering::Release) == u32::MAX
        });
        Overflowed(first || second)
    }

    /// What the counters of these keys are. Acquired: the read that is sent afterwards cannot run ahead of it.
    pub(crate) fn stamps<'a>(&self, keys: impl IntoIterator<Item = &'a [u8]>) -> Stamps {
        let mut stamps = keys.into_iter().map(|key| self.stamp(key));
        match (stamps.next(), stamps.next()) {
            (Some(only), None) => Stamps::One(only),
            (first, second) => Stamps::Many(first.into_iter().chain(second).chain(stamps).collect()),
        }
    }

    /// Whether none of the keys was announced since.
    #[inline]
    pub(crate) fn are_valid(&self, stamps: &Stamps) -> bool {
        match stamps {
            Stamps::One(stamp) => self.is_valid(*stamp),
            Stamps::Many(stamps) => stamps.iter().all(|stamp| self.is_valid(*stamp)),
        }
    }

    #[inline]
    fn is_valid(&self, stamp: Stamp) -> bool {
        let is_same = |of: usize| self.read(stamp.places[of]) == stamp.counts[of];
        is_same(0) || is_same(1)
    }

    fn stamp(&self, key: &[u8]) -> Stamp {
        let places = self.places(key);
        Stamp { places, counts: places.map(|place| self.read(place)) }
    }

    fn read(&self, place: u32) -> u32 {
        self.counts[place as usize].load(Ordering::Acquire)
    }

    fn places(&self, key: &[u8]) -> [u32; 2] {
        let hash = self.hasher.hash_one(key);
        let mask = (self.counts.len() - 1) as u32;
        [hash as u32 & mask, (hash >> 32) as u32 & mask]
    }
}

impl Stamps {
    /// Bytes outside of itself.
    pub(crate) fn heap_bytes(&self) -> usize {
        const REFERENCES: usize = 16;
        match self {
            Stamps::One(_) => 0,
            Stamps::Many(stamps) => REFERENCES + size_of_val(&**stamps),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_valid_until_its_key_is_announced() {
        let counters = KeyCounters::new(1 << 16);
        let (one, both) = (counters.stamps([&b"a"[..]]), counters.stamps([&b"a"[..], b"b"]));
        assert!(counters.are_valid(&one) && counters.are_valid(&both));
        counters.count(b"b");
        assert!(counters.are_valid(&one) && !counters.are_valid(&both));
        counters.count(b"a");
        assert!(!counters.are_valid(&one));
    }

    #[test]
    fn a_key_that_changes_all_the_time_spares_its_neighbours() {
        let lost: usize = (0..10).map(lost_beside_a_busy_key).sum();
        assert!(lost <= 3, "{lost} of 100000, of which 400 share a counter with the busy key and 0.4 both");
    }

    fn lost_beside_a_busy_key(seed: u64) -> usize {
        let counters = KeyCounters::seeded(1 << 10, seed);
        let keys = (0..10_000).map(|number| format!("key:{number}"));
        let stamps: Vec<_> = keys.map(|key| counters.stamps([key.as_bytes()])).collect();
        for _ in 0..1000 {
            counters.count(b"busy");
        }
        stamps.iter().filter(|stamps| !counters.are_valid(stamps)).count()
    }

    /// With four counters for each key, as for a full table of small answers.
    #[test]
    fn few_unchanged_keys_are_given_up() {
        let counters = KeyCounters::seeded(1 << 16, 2);
        let keys: Vec<_> = (0..16_384).map(|number| format!("key:{number}")).collect();
        let stamps: Vec<_> = keys.iter().map(|key| counters.stamps([key.as_bytes()])).collect();
        for key in &keys[..8192] {
            counters.count(key.as_bytes());
        }
        assert!(stamps[..8192].iter().all(|stamps| !counters.are_valid(stamps)));
        let lost = stamps[8192..].iter().filter(|stamps| !counters.are_valid(stamps)).count();
        assert!((200..800).contains(&lost), "{lost}: (1 - e^(-1/4))^2 is a twentieth");
    }

    #[test]
    fn a_counter_that_begins_again_says_so() {
        let counters = KeyCounters::new(2);
        counters.counts.iter().for_each(|count| count.store(u32::MAX, Ordering::Relaxed));
        assert_eq!(counters.count(b"a"), Overflowed(true));
        assert_eq!(counters.count(b"a"), Overflowed(false));
    }
}
