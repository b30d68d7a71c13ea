//! Of clients' connections.

use std::sync::Arc;

use listener::{ConnectionCounters, Event, OpenConnections};
use telemetry::Family;

pub(super) fn open(connections: &OpenConnections) -> Family {
    Family::gauge("open_connections", "Client connections open now").of(connections.open() as u64)
}

pub(super) fn events(of_cores: &[Arc<ConnectionCounters>]) -> Family {
    let sum = |event| of_cores.iter().map(|counters| counters.get(event)).sum::<u64>();
    Family::counter("connections", "Client connections by what happened to them before there was a request")
        .by(["event"], Event::ALL.map(|event| ([event.word()], sum(event))))
}
