//! Segment: one file of records, and the index at its end that lets the next start find them without reading them.
//!
//! ```text
//! records          one after the other, from offset 0
//! entries          16 bytes each: hash, offset and length in units; length 0: the key was removed
//! trailer          64 bytes: magic, number of entries, highest sequence, checksum of the entries, of the trailer
//! ```
//!
//! Written front to back by the writer, read by everybody. A segment without a sound trailer (we were killed while it
//! was written to, or it was damaged) is walked record by record.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;

use crate::checksum::{Place, Secret};
use crate::error::{Error, Result};
use crate::record::{Front, HEADER, Header, PIECE, UNIT, u32_at, u64_at};

const MAGIC: [u8; 8] = *b"ffsegm01";
const ENTRY: usize = 16;
const TRAILER: usize = 64;

/// A segment that can be read from.
pub(crate) struct Segment {
    pub(crate) number: u32,
    path: PathBuf,
    /// `None` once it was evicted and its readers were sent away.
    file: RwLock<Option<Arc<File>>>,
}

/// One line of the index at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) hash: u64,
    /// In units.
    pub(crate) offset: u32,
    /// In units; 0: the key was removed.
    pub(crate) length: u32,
}

/// What a segment holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Contents {
    /// In the order they were written.
    pub(crate) entries: Vec<Entry>,
    /// Where the last record ends.
    pub(crate) end: u64,
    /// The highest sequence of its records.
    pub(crate) sequence: u64,
    /// Whether there is a sound index at the end.
    pub(crate) sealed: bool,
    /// Whether bytes were found that are neither a record nor one cut short at the end of the file.
    pub(crate) damaged: bool,
}

impl Segment {
    /// Wraps an open file.
    pub(crate) fn new(number: u32, path: PathBuf, file: File) -> Self {
        Segment { number, path, file: RwLock::new(Some(Arc::new(file))) }
    }

    /// The file, unless it was taken away.
    pub(crate) fn file(&self) -> Result<Arc<File>> {
        let file = self.file.read().unwrap_or_else(PoisonError::into_inner);
        file.clone().ok_or(Error::Evicted)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads exactly so many bytes.
    pub(crate) fn read(&self, offset: u64, length: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.file()?.read_exact_at(&mut bytes, offset).map_err(Error::io("read", &self.path))?;
        Ok(bytes)
    }

    /// Takes the file away from its readers, so that its bytes are free.
    pub(crate) fn revoke(&self) {
        *self.file.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Bytes of the index of so many records.
pub(crate) fn index_length(entries: usize) -> u64 {
    (entries * ENTRY + TRAILER) as u64
}

/// The index as it stands at the end of the segment.
pub(crate) fn encode_index(contents: &Contents, number: u32, secret: Secret) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(index_length(contents.entries.len()) as usize);
    for entry in &contents.entries {
        bytes.extend_from_slice(&entry.hash.to_le_bytes());
        bytes.extend_from_slice(&entry.offset.to_le_bytes());
        bytes.extend_from_slice(&entry.length.to_le_bytes());
    }
    let mut trailer = [0; TRAILER];
    trailer[..8].copy_from_slice(&MAGIC);
    trailer[8..16].copy_from_slice(&(contents.entries.len() as u64).to_le_bytes());
    trailer[16..24].copy_from_slice(&contents.sequence.to_le_bytes());
    trailer[24..32].copy_from_slice(&u64::from(number).to_le_bytes());
    trailer[32..40].copy_from_slice(&secret.of(&bytes).to_le_bytes());
    let checksum = secret.of(&trailer[..56]);
    trailer[56..].copy_from_slice(&checksum.to_le_bytes());
    bytes.extend_from_slice(&trailer);
    bytes
}

/// What a segment of this length holds: from the index at its end, else from its records.
pub(crate) fn contents(segment: &Segment, length: u64, secret: Secret) -> Result<Contents> {
    match sealed(segment, length, secret)? {
        Some(contents) => Ok(contents),
        None => walk(segment, length, secret),
    }
}

fn sealed(segment: &Segment, length: u64, secret: Secret) -> Result<Option<Contents>> {
    let Some(trailer_at) = length.checked_sub(TRAILER as u64) else { return Ok(None) };
    let trailer = segment.read(trailer_at, TRAILER)?;
    let sound = trailer[..8] == MAGIC
        && u64_at(&trailer, 24) == u64::from(segment.number)
        && secret.of(&trailer[..56]) == u64_at(&trailer, 56);
    let bytes = u64_at(&trailer, 8).checked_mul(ENTRY as u64);
    let Some(end) = bytes.filter(|_| sound).and_then(|bytes| trailer_at.checked_sub(bytes)) else {
        return Ok(None);
    };
    let index = segment.read(end, (trailer_at - end) as usize)?;
    if secret.of(&index) != u64_at(&trailer, 32) {
        return Ok(None);
    }
    let entries = index
        .chunks_exact(ENTRY)
        .map(|entry| Entry { hash: u64_at(entry, 0), offset: u32_at(entry, 8), length: u32_at(entry, 12) })
        .collect();
    Ok(Some(Contents { entries, end, sequence: u64_at(&trailer, 16), sealed: true, damaged: false }))
}

/// Goes from header to header. Small records are read many at a time.
fn walk(segment: &Segment, length: u64, secret: Secret) -> Result<Contents> {
    const WINDOW: u64 = 256 << 10;
    let mut contents = Contents::default();
    let mut window = Vec::new();
    let mut window_at = 0;
    while contents.end + HEADER as u64 <= length {
        let at = contents.end;
        if at < window_at || at + HEADER as u64 > window_at + window.len() as u64 {
            window = segment.read(at, WINDOW.min(length - at) as usize)?;
            window_at = at;
        }
        let offset = (at / UNIT) as u32;
        let place = Place { segment: segment.number, offset };
        let Some(header) = Header::decode(&window[(at - window_at) as usize..], secret, place) else {
            contents.damaged = true;
            return Ok(contents);
        };
        let whole = at + header.length() <= length;
        // Cut short: we know whose it was to be, so nothing older of that key may be found.
        let units = if header.removed || !whole { 0 } else { (header.length() / UNIT) as u32 };
        contents.entries.push(Entry { hash: header.hash, offset, length: units });
        contents.sequence = contents.sequence.max(header.sequence);
        if !whole {
            return Ok(contents);
        }
        contents.end = at + header.length();
    }
    Ok(contents)
}

/// Whether the bytes of a record at a place are what was written there: all of it, piece by piece.
pub(crate) fn intact(bytes: &Bytes, secret: Secret, place: Place) -> Option<(Header, Front)> {
    let header = Header::decode(bytes, secret, place)?;
    if header.removed || header.length() != bytes.len() as u64 {
        return None;
    }
    let front = Front::decode(&bytes.slice(HEADER..), &header, secret, place)?;
    let body = &bytes[header.body_offset() as usize..][..header.body as usize];
    let sound = body
        .chunks(PIECE)
        .enumerate()
        .all(|(number, piece)| front.matches(number as u64, piece, secret, place));
    sound.then_some((header, front))
}
