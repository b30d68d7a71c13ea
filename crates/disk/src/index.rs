//! Index: where every record is, in memory: hash of the key → segment, offset, length. No I/O, no keys.
//!
//! Filled by recovery and by the writer, asked by `find`. It also knows which keys have something newer waiting to be
//! written: what was there before is not found any more from the moment its replacement is handed in.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::checksum::Place;
use crate::record::UNIT;

const SHARDS: usize = 64;

/// Where a record is: 16 bytes, 24 with its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) place: Place,
    /// In units.
    length: u32,
    used: bool,
}

impl Slot {
    /// A record of so many bytes at a place.
    pub(crate) fn new(place: Place, length: u64) -> Self {
        Slot { place, length: (length / UNIT) as u32, used: false }
    }

    /// Bytes of the record.
    pub(crate) fn length(self) -> u64 {
        u64::from(self.length) * UNIT
    }
}

/// The number of an operation on a key. The newest one of a key wins.
pub(crate) type Ticket = u64;

/// Everything that is known about some of the keys.
#[derive(Default)]
pub(crate) struct Shard {
    slots: HashMap<u64, Slot, BuildHasherDefault<AsItIs>>,
    /// The newest operation on a key that waits to be written.
    pending: HashMap<u64, Pending, BuildHasherDefault<AsItIs>>,
}

#[derive(Clone, Copy)]
struct Pending {
    ticket: Ticket,
    removal: bool,
}

/// Hashes of keys are hashes already: seeded with the folder's secret.
#[derive(Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn write(&mut self, _: &[u8]) {
        unreachable!("the keys of these maps are u64")
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The index.
pub(crate) struct Index {
    shards: Box<[Mutex<Shard>]>,
    records: AtomicU64,
    tickets: AtomicU64,
}

impl Index {
    pub(crate) fn new() -> Self {
        Index {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            records: AtomicU64::new(0),
            tickets: AtomicU64::new(0),
        }
    }

    /// Records that can be found.
    pub(crate) fn records(&self) -> u64 {
        self.records.load(Relaxed)
    }

    /// Where the record is, noting that it was asked for.
    pub(crate) fn find(&self, hash: u64) -> Option<Slot> {
        let mut shard = self.shard(hash);
        let slot = shard.slots.get_mut(&hash)?;
        slot.used = true;
        Some(*slot)
    }

    /// Forgets the record, if it is still the one at this place.
    pub(crate) fn forget(&self, hash: u64, place: Place) -> bool {
        let mut shard = self.shard(hash);
        let found = shard.slots.get(&hash).is_some_and(|slot| slot.place == place);
        if found {
            self.take(&mut shard, hash);
        }
        found
    }

    /// Forgets what is known of a key because of a new operation on it. `store` and `remove` put it in the queue under
    /// the same lock, so the queue has the operations of a key in the order of their tickets. A removal is only asked
    /// for if nothing is stored and there is something to hide, so that repeated ones do not pile up. Also when the
    /// queue takes neither, nothing that waited before is found later. Tells whether the key had something.
    pub(crate) fn supersede(
        &self,
        hash: u64,
        store: impl FnOnce(Ticket) -> bool,
        remove: impl FnOnce(Ticket) -> bool,
    ) -> bool {
        let mut shard = self.shard(hash);
        let stored = self.take(&mut shard, hash).is_some();
        let waits = shard.pending.get(&hash).is_some_and(|pending| !pending.removal);
        let ticket = 1 + self.tickets.fetch_add(1, Relaxed);
        if store(ticket) {
            shard.pending.insert(hash, Pending { ticket, removal: false });
        } else if stored || waits {
            if remove(ticket) {
                shard.pending.insert(hash, Pending { ticket, removal: true });
            } else {
                shard.pending.remove(&hash);
            }
        }
        stored || waits
    }

    /// Whether the operation is still the newest of its key.
    pub(crate) fn wanted(&self, hash: u64, ticket: Ticket) -> bool {
        self.shard(hash).pending.get(&hash).is_some_and(|pending| pending.ticket == ticket)
    }

    /// The record that waits is not going to be written; a removal waits in its place. Tells whether one did wait.
    pub(crate) fn turn_into_removal(&self, hash: u64, ticket: Ticket) -> bool {
        let mut shard = self.shard(hash);
        let pending =
            shard.pending.get_mut(&hash).filter(|pending| pending.ticket == ticket && !pending.removal);
        let waits = pending.is_some();
        if let Some(pending) = pending {
            pending.removal = true;
        }
        waits
    }

