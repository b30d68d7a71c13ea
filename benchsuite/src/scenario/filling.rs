//! Filling: many entries into a cache, as fast as it fetches them. Called by the scenarios that need a full one.

use std::net::SocketAddr;
use std::thread;

use crate::failure::Result;
use crate::http_client::HttpClient;
use crate::interruption;

const CONNECTIONS: usize = 64;
/// Asked for at once, so that neither side waits for the other.
const BATCH: usize = 25;

/// Asks for so many targets, each once, over several connections.
pub(crate) fn fill(
    address: SocketAddr,
    entries: usize,
    target: impl Fn(usize) -> String + Sync,
) -> Result<()> {
    let share = entries.div_ceil(CONNECTIONS);
    let part = |number: usize| {
        let mut client = HttpClient::connect(address)?;
        let end = entries.min((number + 1) * share);
        for first in (number * share..end).step_by(BATCH) {
            interruption::check()?;
            let targets: Vec<String> = (first..end.min(first + BATCH)).map(&target).collect();
            client.send(&targets)?;
            for _ in &targets {
                client.receive()?;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let part = &part;
        let threads: Vec<_> = (0..CONNECTIONS).map(|number| scope.spawn(move || part(number))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("filling does not panic"))
    })
}
