//! Eviction: room for what is to be written. The oldest segment goes, whole; what was asked for since it was written
//! is written again at the end, up to half a segment's worth, so that what is hot stays.
//!
//! Strictly by age: whatever hides an older record of a key (a newer one, a removal) stands in a newer segment, or
//! later in the same one, and so never goes before what it hides.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;

use crate::checksum::Place;
use crate::error::{Error, Result};
use crate::figures::count;
use crate::index::Slot;
use crate::record::UNIT;
use crate::segment::{self, Contents, Segment};
use crate::writer::{Outgoing, Writer};

impl Writer {
    /// Evicts until a record of this length fits into the bounds.
    pub(crate) fn make_room(&mut self, length: u64) -> Result<()> {
        let settings = &self.shared.settings;
        let (most, records) = (settings.segments(), settings.records as u64);
        // What eviction itself may write, and the index entry that comes with the record.
        let spare = settings.segment() + 2 * segment::index_length(1);
        loop {
            self.let_go();
            let fits = self.used() + length + spare <= most;
            if fits && self.shared.index.records() < records {
                return Ok(());
            }
            if let Some(oldest) = self.sealed.keys().next().copied() {
                self.evict(oldest, true)?;
            } else if self.has_active() {
                self.seal()?;
            } else if let Some((segment, _)) = self.held.pop_front() {
                segment.revoke();
            } else {
                // Nothing is left, and the bounds have room for any record that was let in.
                return Ok(());
            }
        }
    }

    /// Evicts everything written so far.
    pub(crate) fn clear(&mut self) -> Result<()> {
        self.seal()?;
        while let Some(oldest) = self.sealed.keys().next().copied() {
            self.evict(oldest, false)?;
        }
        Ok(())
    }

    fn evict(&mut self, number: u32, keep_hot: bool) -> Result<()> {
        let Some(length) = self.sealed.get(&number).copied() else { return Ok(()) };
        if let Some(segment) = self.shared.segment(number) {
            let mut listed = false;
            match segment::contents(&segment, length, self.shared.secret) {
                Ok(contents) => {
                    listed = contents.sealed;
                    self.evict_records(&segment, &contents, keep_hot)?;
                }
                Err(_) => count(&self.shared.counters.errors),
            }
            self.flush()?;
            if !listed {
                let missed = self.shared.index.forget_segment(number);
                self.shared.counters.evicted.fetch_add(missed, Relaxed);
            }
            self.delete(number)?;
            self.shared.remove_segment(number);
            // Whoever found it in the table holds it; nobody finds it any more.
            if Arc::strong_count(&segment) > 1 {
                self.held.push_back((segment, length));
            }
        } else {
            self.delete(number)?;
        }
        self.sealed.remove(&number);
        Ok(())
    }

    fn delete(&self, number: u32) -> Result<()> {
        let path = self.folder.segment(number);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("delete", &path)(error))
            }
            _ => Ok(()),
        }
    }

    fn evict_records(&mut self, segment: &Segment, contents: &Contents, keep_hot: bool) -> Result<()> {
        let mut budget = if keep_hot { self.shared.settings.segment() / 2 } else { 0 };
        for entry in contents.entries.iter().filter(|entry| entry.length > 0) {
            let place = Place { segment: segment.number, offset: entry.offset };
            let Some((slot, used)) = self.shared.index.current(entry.hash, place) else { continue };
            if used && slot.length() <= budget {
                budget -= slot.length();
                if self.write_again(segment, entry.hash, slot)? {
                    continue;
                }
            }
            if self.shared.index.forget(entry.hash, place) {
                count(&self.shared.counters.evicted);
            }
        }
        Ok(())
    }

    /// Copies a record to the end; `false` if it cannot be read or is not what was written.
    fn write_again(&mut self, segment: &Segment, hash: u64, slot: Slot) -> Result<bool> {
        let (place, secret) = (slot.place, self.shared.secret);
        let Ok(bytes) = segment.read(u64::from(place.offset) * UNIT, slot.length() as usize) else {
            count(&self.shared.counters.errors);
            return Ok(false);
        };
        let bytes = Bytes::from(bytes);
        let Some((header, front)) = segment::intact(&bytes, secret, place) else {
            count(&self.shared.counters.corrupt);
            return Ok(false);
        };
        let body = &bytes[header.body_offset() as usize..][..header.body as usize];
        let (key, head, sequence) = (&front.key[..], &front.head[..], header.sequence);
        self.rewrite(&Outgoing { key, head, body, hash, sequence }, place)?;
        Ok(true)
    }

    /// Counts no more what nobody reads any more. Slow readers together may keep an eighth of the bytes; over that,
    /// those of the oldest segments get an error, so that nobody can fill the disk by reading slowly.
    fn let_go(&mut self) {
        self.held.retain(|(segment, _)| Arc::strong_count(segment) > 1);
        while self.held.iter().map(|(_, length)| length).sum::<u64>() > self.shared.settings.held() {
            if let Some((segment, _)) = self.held.pop_front() {
                segment.revoke();
            }
        }
    }
}
