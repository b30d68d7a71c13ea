//! Idle connections: what 10,000 clients cost that have asked once and now say nothing.

use std::time::Duration;

use crate::failure::Result;
use crate::http_client::HttpClient;
use crate::interruption;
use crate::process::pause;
use crate::scenario::outcome::Outcome;
use crate::server::{Kind, Origin, Setup};

const CLIENTS: usize = 10_000;

pub(crate) fn idle() -> Result<Vec<Outcome>> {
    let origin = Origin::start()?;
    let server = Setup::of(Kind::Fleetfoot, origin.address).start()?;
    // One connection first, so that what is made once does not count.
    HttpClient::connect(server.address)?.get("/1k")?;
    let before = server.process.resident();
    let mut clients = Vec::with_capacity(CLIENTS);
    for _ in 0..CLIENTS {
        interruption::check()?;
        let mut client = HttpClient::connect(server.address)?;
        client.get("/1k")?;
        clients.push(client);
    }
    pause(Duration::from_secs(1));
    let kib = server.process.resident().saturating_sub(before) as f64 / 1024.0 / CLIENTS as f64;
    for client in &mut clients {
        client.get("/1k")?;
    }
    Ok(vec![Outcome::told("an idle connection", kib, "KiB").promised("at most 16 KiB", kib <= 16.0)])
}
