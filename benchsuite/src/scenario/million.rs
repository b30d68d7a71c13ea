//! A million entries of 1 KiB: what they take in memory, all of it counted.

use crate::failure::Result;
use crate::http_client::HttpClient;
use crate::interruption;
use crate::scenario::outcome::{Outcome, metric};
use crate::server::{Kind, Origin, Server};

const ENTRIES: usize = 1_000_000;
const CONNECTIONS: usize = 64;
const SHARE: usize = ENTRIES / CONNECTIONS;
/// Asked for at once, so that neither side waits for the other. Goes into the share without a rest.
const BATCH: usize = 25;

pub(crate) fn million() -> Result<Vec<Outcome>> {
    let origin = Origin::start()?;
    let server = Server::start_with(Kind::Fleetfoot, origin.address, "2GiB")?;
    let before = server.process.resident();
    let threads: Vec<_> = (0..CONNECTIONS)
        .map(|part| {
            let address = server.address;
            std::thread::spawn(move || fill(&mut HttpClient::connect(address)?, part * SHARE, SHARE))
        })
        .collect();
    for thread in threads {
        thread.join().expect("filling does not panic")?;
    }
    let resident = server.process.resident();
    let keys = metric(&server, "fleetfoot_cache_keys")?;
    let counted = metric(&server, "fleetfoot_cache_bytes")?;
    let gib = |bytes: f64| bytes / (1024.0 * 1024.0 * 1024.0);
    let promise = "at most 1.6 GiB";
    let told = |what, figure, unit| Outcome { what, figure, unit, promise: "", held: true };
    Ok(vec![
        told("entries", keys, ""),
        told("what the cache counts", gib(counted), "GiB"),
        told("an entry", (resident - before) as f64 / keys.max(1.0), "B"),
        Outcome {
            what: "resident",
            figure: gib(resident as f64),
            unit: "GiB",
            promise,
            held: gib(resident as f64) <= 1.6 && keys >= ENTRIES as f64,
        },
    ])
}

fn fill(client: &mut HttpClient, first: usize, count: usize) -> Result<()> {
    for start in (first..first + count).step_by(BATCH) {
        let targets: Vec<String> = (start..start + BATCH).map(|key| format!("/key/{key}")).collect();
        interruption::check()?;
        client.send(&targets)?;
        for _ in &targets {
            client.receive()?;
        }
    }
    Ok(())
}
