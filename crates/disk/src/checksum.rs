//! Checksum: xxh3, seeded with the folder's secret and with the place the bytes belong to.
//!
//! Bytes that are right but stand in the wrong place (a misdirected write, a file put back from elsewhere) do not
//! match. It guards against accidents, not against somebody who may read and write the folder.

use twox_hash::XxHash3_64;

/// The secret of a folder: also what keys are hashed with, so that strangers cannot choose colliding ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Secret(pub(crate) u64);

/// Where bytes belong: a record, by its segment and its offset in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The segment's number.
    pub(crate) segment: u32,
    /// Offset in units of [`crate::record::UNIT`].
    pub(crate) offset: u32,
}

/// What part of a record the bytes are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Header,
    Front,
    Piece(u64),
}

impl Secret {
    /// The hash a key is found by.
    pub(crate) fn hash(self, key: &[u8]) -> u64 {
        XxHash3_64::oneshot_with_seed(self.0, key)
    }

    /// The checksum of bytes that belong to no record.
    pub(crate) fn of(self, bytes: &[u8]) -> u64 {
        XxHash3_64::oneshot_with_seed(self.0.rotate_left(32), bytes)
    }

    /// The checksum of a part of the record at a place.
    pub(crate) fn at(self, place: Place, part: Part, bytes: &[u8]) -> u64 {
        /// Odd, so that multiplying loses nothing; spreads neighbouring places and pieces over all bits.
        const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
        let place = u64::from(place.segment) << 32 | u64::from(place.offset);
        let part = match part {
            Part::Header => 0,
            Part::Front => 1,
            Part::Piece(number) => 2 + number,
        };
        let seed = self.0 ^ place.wrapping_mul(SPREAD) ^ part.wrapping_mul(SPREAD).rotate_left(29);
        XxHash3_64::oneshot_with_seed(seed, bytes)
    }
}
