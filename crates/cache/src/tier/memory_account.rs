//! Memory account: the content this process has in memory, wherever it is: arriving, stored, or stored no more and still being
//! read. Every byte counts from the moment there is room for it until its last reader gives it back.
//!
//! ```text
//!   room ──► arriving ──► stored ──► evicted, replaced, purged, and still being read ──► given back
//!            └─ on loan ┘ └ in the ┘ └──────────────── on loan ────────────────────┘
//!                           table
//! ```
//!
//! The table keeps to `memory`. What is not in it is on loan, and there is room for new content only while no more than
//! a fifth of `memory` is (8 MiB at least). Whatever happens to content later only moves it from one account to the
//! other, so that both together never come to more than `memory` and a fifth, whoever reads what, and however slowly.
//! What is promised is a quarter: the rest is for what allocators round up and keep (see `block`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytes::Bytes;

use crate::tier::block::Block;

/// See the module. Shared by all cores.
#[derive(Debug, Default)]
pub(crate) struct MemoryAccount {
    all: AtomicU64,
    in_table: AtomicU64,
    /// What there may be on loan when there is room for more.
    most_on_loan: AtomicU64,
    /// Content up to this length is allocated.
    short: AtomicU64,
    /// What there was no room for lately, though it would fit if nobody else had anything on loan.
    refused: AtomicU64,
}

/// Whatever `memory` is: what has been pushed out and is being written to disk must leave room for what comes next.
const LEAST_ON_LOAN: u64 = 8 * 1024 * 1024;
/// Whatever `memory` is: mapping less costs more than reading it from a socket.
const LEAST_SHORT: u64 = 64 * 1024;

impl MemoryAccount {
    pub(crate) fn new(memory: u64) -> Arc<MemoryAccount> {
        let held = MemoryAccount::default();
        held.set_memory(memory);
        Arc::new(held)
    }

    /// `memory` has changed with the configuration.
    pub(crate) fn set_memory(&self, memory: u64) {
        self.most_on_loan.store((memory / 5).max(LEAST_ON_LOAN), Relaxed);
        self.short.store((memory / 128).max(LEAST_SHORT), Relaxed);
    }

    /// Content has come into the table.
    pub(crate) fn stored(&self, bytes: u64) {
        self.in_table.fetch_add(bytes, Relaxed);
    }

    /// Content has left the table. Whoever still reads it has it on loan.
    pub(crate) fn dropped(&self, bytes: u64) {
        self.in_table.fetch_sub(bytes, Relaxed);
    }

    /// Bytes that are not in the table.
    pub(crate) fn on_loan(&self) -> u64 {
        self.all.load(Relaxed).saturating_sub(self.in_table.load(Relaxed))
    }

    fn most_on_loan(&self) -> u64 {
        self.most_on_loan.load(Relaxed)
    }

    /// Room for so much more content, if there is.
    pub(crate) fn room(self: &Arc<Self>, bytes: u64) -> Option<Hold> {
        let hold = self.hold(bytes);
        if self.on_loan() <= self.most_on_loan() {
            return Some(hold);
        }
        if bytes <= self.most_on_loan() {
            self.refused.fetch_max(bytes, Relaxed);
        }
        None
    }

    /// Whether there would be.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.on_loan() + bytes <= self.most_on_loan()
    }

    /// Room for what is there already, and must be: a reader's next piece.
    pub(crate) fn hold(self: &Arc<Self>, bytes: u64) -> Hold {
        self.all.fetch_add(bytes, Relaxed);
        Hold { held: Arc::clone(self), bytes }
    }

    /// Whether somebody was refused what readers who do not move may have on loan.
    pub(crate) fn is_short(&self) -> bool {
        let refused = self.refused.load(Relaxed);
        if refused == 0 {
            return false;
        }
        let is_short = self.on_loan() + refused > self.most_on_loan();
        if !is_short {
            self.refused.store(0, Relaxed);
        }
        is_short
    }
}

