//! Disk: the tier as its user sees it. Shared by all cores behind an `Arc`; nothing here waits for the disk but
//! opening and closing.

use std::future::Future;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::figures::{DiskFigures, count};
use crate::folder::Folder;
use crate::index::lock;
use crate::journal::Journal;
use crate::pool::Pool;
use crate::queue::{Incoming, Operation, Queue};
use crate::reader::{self, FoundRecord, Record};
use crate::record::{self, LONGEST_HEAD, LONGEST_KEY};
use crate::recovery;
use crate::settings::Settings;
use crate::shared_disk::SharedDisk;
use crate::writer::Writer;

/// A disk tier.
pub struct Disk {
    shared: Arc<SharedDisk>,
    journal: Arc<Journal>,
    sequence: u64,
    threads: Mutex<Vec<JoinHandle<()>>>,
    _folder: Arc<Folder>,
}

impl Disk {
    /// Opens the tier in a folder of its own, which is made where it is missing, with the usual bounds for so many
    /// bytes. All that was stored is there when this returns. Waits for the disk: before the cores start.
    pub fn open(folder: &Path, bytes: u64) -> Result<Disk> {
        Disk::open_with(folder, Settings::of(bytes))
    }

    /// See [`Disk::open`]; with bounds of one's own.
    pub fn open_with(folder: &Path, settings: Settings) -> Result<Disk> {
        if settings.bytes < Settings::LEAST {
            return Err(Error::TooSmall(settings.bytes));
        }
        let folder = Arc::new(Folder::open(folder)?);
        let told = (Arc::new(Queue::new(settings.queue)), Arc::default());
        let mut discarded = false;
        let journal = if let Some(journal) = Journal::open(&folder, &settings, &told)? {
            journal
        } else {
            // Without its purges, nothing that is stored may be found.
            discarded = !folder.segments()?.is_empty();
            folder.discard()?;
            Journal::begin(&folder, &settings, &told)?
        };
        let journal = Arc::new(journal);
        let (pool, mut threads) = start_pool(&settings)?;
        let shared = Arc::new(SharedDisk::new(settings, folder.secret, told, pool));
        if discarded {
            count(&shared.counters.corrupt);
        }
        let started = recovery::recover(&folder, &shared).and_then(|recovered| {
            folder.sync()?;
            let writer =
                Writer::new(Arc::clone(&shared), Arc::clone(&folder), Arc::clone(&journal), recovered.sealed);
            let thread = std::thread::Builder::new().name("disk-writer".into()).spawn(move || writer.run());
            Ok((recovered.sequence, thread.map_err(thread_failed)?))
        });
        match started {
            Ok((sequence, writer)) => {
                threads.push(writer);
                Ok(Disk { shared, journal, sequence, threads: Mutex::new(threads), _folder: folder })
            }
            Err(error) => {
                shared.pool.end();
                Err(error)
            }
        }
    }

    /// Hands in a record, in place of whatever the key had: that is not found any more from now on. Returns at once;
    /// the record can be found when it is written. `false`: it will not be, because it is too large (key over 64 KiB, head over
    /// 1 MiB, all of it over a quarter of the tier), too much waits,
    /// or writing is switched off after a failure. `sequence` comes back with the record.
    pub fn insert(&self, key: Bytes, head: Bytes, body: Bytes, sequence: u64) -> bool {
        let hash = self.shared.secret.hash(&key);
        let queue = &self.shared.queue;
        let fits = key.len() <= LONGEST_KEY
            && head.len() <= LONGEST_HEAD
            && record::length(key.len(), head.len(), body.len()) <= self.shared.settings.record();
        let mut taken = false;
        let store = |ticket| {
            taken = fits && {
                let incoming = Incoming { hash, ticket, sequence, key, head, body };
                queue.push(Operation::Store(Box::new(incoming)))
            };
            taken
        };
        // What was there before is out of date also when this is not taken.
        let remove = |ticket| queue.push(Operation::Remove { hash, ticket });
        self.shared.index.supersede(hash, store, remove);
        if !taken {
            count(&self.shared.counters.dropped);
        }
        taken
    }

