//! Many threads: readers, writers, removers, eviction, all at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use disk::Disk;

use crate::sample::{LONG, key, size, store, version, wait};

#[test]
fn readers_and_writers_at_once_see_only_what_was_written() {
    const KEYS: u64 = 200;
    let temporary = tempfile::tempdir().unwrap();
    let disk = Arc::new(Disk::open(temporary.path(), 4 << 20).unwrap());
    let done = Arc::new(AtomicBool::new(false));
    let reads = Arc::new(AtomicU64::new(0));
    // Each key has one writer, so its versions only grow: a reader must never see one smaller than it saw before.
    std::thread::scope(|scope| {
        for reader in 0..3u64 {
            let (disk, done, reads) = (Arc::clone(&disk), Arc::clone(&done), Arc::clone(&reads));
            scope.spawn(move || {
                let mut seen = vec![0; KEYS as usize];
                for number in (reader * 7..).step_by(13).take_while(|_| !done.load(SeqCst)) {
                    let number = number % KEYS;
                    if let Some(version) = wait(version(&disk, number)) {
                        assert!(version >= seen[number as usize], "key {number} went back to {version}");
                        seen[number as usize] = version;
                        reads.fetch_add(1, SeqCst);
                    }
                }
            });
        }
        let writers: Vec<_> = (0..2)
            .map(|writer| {
                let disk = Arc::clone(&disk);
                scope.spawn(move || {
                    for version in 1..15_000u64 {
                        let number = version * 31 % (KEYS / 2) * 2 + writer;
                        let length = if version % 50 == 0 { 300_000 } else { version as usize % 5_000 };
                        store(&disk, number, version, length);
                        if version % 11 == 0 {
                            disk.remove(&key(number));
                            assert!(disk.find(&key(number)).is_none());
                        }
                        if version % 500 == 0 {
                            assert!(disk.settle(LONG));
                        }
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, SeqCst);
    });
    let figures = disk.figures();
    assert!(reads.load(SeqCst) > 100, "{figures:?}");
    assert_eq!((figures.corrupt, figures.errors), (0, 0), "{figures:?}");
    assert!(size(temporary.path()) <= 4 << 20);
}
