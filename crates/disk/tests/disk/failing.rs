//! A folder that fails: it is told once, nothing that is found is wrong, and it comes back by itself.

use std::path::Path;
use std::time::Duration;

use disk::{Disk, Noted, Settings};

use crate::sample::{LONG, key, store, version, wait};

fn open(folder: &Path) -> Disk {
    let settings = Settings { pause: Duration::from_millis(20), ..Settings::of(8 << 20) };
    Disk::open_with(folder, settings).unwrap()
}

/// What the cache does every second.
fn look_after(disk: &Disk) {
    if disk.journal().wants_rewrite() {
        let _later = disk.journal().rewrite(["all purges there are"]);
    }
}

fn until(disk: &Disk, works: bool) -> Option<String> {
    let begun = std::time::Instant::now();
    while disk.trouble().is_none() != works {
        assert!(begun.elapsed() < LONG, "{:?}", disk.trouble());
        look_after(disk);
        std::thread::yield_now();
    }
    disk.trouble()
}

#[test]
fn a_folder_that_was_taken_away_is_begun_anew() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("tier");
    let disk = open(&path);
    assert!(store(&disk, 1, 1, 1_000) && disk.settle(LONG));
    std::fs::remove_dir_all(&path).unwrap();
    while !path.join("journal").exists() {
        look_after(&disk);
        std::thread::yield_now();
    }
    until(&disk, true);
    assert_eq!(wait(version(&disk, 1)), None, "it went with the folder");
    assert_eq!(disk.journal().append(b"a purge"), Noted::Kept);
    assert!(store(&disk, 2, 1, 1_000) && disk.settle(LONG));
    assert!(disk.close(LONG));
    drop(disk);
    let disk = open(&path);
    assert_eq!(disk.journal().take_entries(), ["all purges there are", "a purge"]);
    assert_eq!(wait(version(&disk, 2)), Some(1));
    assert_eq!(disk.figures().corrupt, 0);
}

#[test]
fn a_file_in_the_place_of_the_folder_is_told_until_it_is_gone() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("tier");
    let disk = open(&path);
    std::fs::rename(&path, temporary.path().join("away")).unwrap();
    std::fs::write(&path, "in the way").unwrap();
    let said = until(&disk, false).unwrap();
    assert!(said.contains("tier") && said.ends_with("until it can be written"), "{said}");
    assert_eq!(disk.journal().append(b"a purge"), Noted::EmptiesAll, "nothing is there to come back");
    assert!(!store(&disk, 1, 1, 1_000) && disk.find(&key(1)).is_none());
    std::fs::remove_file(&path).unwrap();
    until(&disk, true);
    while !store(&disk, 1, 1, 1_000) {
        std::thread::yield_now();
    }
    assert!(disk.settle(LONG));
    assert_eq!(wait(version(&disk, 1)), Some(1));
}

#[test]
fn what_was_moved_away_comes_back_empty() {
    let temporary = tempfile::tempdir().unwrap();
    let (path, away) = (temporary.path().join("tier"), temporary.path().join("away"));
    let disk = open(&path);
    assert!(store(&disk, 1, 1, 1_000) && disk.settle(LONG));
    std::fs::rename(&path, &away).unwrap();
    while !path.join("journal").exists() {
        look_after(&disk);
        std::thread::yield_now();
    }
    drop(disk);
    // Purges since then are not in it.
    let disk = open(&away);
    assert!(disk.find(&key(1)).is_none());
}
