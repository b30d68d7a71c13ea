//! The disk behind the memory: what is left after a restart and after a kill, how soon there are hits again, and what a
//! hit costs that lies only there. Whether bodies are whole after kills under load is held by the flow tests.

use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::failure::{Failure, Result};
use crate::http_client::HttpClient;
use crate::interruption;
use crate::process::pause;
use crate::row::content;
use crate::scenario::filling::fill;
use crate::scenario::outcome::{Outcome, metric};
use crate::server::{Kind, Origin, Server, Setup};

const ENTRIES: usize = 20_000;
/// Longest that what was stored may stay in memory only.
const WRITTEN_WITHIN: Duration = Duration::from_secs(3);

/// One walk through all entries.
struct Walk {
    hits: usize,
    /// Content that was not the origin's.
    wrong: usize,
    cpu_us: f64,
}

pub(crate) fn disk() -> Result<Vec<Outcome>> {
    let origin = Origin::start()?;
    let folder = tempfile::Builder::new().prefix("bench-").tempdir()?;
    let setup = Setup {
        config: include_str!("../../rivals/fleetfoot-disk.yaml"),
        folder: folder.path(),
        ..Setup::of(Kind::Fleetfoot, origin.address)
    };
    if let Some(faults) = setup.faults()? {
        return without(&setup, &faults);
    }
    let filled = setup.start()?;
    fill(filled.address, ENTRIES, target)?;
    filled.settle()?;
    pause(WRITTEN_WITHIN);
    let bytes = size_of(&folder);
    drop(filled);

    let mut outcomes = vec![Outcome::told("on disk for each entry of 1 KiB", bytes / ENTRIES as f64, "B")];
    let (mut server, first_hit) = restart(&setup)?;
    server.settle()?;
    let (resident, from_disk) = (server.process.resident(), walk(&server)?);
    let from_memory = walk(&server)?;
    outcomes.extend(of_restart(first_hit, &from_disk, &from_memory));
    let grown = server.process.resident().saturating_sub(resident) as f64 / (1024.0 * 1024.0);
    outcomes.push(Outcome::told("resident more after all were asked for", grown, "MiB"));
    if let Some(disk_bytes) = metric(&server, "fleetfoot_cache_disk_bytes")? {
        outcomes.push(Outcome::told("disk bytes as reported", disk_bytes / (1024.0 * 1024.0), "MiB"));
    }
    server.process.kill();
    drop(server);

    let (server, first_hit) = restart(&setup)?;
    let killed = walk(&server)?;
    outcomes.extend([
        Outcome::told("first hit after a kill and a start", milliseconds(first_hit), "ms"),
        share("hits after a kill", &killed),
        right("wrong content after a kill", &killed),
    ]);
    Ok(outcomes)
}

/// Skipped where only the disk is what is wrong with the config.
fn without(setup: &Setup<'_>, faults: &str) -> Result<Vec<Outcome>> {
    let plain = Setup { config: Setup::of(setup.kind, setup.origin).config, ..*setup };
    if plain.faults()?.is_some() {
        return Err(Failure(format!("fleetfoot does not take the config: {faults}")));
    }
    let first = faults.lines().next().unwrap_or_default();
    Ok(vec![Outcome::skipped(format!("disk: skipped, this fleetfoot was built without it ({first})"))])
}

fn target(number: usize) -> String {
    format!("/key/{number}")
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Starts it on what it left, and gives how long that took up to the first hit.
fn restart(setup: &Setup<'_>) -> Result<(Server, Duration)> {
    let first = target(ENTRIES / 2);
    let start = Instant::now();
    let server = Setup { target: &first, ..*setup }.start()?;
    let mut client = HttpClient::connect(server.address)?;
    while !client.ask(&first, &[])?.is_hit() {
        interruption::check()?;
        if start.elapsed() > Duration::from_secs(10) {
            return Err(Failure("no hit within 10 s of a restart".to_owned()));
        }
    }
    Ok((server, start.elapsed()))
}

/// Asks for every entry once, one after another.
fn walk(server: &Server) -> Result<Walk> {
    let mut client = HttpClient::connect(server.address)?;
    let (mut hits, mut wrong) = (0, 0);
    let before = server.process.cpu_time();
    for target in (0..ENTRIES).map(target) {
        interruption::check()?;
        let answer = client.ask(&target, &[])?;
        hits += usize::from(answer.is_hit());
        wrong += usize::from(answer.body != content(&target));
    }
    let cpu = server.process.cpu_time().since(&before);
    Ok(Walk { hits, wrong, cpu_us: cpu.as_nanos() as f64 / 1e3 / ENTRIES as f64 })
}

fn of_restart(first_hit: Duration, from_disk: &Walk, from_memory: &Walk) -> Vec<Outcome> {
    vec![
        Outcome::told("first hit after a start", milliseconds(first_hit), "ms"),
        share("hits after a restart", from_disk).promised("all but one in a hundred", is_warm(from_disk)),
        right("wrong content after a restart", from_disk),
        Outcome::told(
            "a hit that lies only on disk (in the system's page cache)",
            from_disk.cpu_us,
            "µs CPU",
        ),
        Outcome::told("the same from memory", from_memory.cpu_us, "µs CPU"),
        Outcome::told("disk of memory", from_disk.cpu_us / from_memory.cpu_us, "×"),
    ]
}

fn is_warm(walk: &Walk) -> bool {
    walk.hits * 100 >= ENTRIES * 99
}

fn share(what: &'static str, walk: &Walk) -> Outcome {
    Outcome::told(what, walk.hits as f64 * 100.0 / ENTRIES as f64, "%")
}

fn right(what: &'static str, walk: &Walk) -> Outcome {
    Outcome::told(what, walk.wrong as f64, "").promised("none", walk.wrong == 0)
}

/// Bytes of the files in the folder.
fn size_of(folder: &TempDir) -> f64 {
    let mut folders = vec![folder.path().to_owned()];
    let mut bytes = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => folders.push(entry.path()),
                // A file that has gone since has no bytes.
                Ok(metadata) => bytes += metadata.len(),
                Err(_) => {}
            }
        }
    }
    bytes as f64
}
