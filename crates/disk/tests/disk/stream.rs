//! Large bodies: piece by piece, also while their segment is evicted.

use bytes::Bytes;
use disk::{Disk, Error, Settings};

use crate::sample::{LONG, bytes, key, size, store, version, wait};

#[test]
fn a_large_body_comes_in_pieces_and_whole() {
    let temporary = tempfile::tempdir().unwrap();
    let disk = Disk::open(temporary.path(), 256 << 20).unwrap();
    for length in [0, 1, 65_535, 65_536, 65_537, 300_000, 10_000_000, 40_000_003] {
        assert!(store(&disk, 1, length as u64, length));
        assert!(disk.settle(LONG));
        assert_eq!(wait(version(&disk, 1)), Some(length as u64));
        let record = wait(disk.read(disk.find(&key(1)).unwrap())).unwrap();
        assert_eq!(record.body.whole().is_some(), length <= 65_537);
        assert_eq!(wait(record.body.collect()).unwrap(), bytes(1 << 32 ^ length as u64, length));
    }
}

#[test]
fn a_long_head_before_a_large_body() {
    let temporary = tempfile::tempdir().unwrap();
    let disk = Disk::open(temporary.path(), 64 << 20).unwrap();
    let (key, head, body) = (bytes(1, 64 << 10), bytes(2, 1 << 20), bytes(3, 3 << 20));
    assert!(disk.insert(key.clone(), head.clone(), body.clone(), 7));
    assert!(disk.settle(LONG));
    let record = wait(disk.read(disk.find(&key).unwrap())).unwrap();
    assert_eq!((record.key, record.head, record.sequence), (key, head, 7));
    assert_eq!(wait(record.body.collect()).unwrap(), body);
}

#[test]
fn what_is_too_large_is_dropped_and_what_it_replaces_is_gone() {
    let temporary = tempfile::tempdir().unwrap();
    let disk = Disk::open(temporary.path(), 8 << 20).unwrap();
    assert!(store(&disk, 1, 1, 10));
    assert!(disk.settle(LONG));
    assert!(!store(&disk, 1, 2, 5 << 20));
    assert!(disk.find(&key(1)).is_none());
    assert!(!disk.insert(bytes(1, (64 << 10) + 1), Bytes::new(), Bytes::new(), 1));
    assert!(!disk.insert(key(2), bytes(1, (1 << 20) + 1), Bytes::new(), 1));
    assert_eq!(disk.figures().dropped, 3);
    assert!(disk.settle(LONG));
    drop(disk);
    let disk = Disk::open(temporary.path(), 8 << 20).unwrap();
    assert_eq!(wait(version(&disk, 1)), None);
}

#[test]
fn an_evicted_body_is_read_to_its_end_or_breaks_off_with_an_error() {
    let temporary = tempfile::tempdir().unwrap();
    let settings = Settings::of(16 << 20);
    let disk = Disk::open_with(temporary.path(), settings).unwrap();
    let length = 1 << 20;
    let mut slow = Vec::new();
    for number in 0..12 {
        assert!(store(&disk, number, 1, length));
    }
    assert!(disk.settle(LONG));
    for number in 0..12 {
        let record = wait(disk.read(disk.find(&key(number)).unwrap())).unwrap();
        slow.push((number, record.body));
    }
    for number in 100..140 {
        assert!(store(&disk, number, 1, length));
        assert!(disk.settle(LONG));
        assert!(disk.figures().bytes <= 16 << 20, "what slow readers hold counts");
        assert!(size(temporary.path()) <= 16 << 20);
    }
    let mut whole = 0;
    for (number, body) in slow {
        match wait(body.collect()) {
            Ok(body) => {
                assert_eq!(body, bytes(number << 32 ^ 1, length));
                whole += 1;
            }
            Err(error) => assert!(matches!(error, Error::Evicted), "{error}"),
        }
    }
    assert!((1..12).contains(&whole), "an eighth of the bytes is kept for them: {whole}");
}
