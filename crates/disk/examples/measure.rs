//! Measures the disk tier: `cargo run --release -p disk --example measure -- FOLDER RECORDS`.
//!
//! Writes so many records of 1 KiB and some of 1 MiB, reads them back one at a time, and opens the folder again: after
//! a proper end, and without the index of the last segment, as after a kill. The page cache is warm throughout.
//! Without RECORDS, only opens what is there.

#![expect(clippy::print_stdout, reason = "it is there to print")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bytes::Bytes;
use disk::{Disk, Settings};

const LONG: Duration = Duration::from_mins(10);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("which folder?")?);
    let Some(records) = arguments.next().and_then(|number| number.to_str()?.parse::<u64>().ok()) else {
        return Ok(open(&folder, &Settings::of(1 << 40), "as it is")?);
    };
    let settings = Settings { records: records as usize * 2, ..Settings::of(records * 2048 + (4 << 30)) };
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let disk = Disk::open_with(&folder, settings.clone())?;

    let before = resident();
    write(&disk, "small", records, 1 << 10);
    println!("memory: {} bytes more resident", resident().saturating_sub(before));
    write(&disk, "large", 1_000, 1 << 20);
    for (kind, count, body) in [("small", records, 1 << 10), ("large", 1_000, 1 << 20)] {
        runtime.block_on(read(&disk, kind, count.min(20_000), count, body));
    }
    disk.close(LONG);
    drop(disk);
    open(&folder, &settings, "closed")?;
    let last = last_segment(&folder)?;
    let file = std::fs::OpenOptions::new().write(true).open(&last)?;
    file.set_len(file.metadata()?.len().saturating_sub(64))?;
    open(&folder, &settings, "killed")?;
    Ok(())
}

fn key(kind: &str, number: u64) -> Bytes {
    Bytes::from(format!("https://www.example.com/{kind}/{number}"))
}

fn write(disk: &Disk, kind: &str, count: u64, length: usize) {
    let body = Bytes::from(vec![7; length]);
    let begun = Instant::now();
    for number in 0..count {
        while disk.figures().queued > 60 << 20 {
            disk.settle(Duration::from_millis(1));
        }
        disk.insert(key(kind, number), Bytes::from_static(&[1; 300]), body.clone(), number);
    }
    disk.settle(LONG);
    let (time, figures) = (begun.elapsed(), disk.figures());
    let megabytes = (count * length as u64) as f64 / 1e6 / time.as_secs_f64();
    println!("write {kind}: {count} in {time:?}, {megabytes:.0} MB/s, {} dropped", figures.dropped);
}

async fn read(disk: &Disk, kind: &str, reads: u64, count: u64, length: usize) {
    let mut times = Vec::new();
    for number in 0..reads {
        let key = key(kind, number * 7_919 % count);
        let begun = Instant::now();
        let Some(found) = disk.find(&key) else { continue };
        let Some(mut record) = disk.read(found).await else { continue };
        let mut bytes = 0;
        while let Some(Ok(piece)) = record.body.next().await {
            bytes += piece.len();
        }
        times.push(begun.elapsed());
        assert_eq!(bytes, length);
    }
    times.sort_unstable();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    println!("read {kind}: {} reads, p50 {:?}, p99 {:?}", times.len(), at(50), at(99));
}

fn open(folder: &Path, settings: &Settings, how: &str) -> disk::Result<()> {
    let before = resident();
    let begun = Instant::now();
    let disk = Disk::open_with(folder, settings.clone())?;
    let (time, figures) = (begun.elapsed(), disk.figures());
    let each = resident().saturating_sub(before) / figures.records.max(1);
    println!("open, {how}: {} records in {time:?}, about {each} bytes of memory each", figures.records);
    Ok(())
}

fn last_segment(folder: &Path) -> std::io::Result<PathBuf> {
    let mut paths: Vec<_> =
        folder.read_dir()?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "segment"));
    paths.sort();
    Ok(paths.pop().unwrap_or_default())
}

/// Bytes of memory in use, as far as the system tells.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4096
}
