//! Journal: what the cache must not forget even if it is killed the moment after: its purges. A small file of entries
//! that are opaque here, read at the next start and rewritten when they are no longer needed.
//!
//! ```text
//! header   16 bytes: magic, checksum
//! entries  length (4), checksum of the length and its place (4), checksum of the bytes (8), bytes
//! ```
//!
//! An entry cut short at the end was never acknowledged and is cut off. Anything else that does not match means that
//! purges may be missing; then nothing that is stored may be trusted, and all of it is discarded.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bytes::Bytes;

use crate::checksum::{Part, Place, Secret};
use crate::error::{Error, Result};
use crate::folder::{self, Folder};
use crate::index::lock;
use crate::queue::Queue;
use crate::record::{u32_at, u64_at};

const MAGIC: [u8; 8] = *b"ffjrnl01";
const HEADER: usize = 16;
const FRAME: usize = 16;

/// The journal of a disk tier.
pub struct Journal {
    state: Mutex<State>,
    secret: Secret,
    path: PathBuf,
    next: PathBuf,
    most: u64,
    queue: Arc<Queue>,
}

struct State {
    file: Arc<File>,
    length: u64,
    found: Vec<Bytes>,
    /// A failed append could not be taken back: nothing can be added until a rewrite.
    broken: bool,
}

impl Journal {
    /// Opens the journal; `None` if it is missing or damaged, and what is stored must go.
    pub(crate) fn open(folder: &Folder, most: u64, queue: &Arc<Queue>) -> Result<Option<Journal>> {
        let path = folder.journal();
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => Bytes::from(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", &path)(error)),
        };
        let Some((found, length)) = decode(&bytes, folder.secret) else { return Ok(None) };
        let file = folder::create(&path)?;
        file.set_len(length).map_err(Error::io("cut", &path))?;
        Ok(Some(Journal::new(folder, most, queue, file, length, found)))
    }

    /// Begins an empty one.
    pub(crate) fn begin(folder: &Folder, most: u64, queue: &Arc<Queue>) -> Result<Journal> {
        let header = encode(std::iter::empty::<&[u8]>(), folder.secret);
        let file = folder::replace(&folder.next_journal(), &folder.journal(), &header)?;
        Ok(Journal::new(folder, most, queue, file, header.len() as u64, Vec::new()))
    }

    fn new(
        folder: &Folder,
        most: u64,
        queue: &Arc<Queue>,
        file: File,
        length: u64,
        found: Vec<Bytes>,
    ) -> Journal {
        Journal {
            state: Mutex::new(State { file: Arc::new(file), length, found, broken: false }),
            secret: folder.secret,
            path: folder.journal(),
            next: folder.next_journal(),
            most,
            queue: Arc::clone(queue),
        }
    }

    /// The entries that were there when the tier was opened, oldest first; empty when asked again.
    pub fn take_entries(&self) -> Vec<Bytes> {
        std::mem::take(&mut lock(&self.state).found)
    }

    /// Adds an entry. When this returns, it survives the end of this process by whatever cause; soon after, when the
    /// writer has flushed it (see [`Journal::sync`]), also a power cut. A short write, without waiting for the disk.
    pub fn append(&self, entry: &[u8]) -> Result<()> {
        let mut state = lock(&self.state);
        let frame = frame(entry, state.length, self.secret);
        if state.broken || state.length + frame.len() as u64 > self.most {
            return Err(Error::JournalFull);
        }
        if let Err(error) = state.file.write_all_at(&frame, state.length) {
            state.broken = state.file.set_len(state.length).is_err();
            return Err(Error::io("write", &self.path)(error));
        }
        state.length += frame.len() as u64;
        drop(state);
        self.queue.sync_journal();
        Ok(())
    }

    /// Puts these entries in place of all others: at any moment the folder has the old ones or the new ones. Waits
    /// for the disk: not for a core.
    pub fn rewrite<Entry: AsRef<[u8]>>(&self, entries: impl IntoIterator<Item = Entry>) -> Result<()> {
        let mut state = lock(&self.state);
        let bytes = encode(entries, self.secret);
        if bytes.len() as u64 > self.most {
            return Err(Error::JournalFull);
        }
        let file = folder::replace(&self.next, &self.path, &bytes)?;
        state.file = Arc::new(file);
        state.length = bytes.len() as u64;
        state.broken = false;
        Ok(())
    }