/// Room for content; given back when dropped.
#[derive(Debug)]
pub(crate) struct Hold {
    held: Arc<MemoryAccount>,
    bytes: u64,
}

impl Hold {
    /// Takes this much instead, if there is room for the difference.
    pub(crate) fn resize(&mut self, bytes: u64) -> bool {
        if bytes > self.bytes {
            let Some(mut more) = self.held.room(bytes - self.bytes) else { return false };
            more.bytes = 0;
        } else {
            self.held.all.fetch_sub(self.bytes - bytes, Relaxed);
        }
        self.bytes = bytes;
        true
    }

    /// A place for so much.
    pub(crate) fn block(&self, capacity: usize) -> Block {
        Block::new(capacity, self.held.short.load(Relaxed) as usize)
    }

    /// A copy of this content, for what lies in a buffer that others share.
    pub(crate) fn copied(self, bytes: &[u8]) -> Content {
        let mut block = self.block(bytes.len());
        block.extend(bytes);
        self.filled(block)
    }

    /// The content there was room for, counted until its last reader gives it back.
    pub(crate) fn filled(mut self, mut bytes: Block) -> Content {
        bytes.complete();
        // It may have become less: what is there counts.
        let length = bytes.len() as u64;
        self.held.all.fetch_add(length, Relaxed);
        self.held.all.fetch_sub(std::mem::replace(&mut self.bytes, length), Relaxed);
        Content(Bytes::from_owner(Filled { bytes, _hold: self }))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.held.all.fetch_sub(self.bytes, Relaxed);
    }
}

struct Filled {
    bytes: Block,
    _hold: Hold,
}

impl AsRef<[u8]> for Filled {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Content that counts. A clone costs one reference, and so does a slice of it.
#[derive(Clone, Debug, Default)]
pub struct Content(Bytes);

impl Content {
    /// What is part of the program counts for nothing.
    pub const fn from_static(bytes: &'static [u8]) -> Self {
        Content(Bytes::from_static(bytes))
    }

    /// The bytes, which count as long as anybody has them.
    pub fn bytes(&self) -> &Bytes {
        &self.0
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With room for so much.
    fn short(bytes: u64) -> Arc<MemoryAccount> {
        Arc::new(MemoryAccount { most_on_loan: bytes.into(), ..MemoryAccount::default() })
    }

    fn content(held: &Arc<MemoryAccount>, length: usize) -> Content {
        held.room(length as u64).expect("there is room").copied(&vec![b'x'; length])
    }

    #[test]
    fn a_byte_counts_until_its_last_reader_gives_it_back() {
        let held = short(100);
        let content = content(&held, 60);
        let reader = content.bytes().slice(5..6);
        drop(content);
        assert_eq!(held.on_loan(), 60);
        drop(reader);
        assert_eq!(held.on_loan(), 0);
    }

    #[test]
    fn there_is_room_while_no_more_than_a_fifth_is_on_loan() {
        let held = short(100);
        let first = content(&held, 60);
        assert!(held.room(41).is_none() && held.is_short());
        assert!(held.room(40).is_some());
        // Stored, it is the table's; pushed out, its readers have it on loan again.
        held.stored(60);
        let second = content(&held, 100);
        held.dropped(60);
        assert_eq!(held.on_loan(), 160);
        assert!(held.room(1).is_none());
        drop((first, second));
        assert!(held.room(100).is_some() && !held.is_short());
    }

    #[test]
    fn room_may_grow_as_far_as_there_is_some() {
        let held = short(100);
        let mut hold = held.room(10).expect("there is room");
        assert!(hold.resize(100) && !hold.resize(101));
        assert!(hold.resize(20));
        assert_eq!(held.on_loan(), 20);
        drop(hold.copied(b"less"));
        assert_eq!(held.on_loan(), 0);
    }

    #[test]
    fn what_never_fits_makes_nobody_short() {
        let held = short(100);
        assert!(held.room(101).is_none() && !held.is_short());
    }
}