    /// The operation is done: its record, if it wrote one, can be found from now on, unless a newer one waits.
    pub(crate) fn publish(&self, hash: u64, ticket: Ticket, slot: Option<Slot>) {
        let mut shard = self.shard(hash);
        let newest = shard.pending.get(&hash).is_some_and(|pending| pending.ticket == ticket);
        if newest {
            shard.pending.remove(&hash);
            if let Some(slot) = slot {
                self.put(&mut shard, hash, slot);
            }
        }
    }

    /// A record was written again elsewhere.
    pub(crate) fn moved(&self, hash: u64, from: Place, to: Slot) {
        let mut shard = self.shard(hash);
        if let Some(slot) = shard.slots.get_mut(&hash).filter(|slot| slot.place == from) {
            *slot = to;
        }
    }

    /// The record at this place, if it is the current one; and whether it was asked for since it was written.
    pub(crate) fn current(&self, hash: u64, place: Place) -> Option<(Slot, bool)> {
        let shard = self.shard(hash);
        shard.slots.get(&hash).filter(|slot| slot.place == place).map(|slot| (*slot, slot.used))
    }

    /// For recovery, which meets records in the order they were written.
    pub(crate) fn recover(&self, hash: u64, slot: Option<Slot>) {
        let mut shard = self.shard(hash);
        match slot {
            Some(slot) => self.put(&mut shard, hash, slot),
            None => drop(self.take(&mut shard, hash)),
        }
    }

    /// Forgets all records of a segment; tells how many.
    pub(crate) fn forget_segment(&self, segment: u32) -> u64 {
        let mut gone = 0;
        for shard in &self.shards {
            let mut shard = lock(shard);
            let before = shard.slots.len();
            shard.slots.retain(|_, slot| slot.place.segment != segment);
            gone += (before - shard.slots.len()) as u64;
        }
        self.records.fetch_sub(gone, Relaxed);
        gone
    }

    /// Forgets everything, also what waits to be written.
    pub(crate) fn clear(&self) {
        for shard in &self.shards {
            let mut shard = lock(shard);
            self.records.fetch_sub(shard.slots.len() as u64, Relaxed);
            *shard = Shard::default();
        }
    }

    fn put(&self, shard: &mut Shard, hash: u64, slot: Slot) {
        if shard.slots.insert(hash, slot).is_none() {
            self.records.fetch_add(1, Relaxed);
        }
    }

    fn take(&self, shard: &mut Shard, hash: u64) -> Option<Slot> {
        let slot = shard.slots.remove(&hash);
        if slot.is_some() {
            self.records.fetch_sub(1, Relaxed);
        }
        slot
    }

    /// The map takes its buckets from the low bits and its tags from the highest seven, so shards take some between.
    fn shard(&self, hash: u64) -> MutexGuard<'_, Shard> {
        lock(&self.shards[(hash >> 48) as usize % SHARDS])
    }
}

/// A panic elsewhere leaves these maps whole: every change is one call.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(segment: u32) -> Slot {
        Slot::new(Place { segment, offset: 1 }, 64)
    }

    #[test]
    fn the_newest_operation_wins_whatever_is_written_when() {
        let index = Index::new();
        let mut tickets = Vec::new();
        for _ in 0..2 {
            let store = |ticket| {
                tickets.push(ticket);
                true
            };
            index.supersede(7, store, |_| false);
        }
        assert!(!index.wanted(7, tickets[0]));
        index.publish(7, tickets[0], Some(slot(1)));
        assert!(index.find(7).is_none(), "something newer waits");
        index.publish(7, tickets[1], Some(slot(2)));
        assert_eq!(index.find(7).map(|slot| slot.place.segment), Some(2));
        assert_eq!(index.records(), 1);
    }

    #[test]
    fn what_is_replaced_is_gone_at_once() {
        let index = Index::new();
        index.recover(7, Some(slot(1)));
        assert!(index.supersede(7, |_| false, |_| true));
        assert!(!index.supersede(7, |_| false, |_| panic!("a removal waits already")));
        assert!(index.find(7).is_none());
        assert_eq!(index.records(), 0);
    }

    #[test]
    fn a_slot_is_small() {
        assert_eq!(size_of::<(u64, Slot)>(), 24);
    }
}
