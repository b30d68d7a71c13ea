//! Folder: what stands in it, who may use it, and the secret its checksums are made with.
//!
//! ```text
//! lock              held by the process that has it open
//! identity          format and secret
//! journal           what the cache must not forget (see `journal`)
//! 0000002a.segment  records, oldest number first
//! ```

use std::collections::hash_map::RandomState;
use std::fs::{DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::hash::BuildHasher;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::checksum::Secret;
use crate::error::{Error, Result};
use crate::index::lock;
use crate::record::u64_at;

const LOCK: &str = "lock";
const IDENTITY: &str = "identity";
const IDENTITY_NEW: &str = "identity.new";
const JOURNAL: &str = "journal";
const JOURNAL_NEW: &str = "journal.new";
const SEGMENT: &str = ".segment";
/// What every file system has at its root.
const LOST_AND_FOUND: &str = "lost+found";

/// Changes with the format; a folder of another format is emptied, since all of it can be fetched again.
const MAGIC: [u8; 8] = *b"ffdisk01";

/// A folder that this process alone has open.
pub(crate) struct Folder {
    path: PathBuf,
    lock: Mutex<File>,
    /// The secret of its checksums.
    pub(crate) secret: Secret,
}

impl Folder {
    /// Makes the folder, or looks whether it is ours, and locks it.
    pub(crate) fn open(path: &Path) -> Result<Folder> {
        let lock = Mutex::new(claim(path)?);
        let mut folder = Folder { path: path.to_owned(), lock, secret: Secret(0) };
        if let Some(secret) = folder.identity() {
            folder.secret = secret;
        } else {
            folder.begin()?;
        }
        Ok(folder)
    }

    /// Whether what stands at its path is still the folder that was opened.
    pub(crate) fn is_in_place(&self) -> bool {
        let there = std::fs::metadata(self.path.join(LOCK));
        let ours = lock(&self.lock).metadata();
        let identity = |file: std::io::Result<Metadata>| file.ok().map(|file| (file.dev(), file.ino()));
        identity(there).is_some_and(|there| identity(ours) == Some(there))
    }

    /// Takes possession of what stands at its path by now, or makes it, and empties it: what was stored, and the
    /// purges, went with the folder that was there before.
    pub(crate) fn claim_again(&self) -> Result<()> {
        let claimed = claim(&self.path)?;
        let _ = std::fs::remove_file(self.path.join(IDENTITY));
        self.discard()?;
        *lock(&self.lock) = claimed;
        Ok(())
    }

    /// Whether so many bytes can be written here, tried by writing them; leaves the folder with its identity.
    pub(crate) fn try_writing(&self, bytes: usize) -> Result<()> {
        let new = self.path.join(IDENTITY_NEW);
        let tried = create(&new).and_then(|file| {
            file.write_all_at(&vec![0; bytes], 0).map_err(Error::io("write", &new))?;
            replace(&new, &self.path.join(IDENTITY), &self.own_identity()).map(drop)
        });
        if tried.is_err() {
            let _ = std::fs::remove_file(&new);
        }
        tried
    }

    /// Numbers and lengths of the segments, oldest first.
    pub(crate) fn segments(&self) -> Result<Vec<(u32, u64)>> {
        let mut segments = Vec::new();
        let reading = Error::io("list", &self.path);
        let entries: std::io::Result<Vec<_>> = self.path.read_dir().and_then(Iterator::collect);
        for entry in entries.map_err(reading)? {
            if let Some(number) = entry.file_name().to_str().and_then(segment_number) {
                let length = entry.metadata().map_err(Error::io("look at", &entry.path()))?.len();
                segments.push((number, length));
            }
        }
        segments.sort_unstable();
        Ok(segments)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where that segment is.
    pub(crate) fn segment(&self, number: u32) -> PathBuf {
        self.path.join(format!("{number:08x}{SEGMENT}"))
    }

    /// Where the journal is.
    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join(JOURNAL)
    }

    /// Where the next journal is written before it takes the other's place.
    pub(crate) fn next_journal(&self) -> PathBuf {
        self.path.join(JOURNAL_NEW)
    }

    /// Deletes all segments, oldest first: what is left when that breaks off hides nothing older.
    pub(crate) fn discard(&self) -> Result<()> {
        for (number, _) in self.segments()? {
            let path = self.segment(number);
            std::fs::remove_file(&path).map_err(Error::io("delete", &path))?;
        }
        Ok(())
    }

    /// Makes new names in it survive a power cut.
    pub(crate) fn sync(&self) -> Result<()> {
        sync_folder(&self.path)
    }

    fn identity(&self) -> Option<Secret> {
        let bytes = std::fs::read(self.path.join(IDENTITY)).ok()?;
        let whole = bytes.len() == 24 && bytes[..8] == MAGIC;
        let secret = whole.then(|| Secret(u64_at(&bytes, 8)))?;
        (secret.of(&bytes[..16]) == u64_at(&bytes, 16)).then_some(secret)
    }

    /// Empties it and gives it a new secret. The identity comes last: without it, this is done again.
    fn begin(&mut self) -> Result<()> {
        let _ = std::fs::remove_file(self.path.join(IDENTITY));
        self.discard()?;
        let _ = std::fs::remove_file(self.journal());
        self.secret = Secret(RandomState::new().hash_one(std::process::id()));
        replace(&self.path.join(IDENTITY_NEW), &self.path.join(IDENTITY), &self.own_identity()).map(drop)
    }

    fn own_identity(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.secret.0.to_le_bytes());
        bytes.extend_from_slice(&self.secret.of(&bytes).to_le_bytes());
        bytes
    }
}

