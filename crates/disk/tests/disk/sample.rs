//! Records that say themselves whether they are right.

use std::time::Duration;

use bytes::Bytes;
use disk::{Disk, Record};

/// Longer than any test waits.
pub(crate) const LONG: Duration = Duration::from_mins(1);

/// Runs a future to its end.
pub(crate) fn wait<Output>(future: impl Future<Output = Output>) -> Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Bytes that follow from the seed, any slice of which differs from other seeds'.
pub(crate) fn bytes(seed: u64, length: usize) -> Bytes {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut out = Vec::with_capacity(length + 8);
    while out.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        out.extend_from_slice(&state.to_le_bytes());
    }
    out.truncate(length);
    Bytes::from(out)
}

/// The key with this number.
pub(crate) fn key(number: u64) -> Bytes {
    Bytes::from(format!("http://a.example/{number}"))
}

/// Stores a version of a key: head and body follow from key, version and length, and the head says them.
pub(crate) fn store(disk: &Disk, number: u64, version: u64, length: usize) -> bool {
    let head = Bytes::from(format!("{number} {version} {length}"));
    disk.insert(key(number), head, bytes(number << 32 ^ version, length), version)
}

/// Reads a key and checks that what comes is a version that was written, byte by byte. Tells the version. A body
/// that breaks off with an error is right as far as it goes, and counts as nothing.
pub(crate) async fn version(disk: &Disk, number: u64) -> Option<u64> {
    let found = disk.find(&key(number))?;
    let Record { key: read, head, sequence, mut body } = disk.read(found).await?;
    assert_eq!(read, key(number));
    let head = std::str::from_utf8(&head).unwrap();
    let words: Vec<u64> = head.split(' ').map(|word| word.parse().unwrap()).collect();
    let [in_head, version, length] = words[..] else { panic!("{head:?}") };
    assert_eq!((in_head, version), (number, sequence));
    assert_eq!(length, body.length());
    let expected = bytes(number << 32 ^ version, length as usize);
    let mut at = 0;
    while let Some(piece) = body.next().await {
        let Ok(piece) = piece else { return None };
        assert_eq!(piece, expected[at..at + piece.len()], "key {number} version {version} at {at}");
        at += piece.len();
    }
    assert_eq!(at, expected.len(), "key {number} version {version}");
    Some(version)
}

/// Bytes the folder takes.
pub(crate) fn size(folder: &std::path::Path) -> u64 {
    let files = folder.read_dir().unwrap().filter_map(Result::ok);
    files.filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum()
}
