//! A million entries of 1 KiB: what they take in memory, all of it counted.

use crate::failure::Result;
use crate::scenario::filling::fill;
use crate::scenario::outcome::{Outcome, metric};
use crate::server::{Kind, Origin, Setup};

const ENTRIES: usize = 1_000_000;

pub(crate) fn million() -> Result<Vec<Outcome>> {
    let origin = Origin::start()?;
    let server = Setup { memory: "2GiB", ..Setup::of(Kind::Fleetfoot, origin.address) }.start()?;
    let before = server.process.resident();
    fill(server.address, ENTRIES, |key| format!("/key/{key}"))?;
    let resident = server.process.resident();
    let keys = metric(&server, "fleetfoot_cache_keys")?.unwrap_or(0.0);
    let counted = metric(&server, "fleetfoot_cache_bytes")?.unwrap_or(0.0);
    let gib = |bytes: f64| bytes / (1024.0 * 1024.0 * 1024.0);
    let held = gib(resident as f64) <= 1.6 && keys >= ENTRIES as f64;
    Ok(vec![
        Outcome::told("entries", keys, ""),
        Outcome::told("what the cache counts", gib(counted), "GiB"),
        Outcome::told("an entry", resident.saturating_sub(before) as f64 / keys.max(1.0), "B"),
        Outcome::told("resident", gib(resident as f64), "GiB").promised("at most 1.6 GiB", held),
    ])
}