    /// Waits until the disk has every entry. The writer does this soon after every append.
    pub fn sync(&self) -> Result<()> {
        let file = Arc::clone(&lock(&self.state).file);
        file.sync_data().map_err(Error::io("flush", &self.path))
    }

    /// Bytes it may take; near it, it is time to [`Journal::rewrite`].
    pub fn capacity(&self) -> u64 {
        self.most
    }

    /// Its length.
    pub fn bytes(&self) -> u64 {
        lock(&self.state).length
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn encode<Entry: AsRef<[u8]>>(entries: impl IntoIterator<Item = Entry>, secret: Secret) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&secret.of(&MAGIC).to_le_bytes());
    for entry in entries {
        let frame = frame(entry.as_ref(), bytes.len() as u64, secret);
        bytes.extend_from_slice(&frame);
    }
    bytes
}

fn place(at: u64) -> Place {
    Place { segment: (at >> 32) as u32, offset: at as u32 }
}

fn length_check(length: u32, at: u64, secret: Secret) -> u32 {
    secret.at(place(at), Part::Header, &length.to_le_bytes()) as u32
}

fn frame(entry: &[u8], at: u64, secret: Secret) -> Vec<u8> {
    let length = entry.len() as u32;
    let mut bytes = Vec::with_capacity(FRAME + entry.len());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&length_check(length, at, secret).to_le_bytes());
    bytes.extend_from_slice(&secret.at(place(at), Part::Front, entry).to_le_bytes());
    bytes.extend_from_slice(entry);
    bytes
}

/// The entries, and where the last whole one ends; `None` if anything but the end is not as it was written.
fn decode(bytes: &Bytes, secret: Secret) -> Option<(Vec<Bytes>, u64)> {
    let header = bytes.get(..HEADER)?;
    if header[..8] != MAGIC || u64_at(header, 8) != secret.of(&MAGIC) {
        return None;
    }
    let mut entries = Vec::new();
    let mut at = HEADER;
    while let Some(frame) = bytes.get(at..at + FRAME) {
        let length = u32_at(frame, 0);
        if u32_at(frame, 4) != length_check(length, at as u64, secret) {
            return None;
        }
        let begin = at + FRAME;
        let Some(entry) = bytes.get(begin..begin + length as usize) else { break };
        if u64_at(frame, 8) != secret.at(place(at as u64), Part::Front, entry) {
            return None;
        }
        entries.push(bytes.slice(begin..begin + length as usize));
        at = begin + length as usize;
    }
    Some((entries, at as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECRET: Secret = Secret(9);

    proptest! {
        /// Cut anywhere, it gives the entries that are whole; with any bit flipped, it gives nothing or loses no more
        /// than what was cut short.
        #[test]
        fn a_damaged_journal_never_gives_other_entries(
            entries in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..10),
            cut in any::<prop::sample::Index>(),
            flip in any::<prop::sample::Index>(),
            bit in 0..8u32,
        ) {
            let bytes = encode(&entries, SECRET);
            let (read, length) = decode(&Bytes::from(bytes.clone()), SECRET).expect("whole");
            prop_assert_eq!(&read, &entries);
            prop_assert_eq!(length, bytes.len() as u64);
            let at = cut.index(bytes.len());
            if let Some((read, _)) = decode(&Bytes::copy_from_slice(&bytes[..at]), SECRET) {
                prop_assert_eq!(&read[..], &entries[..read.len()]);
            }
            let mut flipped = bytes;
            let at = flip.index(flipped.len());
            flipped[at] ^= 1 << bit;
            prop_assert!(decode(&Bytes::from(flipped), SECRET).is_none());
        }
    }

    fn open(folder: &Folder, most: u64) -> Journal {
        let queue = Arc::new(Queue::new(0));
        match Journal::open(folder, most, &queue).unwrap() {
            Some(journal) => journal,
            None => Journal::begin(folder, most, &queue).unwrap(),
        }
    }

    #[test]
    fn entries_survive_and_a_rewrite_replaces_them() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::open(temporary.path()).unwrap();
        let journal = open(&folder, 200);
        journal.append(b"one").unwrap();
        journal.append(b"two").unwrap();
        let journal = open(&folder, 200);
        assert_eq!(journal.take_entries(), ["one", "two"]);
        assert!(journal.take_entries().is_empty());
        journal.rewrite(["three"]).unwrap();
        journal.append(b"four").unwrap();
        assert!(matches!(journal.append(&[0; 200]), Err(Error::JournalFull)));
        assert_eq!(open(&folder, 200).take_entries(), ["three", "four"]);
    }
}
