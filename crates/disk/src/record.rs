//! Record: how one stands in a segment. Written by the writer, read by readers and by recovery.
//!
//! ```text
//! header  64 bytes: magic, kind, lengths, hash, sequence, checksum of the front, checksum of the header
//! front   key, head, then one checksum for each piece of the body
//! body    as it is, in one stretch, in pieces of 64 KiB (the last may be shorter)
//! zeros   up to the next unit of 64 bytes
//! ```
//!
//! The checksums of the pieces stand before the body and not between them, so that a small body is one slice of what
//! was read.

use bytes::Bytes;

use crate::checksum::{Part, Place, Secret};

/// Records begin at multiples of this, so that 32 bits reach 256 GiB.
pub(crate) const UNIT: u64 = 64;
/// Bytes of a header.
pub(crate) const HEADER: usize = 64;
/// Bytes of a piece of the body, each with its own checksum.
pub(crate) const PIECE: usize = 64 << 10;
/// Bytes of the longest key.
pub(crate) const LONGEST_KEY: usize = 64 << 10;
/// Bytes of the longest head.
pub(crate) const LONGEST_HEAD: usize = 1 << 20;

const MAGIC: [u8; 4] = *b"ffR1";
const STORED: u8 = 1;
const REMOVED: u8 = 2;

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// Whether it says that the key was removed, and nothing else.
    pub(crate) removed: bool,
    pub(crate) key: u32,
    pub(crate) head: u32,
    pub(crate) body: u64,
    /// Of the key.
    pub(crate) hash: u64,
    /// The caller's.
    pub(crate) sequence: u64,
    /// Checksum of the front.
    pub(crate) front: u64,
}

impl Header {
    /// The header that says a key was removed.
    pub(crate) fn removal(hash: u64) -> Self {
        Header { removed: true, key: 0, head: 0, body: 0, hash, sequence: 0, front: 0 }
    }

    /// Number of pieces of the body.
    pub(crate) fn pieces(&self) -> u64 {
        self.body.div_ceil(PIECE as u64)
    }

    /// Bytes of key, head and checksums.
    pub(crate) fn front_length(&self) -> u64 {
        u64::from(self.key) + u64::from(self.head) + 8 * self.pieces()
    }

    /// Where the body begins, from the record's beginning.
    pub(crate) fn body_offset(&self) -> u64 {
        HEADER as u64 + self.front_length()
    }

    /// Bytes of the whole record, up to where the next one begins.
    pub(crate) fn length(&self) -> u64 {
        (self.body_offset() + self.body).next_multiple_of(UNIT)
    }

    /// Bytes of that piece of the body.
    pub(crate) fn piece_length(&self, piece: u64) -> usize {
        (self.body - piece * PIECE as u64).min(PIECE as u64) as usize
    }

    /// As it stands in the segment.
    pub(crate) fn encode(&self, secret: Secret, place: Place) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[0..4].copy_from_slice(&MAGIC);
        bytes[4] = if self.removed { REMOVED } else { STORED };
        bytes[8..12].copy_from_slice(&self.key.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.head.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.body.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.hash.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.front.to_le_bytes());
        let checksum = secret.at(place, Part::Header, &bytes[..56]);
        bytes[56..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads one; `None` if the bytes are not a header of this place.
    pub(crate) fn decode(bytes: &[u8], secret: Secret, place: Place) -> Option<Self> {
        let bytes = bytes.get(..HEADER)?;
        if bytes[..4] != MAGIC || secret.at(place, Part::Header, &bytes[..56]) != u64_at(bytes, 56) {
            return None;
        }
        let header = Header {
            removed: match bytes[4] {
                STORED => false,
                REMOVED => true,
                _ => return None,
            },
            key: u32_at(bytes, 8),
            head: u32_at(bytes, 12),
            body: u64_at(bytes, 16),
            hash: u64_at(bytes, 24),
            sequence: u64_at(bytes, 32),
            front: u64_at(bytes, 40),
        };
        let sane = header.key as usize <= LONGEST_KEY
            && header.head as usize <= LONGEST_HEAD
            && header.body <= UNIT * u64::from(u32::MAX);
        sane.then_some(header)
    }
}

/// Key, head and the checksums of the pieces, checked.
#[derive(Clone, Debug)]
pub(crate) struct Front {
    pub(crate) key: Bytes,
    pub(crate) head: Bytes,
    checksums: Bytes,
}

impl Front {
    /// Cuts up what stands after the header; `None` if it does not match its checksum or is too short.
    pub(crate) fn decode(bytes: &Bytes, header: &Header, secret: Secret, place: Place) -> Option<Self> {
        let length = header.front_length() as usize;
        if bytes.len() < length || secret.at(place, Part::Front, &bytes[..length]) != header.front {
            return None;
        }
        let (key, head) = (header.key as usize, header.head as usize);
        Some(Front {
            key: bytes.slice(..key),
            head: bytes.slice(key..key + head),
            checksums: bytes.slice(key + head..length),
        })
    }

