//! Arriving: the content of a fill, as far as it has come. All of it while there is room for it; else only what somebody
//! still has to read. Held by `fill`, behind its lock.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use crate::fill::beginning::Beginning;
use crate::tier::block::Block;
use crate::tier::memory_account::{Content, Hold, MemoryAccount};

/// See the module.
#[derive(Debug)]
pub(crate) enum Arriving {
    /// From the first byte on.
    Growing(Growing),
    /// What its readers have not all read yet.
    Passing(Passing),
    /// All of it, shared with the stored entry.
    Whole(Bytes),
}

/// Content that is to be stored.
#[derive(Debug)]
pub(crate) struct Growing {
    bytes: Block,
    /// Of the buffer's capacity.
    hold: Hold,
}

/// Content that streams past the cache.
#[derive(Debug)]
pub(crate) struct Passing {
    pieces: VecDeque<(Bytes, Hold)>,
    unread: u64,
    /// What all have read.
    before: Beginning,
}

/// Above this much unread content a passing answer waits for its slowest reader.
const WINDOW: u64 = 256 * 1024;
/// The same for each reader but one, where there is no room for that.
const NARROW_WINDOW: u64 = 16 * 1024;
/// Most content a reader takes at once.
const PIECE: usize = 64 * 1024;
/// The same where there is no room for that.
const SMALL_PIECE: usize = 8 * 1024;

impl Arriving {
    /// `length`: what is to come, where it is known.
    pub(crate) fn new(length: Option<u64>, held: &Arc<MemoryAccount>) -> Arriving {
        let length = length.unwrap_or(0);
        match held.room(length) {
            Some(hold) => Arriving::Growing(Growing { bytes: hold.block(length as usize), hold }),
            None => Arriving::Passing(Passing::default()),
        }
    }

    /// More is here. Content that comes to more than `most`, or finds no room, passes from now on.
    pub(crate) fn push(&mut self, data: Bytes, most: u64, held: &Arc<MemoryAccount>) {
        match self {
            Arriving::Growing(growing) => {
                if !growing.push(&data, most) {
                    self.pass();
                    self.push(data, most, held);
                }
            }
            Arriving::Passing(passing) => {
                let hold = held.hold(data.len() as u64);
                passing.push(data, hold);
            }
            Arriving::Whole(_) => {}
        }
    }

    /// What has come of it passes from now on.
    fn pass(&mut self) {
        let before = std::mem::replace(self, Arriving::Passing(Passing::default()));
        if let (Arriving::Growing(Growing { bytes, hold }), Arriving::Passing(passing)) = (before, self)
            && !bytes.is_empty()
        {
            passing.push(Bytes::from_owner(bytes), hold);
        }
    }

    /// All has come. Given back: the whole content, where it was kept.
    pub(crate) fn complete(&mut self) -> Option<Content> {
        let Arriving::Growing(_) = self else { return None };
        let Arriving::Growing(Growing { bytes, hold }) =
            std::mem::replace(self, Arriving::Whole(Bytes::new()))
        else {
            return None;
        };
        let content = hold.filled(bytes);
        *self = Arriving::Whole(content.bytes().clone());
        Some(content)
    }

    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Arriving::Passing(_))
    }

    /// Where what is kept begins.
    pub(crate) fn start(&self) -> u64 {
        match self {
            Arriving::Passing(passing) => passing.before.length(),
            Arriving::Growing(_) | Arriving::Whole(_) => 0,
        }
    }

    /// How much has come in all.
    pub(crate) fn end(&self) -> u64 {
        match self {
            Arriving::Growing(growing) => growing.bytes.len() as u64,
            Arriving::Passing(passing) => passing.end(),
            Arriving::Whole(bytes) => bytes.len() as u64,
        }
    }

    /// The next piece for a reader who has read so much. Growing content is copied out, since handing out slices would
    /// pin every buffer it grows through; the others are shared.
    pub(crate) fn piece(&self, read: u64, held: &Arc<MemoryAccount>) -> Option<Bytes> {
        let piece = match self {
            Arriving::Growing(growing) => growing.piece(read as usize, held),
            Arriving::Passing(passing) => passing.piece(read),
            Arriving::Whole(bytes) => bytes.slice(read as usize..),
        };
        (!piece.is_empty()).then_some(piece)
    }
}

impl Growing {
    /// Whether there was room.
    fn push(&mut self, data: &[u8], most: u64) -> bool {
        const LEAST: usize = 4 * 1024;
        let (capacity, needed) = (self.bytes.capacity(), self.bytes.len() + data.len());
        if needed as u64 > most {
            return false;
        }
        if needed > capacity {
            let larger = (capacity * 2).min(most as usize).max(needed).max(LEAST);
            // Both buffers are there while one is copied into the other.
            if !self.hold.resize((capacity + larger) as u64) {
                return false;
            }
            self.bytes.grow(larger);
            self.hold.resize(self.bytes.capacity() as u64);
        }
        self.bytes.extend(data);
        true
    }

    fn piece(&self, read: usize, held: &Arc<MemoryAccount>) -> Bytes {
        let rest = &self.bytes[read..];
        let wanted = &rest[..rest.len().min(PIECE)];
        if wanted.len() > SMALL_PIECE
            && let Some(hold) = held.room(wanted.len() as u64)
        {
            return hold.copied(wanted).bytes().clone();
        }
        Bytes::copy_from_slice(&wanted[..wanted.len().min(SMALL_PIECE)])
    }
}

impl Default for Passing {
    fn default() -> Self {
        Passing { pieces: VecDeque::new(), unread: 0, before: Beginning::new() }
    }
}

impl Passing {
    fn push(&mut self, data: Bytes, hold: Hold) {
        self.unread += data.len() as u64;
        self.pieces.push_back((data, hold));
    }

    pub(crate) fn start(&self) -> u64 {
        self.before.length()
    }

    pub(crate) fn end(&self) -> u64 {
        self.before.length() + self.unread
    }

    /// The slowest reader has read so much: what lies before that is given back, piece by piece.
    pub(crate) fn advance(&mut self, slowest: u64) {
        while let Some((piece, _)) = self.pieces.front()
            && self.before.length() + piece.len() as u64 <= slowest
        {
            self.before.push(piece);
            self.unread -= piece.len() as u64;
            self.pieces.pop_front();
        }
    }

    /// What a reader has had who has read so much.
    pub(crate) fn beginning(&self, read: u64) -> Beginning {
        let mut had = self.before.clone();
        for (piece, _) in &self.pieces {
            let left = read.saturating_sub(had.length()) as usize;
            had.push(&piece[..left.min(piece.len())]);
        }
        had
    }

    /// How much may wait for the slowest of so many readers. With a single one nothing is read ahead that there is no
    /// room for.
    pub(crate) fn window(readers: usize, held: &MemoryAccount) -> u64 {
        if held.has_room(WINDOW) {
            WINDOW
        } else {
            WINDOW.min(NARROW_WINDOW * (readers as u64).saturating_sub(1))
        }
    }

    fn piece(&self, read: u64) -> Bytes {
        let mut offset = self.before.length();
        for (piece, _) in &self.pieces {
            let end = offset + piece.len() as u64;
            if read < end {
                let from = (read - offset) as usize;
                return piece.slice(from..piece.len().min(from + PIECE));
            }
            offset = end;
        }
        Bytes::new()
    }
}
