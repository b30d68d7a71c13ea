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
//!
//! That is also the way out where an entry cannot be written, on a full disk for one: the header, whose bytes were laid
//! down when there was room, is overwritten in place, and the next start begins empty. Until then nothing is lost: who
//! keeps the entries writes them anew as soon as that is possible ([`Journal::rewrite`]), and all is as it was.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::checksum::{self, Place, Secret};
use crate::condition::{Condition, Part};
use crate::error::{Error, Result};
use crate::folder::{self, Folder};
use crate::index::lock;
use crate::queue::Queue;
use crate::record::{u32_at, u64_at};
use crate::settings::Settings;

const MAGIC: [u8; 8] = *b"ffjrnl01";
const HEADER: usize = 16;
const FRAME: usize = 16;
/// In place of the header: empty this folder.
const EMPTY_ME: [u8; HEADER] = *b"ffjrnl: empty me";

/// The journal of a disk tier.
pub struct Journal {
    state: Mutex<State>,
    secret: Secret,
    path: PathBuf,
    next: PathBuf,
    most: u64,
    /// Between two attempts to write it anew.
    pause: Duration,
    queue: Arc<Queue>,
    condition: Arc<Condition>,
}

struct State {
    file: Arc<File>,
    length: u64,
    found: Vec<Bytes>,
    standing: Noted,
    /// Why it was given up.
    cause: String,
    /// When it may be tried to write it anew.
    try_at: Instant,
}

/// Whom a journal tells: the queue of its flushes, the condition of its failures.
pub(crate) type Told = (Arc<Queue>, Arc<Condition>);

/// What the next start finds of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// The entry.
    Kept,
    /// An empty folder: the entry could not be written, and so the journal was given up, until it is written anew.
    EmptiesAll,
    /// Everything as if there had been no such entry: not even that could be written.
    Lost,
}

/// What [`Condition`] tells of each.
const EMPTIES_ALL: &str =
    "unless purges can be written down before, the next start begins with an empty disk tier";
const LOST: &str = "purges cannot be written down, and what they forgot comes back with a restart";

impl Journal {
    /// Opens the journal; `None` if it is missing, damaged or given up, and what is stored must go.
    pub(crate) fn open(folder: &Folder, settings: &Settings, shared: &Told) -> Result<Option<Journal>> {
        let path = folder.journal();
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => Bytes::from(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", &path)(error)),
        };
        let Some((found, length)) = decode(&bytes, folder.secret) else { return Ok(None) };
        let file = folder::create(&path)?;
        file.set_len(length).map_err(Error::io("cut", &path))?;
        Ok(Some(Journal::new(folder, settings, shared, file, length, found)))
    }

    /// Begins an empty one: beside the old one if there is room, else in its place.
    pub(crate) fn begin(folder: &Folder, settings: &Settings, shared: &Told) -> Result<Journal> {
        let header = encode(std::iter::empty::<&[u8]>(), folder.secret);
        let path = folder.journal();
        let file = folder::replace(&folder.next_journal(), &path, &header).or_else(|_| {
            let file = folder::create(&path)?;
            let written = file.write_all_at(&header, 0).and_then(|()| file.set_len(header.len() as u64));
            written.and_then(|()| file.sync_all()).map_err(Error::io("write", &path))?;
            Ok(file)
        })?;
        Ok(Journal::new(folder, settings, shared, file, header.len() as u64, Vec::new()))
    }

    fn new(
        folder: &Folder,
        settings: &Settings,
        (queue, condition): &Told,
        file: File,
        length: u64,
        found: Vec<Bytes>,
    ) -> Journal {
        let (file, try_at) = (Arc::new(file), Instant::now());
        Journal {
            state: Mutex::new(State {
                file,
                length,
                found,
                standing: Noted::Kept,
                cause: String::new(),
                try_at,
            }),
            secret: folder.secret,
            path: folder.journal(),
            next: folder.next_journal(),
            most: settings.journal(),
            pause: settings.pause,
            queue: Arc::clone(queue),
            condition: Arc::clone(condition),
        }
    }

    /// The entries that were there when the tier was opened, oldest first; empty when asked again.
    pub fn take_entries(&self) -> Vec<Bytes> {
        std::mem::take(&mut lock(&self.state).found)
    }

    /// Adds an entry. When this returns, what it says holds after the end of this process by whatever cause; soon after,
    /// when the writer has flushed it (see [`Journal::sync`]), also after a power cut. A short write, without waiting
    /// for the disk.
    pub fn append(&self, entry: &[u8]) -> Noted {
        let mut state = lock(&self.state);
        match state.standing {
            Noted::Kept => {
                if let Err(error) = self.write(&mut state, entry) {
                    self.give_up(&mut state, error.to_string(), matches!(error, Error::JournalFull));
                }
            }
            Noted::EmptiesAll => {}
            Noted::Lost => {
                let cause = std::mem::take(&mut state.cause);
                self.give_up(&mut state, cause, false);
            }
        }
        let standing = state.standing;
        drop(state);
        self.queue.sync_journal();
        standing
    }

    fn write(&self, state: &mut State, entry: &[u8]) -> Result<()> {
        let frame = frame(entry, state.length, self.secret);
        if state.length + frame.len() as u64 > self.most {
            return Err(Error::JournalFull);
        }
        state.file.write_all_at(&frame, state.length).map_err(Error::io("write", &self.path))?;
        state.length += frame.len() as u64;
        Ok(())
    }

