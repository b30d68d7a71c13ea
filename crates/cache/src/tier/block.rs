//! Block: the bytes of one content, in one piece. In: how much is to come, then the bytes. Out: all of them, as a slice.
//! Made by `memory_account`; filled by whatever takes content in (`arriving`, `part`, `partial_body`).
//!
//! An allocator keeps what is given back to it for the next who asks, and in little memory long content rarely finds a
//! place in what it kept: contents of all lengths up to a sixteenth of `memory` came to two fifths more than was counted.
//! So a long block is a mapping of its own, as with malloc of glibc: only what was written is resident, and the system has
//! it back at once. That costs a page fault for every 4 KiB, so what is long depends on how much memory there is.

use std::ops::{Deref, DerefMut};

use memmap2::MmapMut;

/// See the module.
#[derive(Debug)]
pub(crate) struct Block {
    place: Place,
    /// What has more capacity is mapped.
    short: usize,
}

#[derive(Debug)]
enum Place {
    Allocated(Vec<u8>),
    Mapped(Mapping),
}

#[derive(Debug)]
struct Mapping {
    /// All zeros behind `length`.
    bytes: MmapMut,
    length: usize,
}

const LEAST_GROWN: usize = 4 * 1024;

impl Block {
    /// An empty one. `short`: the capacity up to which it is allocated.
    pub(crate) fn new(capacity: usize, short: usize) -> Block {
        // Where the system has no mapping left to give, an allocation does.
        let mapping = (capacity > short).then(|| MmapMut::map_anon(capacity).ok()).flatten();
        let place = match mapping {
            Some(bytes) => Place::Mapped(Mapping { bytes, length: 0 }),
            None => Place::Allocated(Vec::with_capacity(capacity)),
        };
        Block { place, short }
    }

    /// So many zeros, of an empty block.
    pub(crate) fn zeroed(mut self, length: usize) -> Block {
        match &mut self.place {
            Place::Allocated(bytes) => bytes.resize(length, 0),
            Place::Mapped(mapping) => mapping.length = length.min(mapping.bytes.len()),
        }
        self
    }

    /// How long it may become where it is.
    pub(crate) fn capacity(&self) -> usize {
        match &self.place {
            Place::Allocated(bytes) => bytes.capacity(),
            Place::Mapped(mapping) => mapping.bytes.len(),
        }
    }

    /// Moves to where there is room for so much. Both blocks are there while one is copied into the other.
    pub(crate) fn grow(&mut self, capacity: usize) {
        let mut larger = Block::new(capacity.max(self.len()), self.short);
        larger.extend(self);
        *self = larger;
    }

    /// More bytes at the end.
    pub(crate) fn extend(&mut self, more: &[u8]) {
        let needed = self.len() + more.len();
        if needed > self.capacity() {
            self.grow(needed.max(self.capacity() * 2).max(LEAST_GROWN));
        }
        match &mut self.place {
            Place::Allocated(bytes) => bytes.extend_from_slice(more),
            Place::Mapped(mapping) => {
                mapping.bytes[mapping.length..needed].copy_from_slice(more);
                mapping.length = needed;
            }
        }
    }

    /// It will not grow any more: nothing is taken beyond its length.
    pub(crate) fn complete(&mut self) {
        if let Place::Allocated(bytes) = &mut self.place {
            bytes.shrink_to_fit();
        }
    }
}

impl Deref for Block {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.place {
            Place::Allocated(bytes) => bytes,
            Place::Mapped(mapping) => &mapping.bytes[..mapping.length],
        }
    }
}

impl DerefMut for Block {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.place {
            Place::Allocated(bytes) => bytes,
            Place::Mapped(mapping) => &mut mapping.bytes[..mapping.length],
        }
    }
}

impl AsRef<[u8]> for Block {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SHORT: usize = 10_000;

    #[test]
    fn only_what_is_long_is_mapped() {
        let is_mapped = |block: &Block| matches!(block.place, Place::Mapped(_));
        assert!(!is_mapped(&Block::new(SHORT, SHORT)) && is_mapped(&Block::new(SHORT + 1, SHORT)));
        let mut block = Block::new(100, SHORT);
        block.extend(&[b'x'; 100]);
        assert!(!is_mapped(&block));
        block.extend(&[b'y'; SHORT]);
        assert!(is_mapped(&block) && block.len() == SHORT + 100);
        assert!(block.starts_with(&[b'x'; 100]) && block.ends_with(b"y"));
    }

    #[test]
    fn zeros_may_be_written_over() {
        for length in [0, 10, 2 * SHORT] {
            let mut block = Block::new(length, SHORT).zeroed(length);
            assert!(block.len() == length && block.iter().all(|byte| *byte == 0));
            block.fill(b'x');
            assert!(block.iter().all(|byte| *byte == b'x'));
        }
    }

    proptest! {
        #[test]
        fn it_holds_what_was_put_in(
            capacity in 0..4 * SHORT,
            pieces in prop::collection::vec(0..SHORT, 0..5),
        ) {
            let (mut block, mut expected) = (Block::new(capacity, SHORT), Vec::new());
            for (number, length) in pieces.into_iter().enumerate() {
                let piece = vec![number as u8; length];
                block.extend(&piece);
                expected.extend(piece);
            }
            block.complete();
            prop_assert_eq!(&*block, expected.as_slice());
        }
    }
}