    /// Looks the key up, in memory only. Another key with the same hash shows when it is read.
    pub fn find(&self, key: &[u8]) -> Option<FoundRecord> {
        let hash = self.shared.secret.hash(key);
        let slot = self.shared.index.find(hash);
        if slot.is_none() {
            count(&self.shared.counters.misses);
        }
        Some(FoundRecord { hash, slot: slot?, key: key.into() })
    }

    /// Reads what was found. `None`: it was evicted or replaced since, is not what was written, cannot be read, or too
    /// many reads wait; for the cache, a miss.
    pub fn read(&self, found: FoundRecord) -> impl Future<Output = Option<Record>> + Send + use<> {
        reader::read(Arc::clone(&self.shared), found)
    }

    /// Forgets the key: it is not found any more from now on. It comes back if the process is killed before this is
    /// written; what must not come back goes into the journal. Tells whether there was something.
    pub fn remove(&self, key: &[u8]) -> bool {
        let hash = self.shared.secret.hash(key);
        let queue = &self.shared.queue;
        let remove = |ticket| queue.push(Operation::Remove { hash, ticket });
        self.shared.index.supersede(hash, |_| false, remove)
    }

    /// Forgets everything, from now on; the files go soon after. As with [`Disk::remove`], see the journal.
    pub fn clear(&self) {
        self.shared.index.clear();
        self.shared.queue.push(Operation::Clear);
    }

    /// What must not be forgotten.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The highest sequence of the records that were there when it was opened; 0 if there were none.
    pub fn last_sequence(&self) -> u64 {
        self.sequence
    }

    /// What it did and holds.
    pub fn figures(&self) -> DiskFigures {
        let (shared, journal) = (&self.shared, self.journal.bytes());
        let segments = shared.counters.bytes.load(Relaxed);
        DiskFigures {
            records: shared.index.records(),
            bytes: segments + journal,
            capacity: shared.settings.bytes,
            queued: shared.queue.bytes() as u64,
            journal,
            paused: shared.queue.paused(),
            ..shared.counters.look()
        }
    }

    /// Why it cannot be written, or what cannot be kept; `None`: nothing is wrong.
    pub fn trouble(&self) -> Option<String> {
        self.shared.condition.trouble()
    }

    /// Waits until what was handed in is written, or writing is switched off, or the time is over (`false`). Not for a
    /// core.
    pub fn settle(&self, limit: Duration) -> bool {
        self.shared.queue.settle(limit)
    }

    /// Takes nothing more and writes what waits, for so long at most; tells whether all was written. Reading goes on
    /// until the tier is dropped. Not for a core.
    pub fn close(&self, limit: Duration) -> bool {
        self.shared.queue.close(limit)
    }

    /// For tests: lets every write fail, as on a full disk, or no longer.
    #[cfg(test)]
    pub(crate) fn break_writes(&self, broken: bool) {
        self.shared.broken.store(broken, Relaxed);
    }
}

impl Drop for Disk {
    /// What waits is lost; what is being written is finished, so that the folder is free when this returns.
    fn drop(&mut self) {
        self.shared.queue.close(Duration::ZERO);
        self.shared.pool.end();
        for thread in lock(&self.threads).drain(..) {
            let _ = thread.join();
        }
    }
}

fn start_pool(settings: &Settings) -> Result<(Arc<Pool>, Vec<JoinHandle<()>>)> {
    Pool::start(settings.readers).map_err(thread_failed)
}