    /// From here on the next start begins empty, where that much can be written: in place, or by taking the file away.
    /// One that is full is written anew at once by whoever keeps the entries, and so is no trouble.
    fn give_up(&self, state: &mut State, cause: String, is_full: bool) {
        let given_up =
            state.file.write_all_at(&EMPTY_ME, 0).is_ok() || std::fs::remove_file(&self.path).is_ok();
        if state.standing == Noted::Kept {
            state.try_at = Instant::now();
        }
        state.standing = if given_up { Noted::EmptiesAll } else { Noted::Lost };
        if !(given_up && is_full) {
            self.condition.fails(Part::Journal, &cause, if given_up { EMPTIES_ALL } else { LOST });
        }
        state.cause = cause;
    }

    /// Somebody took the folder away, and what stands at its path is not what we wrote.
    pub(crate) fn folder_was_lost(&self) {
        let mut state = lock(&self.state);
        // Whatever is there, and what we still hold open: neither has all entries.
        let _ = state.file.write_all_at(&EMPTY_ME, 0);
        let _ = std::fs::remove_file(&self.path);
        state.standing = if self.path.exists() { Noted::Lost } else { Noted::EmptiesAll };
        "the folder was taken away".clone_into(&mut state.cause);
        state.try_at = Instant::now();
    }

    /// What the next start finds of the entries so far.
    pub fn standing(&self) -> Noted {
        lock(&self.state).standing
    }

    /// Whether it was given up, and it is time to try to write it anew.
    pub fn wants_rewrite(&self) -> bool {
        let state = lock(&self.state);
        state.standing != Noted::Kept && state.try_at <= Instant::now()
    }

    /// Puts these entries in place of all others: at any moment the folder has the old ones or the new ones. Waits
    /// for the disk: not for a core.
    pub fn rewrite<Entry: AsRef<[u8]>>(&self, entries: impl IntoIterator<Item = Entry>) -> Result<()> {
        let mut state = lock(&self.state);
        let bytes = encode(entries, self.secret);
        if bytes.len() as u64 > self.most {
            return Err(Error::JournalFull);
        }
        match folder::replace(&self.next, &self.path, &bytes) {
            Ok(file) => state.file = Arc::new(file),
            Err(error) => {
                state.try_at = Instant::now() + self.pause;
                let _ = std::fs::remove_file(&self.next);
                return Err(error);
            }
        }
        state.length = bytes.len() as u64;
        state.standing = Noted::Kept;
        self.condition.works(Part::Journal);
        Ok(())
    }

    /// Waits until the disk has every entry. The writer does this soon after every append. Where it fails, nobody knows
    /// what the disk has, and the journal is given up.
    pub fn sync(&self) -> Result<()> {
        let file = Arc::clone(&lock(&self.state).file);
        let flushed = file.sync_data().map_err(Error::io("flush", &self.path));
        if let Err(error) = &flushed {
            let mut state = lock(&self.state);
            if state.standing == Noted::Kept && Arc::ptr_eq(&state.file, &file) {
                self.give_up(&mut state, error.to_string(), false);
            }
        }
        flushed
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
    secret.at(place(at), checksum::Part::Header, &length.to_le_bytes()) as u32
}

fn frame(entry: &[u8], at: u64, secret: Secret) -> Vec<u8> {
    let length = entry.len() as u32;
    let mut bytes = Vec::with_capacity(FRAME + entry.len());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&length_check(length, at, secret).to_le_bytes());
    bytes.extend_from_slice(&secret.at(place(at), checksum::Part::Front, entry).to_le_bytes());
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
        if u64_at(frame, 8) != secret.at(place(at as u64), checksum::Part::Front, entry) {
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

    /// Of 32 × `most` bytes, at once tried anew.
    fn open(folder: &Folder, most: u64) -> Journal {
        let told = (Arc::new(Queue::new(0)), Arc::default());
        let settings = Settings { bytes: 32 * most, pause: Duration::ZERO, ..Settings::of(Settings::LEAST) };
        match Journal::open(folder, &settings, &told).unwrap() {
            Some(journal) => journal,
            None => Journal::begin(folder, &settings, &told).unwrap(),
        }
    }

    #[test]
    fn entries_survive_and_a_rewrite_replaces_them() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::open(temporary.path()).unwrap();
        let journal = open(&folder, 200);
        assert_eq!([journal.append(b"one"), journal.append(b"two")], [Noted::Kept; 2]);
        let journal = open(&folder, 200);
        assert_eq!(journal.take_entries(), ["one", "two"]);
        assert!(journal.take_entries().is_empty());
        journal.rewrite(["three"]).unwrap();
        assert_eq!(journal.append(b"four"), Noted::Kept);
        assert_eq!(open(&folder, 200).take_entries(), ["three", "four"]);
    }

    #[test]
    fn what_cannot_be_written_gives_the_journal_up_until_it_is_written_anew() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::open(temporary.path()).unwrap();
        let settings = Settings { bytes: 32 * 200, ..Settings::of(Settings::LEAST) };
        let told = (Arc::new(Queue::new(0)), Arc::default());
        let journal = open(&folder, 200);
        assert_eq!(journal.append(b"one"), Noted::Kept);
        assert_eq!(journal.append(&[0; 200]), Noted::EmptiesAll);
        assert_eq!(journal.append(b"two"), Noted::EmptiesAll, "it would fit, but one is missing");
        assert!(Journal::open(&folder, &settings, &told).unwrap().is_none());
        assert!(journal.wants_rewrite());
        journal.rewrite(["one", "shorter", "two"]).unwrap();
        assert!(!journal.wants_rewrite() && journal.standing() == Noted::Kept);
        assert_eq!(journal.append(b"three"), Noted::Kept);
        assert_eq!(open(&folder, 200).take_entries(), ["one", "shorter", "two", "three"]);
    }
}