impl Drop for Folder {
    /// Closing alone is not enough: a process that is being started holds a copy until it is what it is to be.
    fn drop(&mut self) {
        let _ = lock(&self.lock).unlock();
    }
}

/// Makes the folder, or looks whether it is ours, and locks it.
fn claim(path: &Path) -> Result<File> {
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(Error::io("make the folder", path))?;
    refuse_foreign(path)?;
    let lock_path = path.join(LOCK);
    let lock = create(&lock_path)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Error::Locked(path.to_owned())),
        Err(TryLockError::Error(source)) => Err(Error::io("lock", &lock_path)(source)),
    }
}

/// Writes a file beside another and puts it in its place, so that there is always one or the other.
pub(crate) fn replace(new: &Path, path: &Path, bytes: &[u8]) -> Result<File> {
    let mut file = create(new)?;
    file.set_len(0)
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.sync_all())
        .map_err(Error::io("write", new))?;
    std::fs::rename(new, path).map_err(Error::io("replace", path))?;
    sync_folder(path.parent().unwrap_or(Path::new(".")))?;
    Ok(file)
}

/// Opens a file to read and write, only for us, making it where it is missing.
pub(crate) fn create(path: &Path) -> Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(Error::io("open", path))
}

fn sync_folder(path: &Path) -> Result<()> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(Error::io("flush", path))
}

fn segment_number(name: &str) -> Option<u32> {
    let digits = name.strip_suffix(SEGMENT).filter(|digits| digits.len() == 8)?;
    u32::from_str_radix(digits, 16).ok().filter(|number| format!("{number:08x}") == digits)
}

/// Whatever could be somebody else's is reason enough to touch nothing: eviction deletes files.
fn refuse_foreign(path: &Path) -> Result<()> {
    let mut ours = false;
    let mut first = None;
    for entry in path.read_dir().map_err(Error::io("list", path))? {
        let entry = entry.map_err(Error::io("list", path))?;
        let name = entry.file_name();
        let name = name.to_str().unwrap_or("?");
        let known = [LOCK, IDENTITY, IDENTITY_NEW, JOURNAL, JOURNAL_NEW].contains(&name);
        if name == LOST_AND_FOUND {
            continue;
        }
        let file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !file || !(known || segment_number(name).is_some()) {
            return Err(Error::Foreign(entry.path()));
        }
        ours |= name == LOCK;
        first.get_or_insert(entry.path());
    }
    // We make the lock before anything else.
    match first {
        Some(path) if !ours => Err(Error::Foreign(path)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_at_a_time() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("deep/er");
        let folder = Folder::open(&path).unwrap();
        assert!(matches!(Folder::open(&path), Err(Error::Locked(_))));
        let secret = folder.secret;
        drop(folder);
        assert_eq!(Folder::open(&path).unwrap().secret.0, secret.0);
    }

    #[test]
    fn what_is_not_ours_is_refused_and_left_alone() {
        for name in ["holiday.jpg", "journal", "1.segment", "0000002A.segment"] {
            let temporary = tempfile::tempdir().unwrap();
            std::fs::write(temporary.path().join(name), "mine").unwrap();
            assert!(matches!(Folder::open(temporary.path()), Err(Error::Foreign(_))), "{name}");
            assert_eq!(temporary.path().read_dir().unwrap().count(), 1, "nothing was added");
        }
        let temporary = tempfile::tempdir().unwrap();
        std::fs::create_dir(temporary.path().join(LOST_AND_FOUND)).unwrap();
        Folder::open(temporary.path()).unwrap();
    }

    #[test]
    fn a_folder_that_was_taken_away_is_claimed_again_empty() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("tier");
        let folder = Folder::open(&path).unwrap();
        assert!(folder.is_in_place());
        std::fs::rename(&path, temporary.path().join("away")).unwrap();
        assert!(!folder.is_in_place() && folder.try_writing(1).is_err());
        // Somebody put another one there, with answers of its own.
        drop(Folder::open(&path).unwrap());
        std::fs::write(folder.segment(1), "of another secret").unwrap();
        assert!(!folder.is_in_place());
        folder.claim_again().unwrap();
        folder.try_writing(100_000).unwrap();
        assert!(folder.is_in_place() && folder.segments().unwrap().is_empty());
        assert!(matches!(Folder::open(&path), Err(Error::Locked(_))));
        assert_eq!(folder.identity().unwrap().0, folder.secret.0);
    }

    #[test]
    fn another_format_is_emptied() {
        let temporary = tempfile::tempdir().unwrap();
        let first = Folder::open(temporary.path()).unwrap();
        std::fs::write(first.segment(1), "old").unwrap();
        let secret = first.secret;
        drop(first);
        std::fs::write(temporary.path().join(IDENTITY), "ffdisk99").unwrap();
        let second = Folder::open(temporary.path()).unwrap();
        assert!(second.secret.0 != secret.0);
        assert!(second.segments().unwrap().is_empty());
    }
}
