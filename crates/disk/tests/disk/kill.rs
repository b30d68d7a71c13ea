//! Killed: this test binary starts itself again as a child that stores without end, and ends it with SIGKILL.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use disk::Disk;

use crate::sample::{bytes, store, version, wait};

const FOLDER: &str = "FLEETFOOT_DISK_TEST_FOLDER";
const BYTES: u64 = 6 << 20;
const KEYS: u64 = 500;

/// Not a test of its own: what the child does.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let disk = Disk::open(&folder, BYTES).unwrap();
    let purged = purges(&disk).last().copied().unwrap_or(0);
    println!("opened");
    for version in purged.max(disk.last_sequence()) + 1.. {
        let length = match version % 40 {
            0 => 400_000,
            1 => 1_200_000,
            _ => (version as usize * 7_919) % 20_000,
        };
        store(&disk, version * 31 % KEYS, version, length);
        if version % 10 == 0 {
            std::thread::yield_now();
            disk.remove(&crate::sample::key(version % KEYS));
        }
        if version % 25 == 0 {
            assert_eq!(disk.journal().append(&version.to_le_bytes()), disk::Noted::Kept);
            println!("purged {version}");
        }
        if version % 1_000 == 0 {
            disk.journal().rewrite([version.to_le_bytes()]).unwrap();
        }
        if disk.figures().queued > 4 << 20 {
            disk.settle(Duration::from_millis(5));
        }
    }
}

fn purges(disk: &Disk) -> Vec<u64> {
    let entries = disk.journal().take_entries();
    entries.iter().map(|entry| u64::from_le_bytes(entry[..].try_into().unwrap())).collect()
}

/// Lets a child work for so long; tells the last purge it was told is kept.
fn run_and_kill(folder: &Path, time: Duration) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["kill::child", "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.ends_with("opened")), "the child could not open what the last one left");
    let reader = std::thread::spawn(move || {
        lines.filter_map(|line| line.strip_prefix("purged ")?.parse().ok()).last().unwrap_or(0)
    });
    std::thread::park_timeout(time);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap()
}

#[test]
fn killed_fifty_times_and_never_a_wrong_byte() {
    let temporary = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let (mut records, mut last_purge) = (0, 0);
    for round in 0..50u64 {
        let time = 10 + u64::from(bytes(round, 1)[0]) / 2;
        last_purge = run_and_kill(temporary.path(), Duration::from_millis(time)).max(last_purge);
        let opening = Instant::now();
        let disk = Disk::open(temporary.path(), BYTES).unwrap();
        let opened = opening.elapsed();
        let figures = disk.figures();
        assert!(figures.bytes <= BYTES, "{figures:?}");
        assert_eq!(figures.corrupt, 0, "a kill leaves a record cut short, and nothing worse");
        assert!(opened < Duration::from_secs(5), "opened in {opened:?}");
        let kept = purges(&disk).last().copied().unwrap_or(0);
        assert!(kept >= last_purge, "the purge {last_purge} was acknowledged, and {kept} is the last");
        disk.journal().rewrite([kept.to_le_bytes()]).unwrap();
        for number in 0..KEYS {
            if wait(version(&disk, number)).is_some() {
                records += 1;
            }
        }
        assert_eq!(disk.figures().corrupt, 0);
        if begun.elapsed() > Duration::from_secs(20) {
            println!("a slow machine: {round} rounds");
            break;
        }
    }
    assert!(records > 1_000, "{records} records were read");
}
