//! Probing: asking for one entry after another, each only once, and noting which were hits. Whether an entry is gone
//! can only be asked once: whoever asks fetches it again.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::failure::Result;
use crate::http_client::HttpClient;
use crate::process::stay_on_load_core;

/// One question.
#[derive(Clone, Copy)]
pub(crate) struct Probe {
    pub(crate) sent: Instant,
    pub(crate) answered: Instant,
    pub(crate) hit: bool,
}

/// Asks for these, as fast as they are answered, until it is over or there are no more.
pub(crate) fn probe(
    address: SocketAddr,
    targets: impl Iterator<Item = String>,
    over: &AtomicBool,
) -> Result<Vec<Probe>> {
    stay_on_load_core();
    let mut client = HttpClient::connect(address)?;
    let mut probes = Vec::new();
    for target in targets {
        if over.load(Ordering::Relaxed) {
            break;
        }
        let sent = Instant::now();
        let hit = client.ask(&target, &[])?.is_hit();
        probes.push(Probe { sent, answered: Instant::now(), hit });
    }
    Ok(probes)
}