fn thread_failed(source: std::io::Error) -> Error {
    Error::Io { what: "start a thread of the disk tier".into(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_mins(1);

    fn open(folder: &Path) -> Disk {
        Disk::open_with(folder, Settings { pause: Duration::from_millis(50), ..Settings::of(8 << 20) })
            .unwrap()
    }

    fn insert(disk: &Disk, key: &'static str, length: usize) -> bool {
        disk.insert(Bytes::from(key), Bytes::from("head"), Bytes::from(vec![1; length]), 1)
    }

    #[test]
    fn a_full_disk_switches_writing_off_until_it_works_and_harms_nothing_else() {
        let temporary = tempfile::tempdir().unwrap();
        let disk = open(temporary.path());
        assert!(insert(&disk, "before", 1_000));
        assert!(disk.settle(LONG));
        for key in ["small", "large"] {
            while disk.figures().paused {
                std::thread::yield_now();
            }
            // The trial that ended the pause is over as well.
            assert!(disk.settle(LONG));
            disk.break_writes(true);
            assert!(insert(&disk, key, if key == "large" { 1 << 20 } else { 100 }));
            assert!(disk.settle(LONG));
            assert!(disk.figures().paused && !insert(&disk, "meanwhile", 100));
            assert!(disk.trouble().is_some());
            assert!(disk.find(b"before").is_some() && disk.find(key.as_bytes()).is_none());
            disk.break_writes(false);
        }
        while !insert(&disk, "after", 1_000) {
            std::thread::yield_now();
        }
        assert!(disk.settle(LONG));
        assert!(disk.find(b"after").is_some() && disk.find(b"before").is_some());
        let figures = disk.figures();
        assert!(figures.errors >= 2 && figures.dropped >= 4 && !figures.paused, "{figures:?}");
        assert_eq!(disk.trouble(), None);
        drop(disk);
        let disk = open(temporary.path());
        assert!(disk.find(b"after").is_some() && disk.find(b"before").is_some());
        assert_eq!(disk.figures().corrupt, 0);
    }

    #[test]
    fn what_could_not_be_replaced_does_not_come_back() {
        let temporary = tempfile::tempdir().unwrap();
        let disk = open(temporary.path());
        assert!(insert(&disk, "key", 1_000));
        assert!(disk.settle(LONG));
        disk.break_writes(true);
        assert!(insert(&disk, "key", 2_000));
        assert!(disk.settle(LONG) && disk.figures().paused);
        assert!(!insert(&disk, "key", 3_000) && !disk.remove(b"other"));
        disk.break_writes(false);
        while !insert(&disk, "later", 10) {
            std::thread::yield_now();
        }
        assert!(disk.settle(LONG) && disk.find(b"later").is_some());
        drop(disk);
        let disk = open(temporary.path());
        assert!(disk.find(b"key").is_none() && disk.find(b"later").is_some());
    }

    #[test]
    fn a_full_queue_drops_and_never_waits() {
        let temporary = tempfile::tempdir().unwrap();
        let settings = Settings { queue: 10_000, ..Settings::of(8 << 20) };
        let disk = Disk::open_with(temporary.path(), settings).unwrap();
        disk.break_writes(true);
        insert(&disk, "fails", 10);
        disk.settle(LONG);
        disk.break_writes(false);
        let taken = (0..100).filter(|_| insert(&disk, "more", 1_000)).count();
        assert_eq!(taken, 0, "while it is switched off");
        assert!(disk.figures().dropped >= 101 && disk.figures().queued == 0);
    }

    #[test]
    fn after_closing_nothing_is_taken_and_reading_goes_on() {
        let temporary = tempfile::tempdir().unwrap();
        let disk = open(temporary.path());
        assert!(insert(&disk, "key", 1_000));
        assert!(disk.close(LONG) && disk.close(LONG));
        assert!(!insert(&disk, "other", 1_000));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let record = runtime.block_on(disk.read(disk.find(b"key").unwrap())).unwrap();
        assert_eq!(&record.head[..], b"head");
        let found = disk.find(b"key").unwrap();
        let read = disk.read(found);
        drop(disk);
        assert!(runtime.block_on(read).is_none(), "and after it is gone, there is nothing");
    }

    #[test]
    fn a_key_that_hashes_alike_is_not_given_out() {
        let temporary = tempfile::tempdir().unwrap();
        let disk = open(temporary.path());
        assert!(insert(&disk, "key", 1_000));
        assert!(disk.settle(LONG));
        let found = FoundRecord { key: (*b"yek").into(), ..disk.find(b"key").unwrap() };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert!(runtime.block_on(disk.read(found)).is_none());
        assert!(disk.find(b"key").is_some(), "it is no damage");
    }

    #[test]
    fn a_folder_too_small_or_in_use_is_refused() {
        let temporary = tempfile::tempdir().unwrap();
        assert!(matches!(Disk::open(temporary.path(), 1000), Err(Error::TooSmall(1000))));
        let _disk = open(temporary.path());
        assert!(matches!(Disk::open(temporary.path(), 8 << 20), Err(Error::Locked(_))));
    }
}