    /// Whether these bytes are that piece of the body.
    pub(crate) fn matches(&self, piece: u64, bytes: &[u8], secret: Secret, place: Place) -> bool {
        let at = 8 * piece as usize;
        at + 8 <= self.checksums.len()
            && secret.at(place, Part::Piece(piece), bytes) == u64_at(&self.checksums, at)
    }
}

/// Appends the header and front of a record to `out`; the body goes after it as it is. Tells the header.
pub(crate) fn encode_front(
    out: &mut Vec<u8>,
    key: &[u8],
    head: &[u8],
    body: &[u8],
    identity: (u64, u64),
    secret: Secret,
    place: Place,
) -> Header {
    let begin = out.len();
    out.extend_from_slice(&[0; HEADER]);
    out.extend_from_slice(key);
    out.extend_from_slice(head);
    for (number, piece) in body.chunks(PIECE).enumerate() {
        let checksum = secret.at(place, Part::Piece(number as u64), piece);
        out.extend_from_slice(&checksum.to_le_bytes());
    }
    let (hash, sequence) = identity;
    let header = Header {
        removed: false,
        key: key.len() as u32,
        head: head.len() as u32,
        body: body.len() as u64,
        hash,
        sequence,
        front: secret.at(place, Part::Front, &out[begin + HEADER..]),
    };
    out[begin..begin + HEADER].copy_from_slice(&header.encode(secret, place));
    header
}

/// Bytes of a record with parts this long.
pub(crate) fn length(key: usize, head: usize, body: usize) -> u64 {
    let parts = Header { key: key as u32, head: head as u32, body: body as u64, ..Header::removal(0) };
    parts.length()
}

/// The number that stands at an offset; the caller has checked the length.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// The number that stands at an offset; the caller has checked the length.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: Secret = Secret(42);
    const PLACE: Place = Place { segment: 3, offset: 7 };

    proptest! {
        #[test]
        fn what_is_written_is_read_and_no_flipped_bit_goes_unseen(
            key in prop::collection::vec(any::<u8>(), 0..50),
            head in prop::collection::vec(any::<u8>(), 0..50),
            body in prop::collection::vec(any::<u8>(), 0..200),
            flip in any::<prop::sample::Index>(),
        ) {
            let mut out = Vec::new();
            let header = encode_front(&mut out, &key, &head, &body, (1, 2), SECRET, PLACE);
            prop_assert_eq!(header.body_offset(), out.len() as u64);
            out.extend_from_slice(&body);
            let read = |bytes: &[u8], place| {
                let header = Header::decode(bytes, SECRET, place)?;
                let front = Front::decode(&Bytes::copy_from_slice(&bytes[HEADER..]), &header, SECRET, place)?;
                let body = &bytes[header.body_offset() as usize..];
                (body.is_empty() || front.matches(0, body, SECRET, place)).then_some((header, front))
            };
            let (read_header, front) = read(&out, PLACE).expect("whole");
            prop_assert_eq!(read_header, header);
            prop_assert_eq!(&front.key[..], &key[..]);
            prop_assert_eq!(&front.head[..], &head[..]);
            prop_assert!(read(&out, Place { segment: 4, offset: 7 }).is_none(), "another place");
            let at = flip.index(out.len());
            out[at] ^= 1;
            prop_assert!(read(&out, PLACE).is_none(), "flipped {at}");
        }
    }
}
