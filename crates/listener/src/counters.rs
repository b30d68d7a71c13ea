//! Connection counters: what happened to connections before there was a request. Read by the server for its metrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Something that happened to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A connection was accepted and served.
    Accepted,
    /// A connection was accepted and closed at once, since too many are open.
    Refused,
    /// The system refused to give us a connection: no file descriptors left, for one.
    AcceptFailed,
    /// A connection was closed since its PROXY protocol header was malformed, missing or late.
    ProxyHeaderFailed,
    /// A connection was closed since its TLS handshake failed or was late.
    HandshakeFailed,
    /// An HTTP/2 connection was closed since it sent frames that carry nothing, in a flood.
    Flooded,
}

impl Event {
    /// All of them, in the order of their declaration.
    pub const ALL: [Event; 6] = [
        Event::Accepted,
        Event::Refused,
        Event::AcceptFailed,
        Event::ProxyHeaderFailed,
        Event::HandshakeFailed,
        Event::Flooded,
    ];

    /// The word for logs and metrics.
    pub const fn word(self) -> &'static str {
        match self {
            Event::Accepted => "accepted",
            Event::Refused => "refused",
            Event::AcceptFailed => "accept-failed",
            Event::ProxyHeaderFailed => "proxy-header-failed",
            Event::HandshakeFailed => "handshake-failed",
            Event::Flooded => "flooded",
        }
    }
}

/// A count per [`Event`]. One per core, so that cores do not fight over a cache line; readers add them up.
#[derive(Debug, Default)]
pub struct ConnectionCounters([AtomicU64; Event::ALL.len()]);

impl ConnectionCounters {
    /// All zero.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// How often it happened on this core.
    pub fn get(&self, event: Event) -> u64 {
        self.0[event as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn count(&self, event: Event) {
        self.0[event as usize].fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_its_own_place_and_word() {
        let counters = ConnectionCounters::new();
        for event in Event::ALL {
            counters.count(event);
            assert!(Event::ALL.into_iter().filter(|other| other.word() == event.word()).count() == 1);
        }
        assert!(Event::ALL.into_iter().all(|event| counters.get(event) == 1));
    }
}
