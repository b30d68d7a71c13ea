//! Tether: what a connection that is kept alive depends on: that it is not too old, and that its target's name still stands
//! for the address it leads to. Held by each `connection` and `http2_session`.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::name::Name;

/// See the module.
pub(super) struct Tether {
    name: Arc<Name>,
    address: IpAddr,
    opened: Instant,
    most: Duration,
}

impl Tether {
    /// For a connection made now.
    pub(super) fn new(name: &Arc<Name>, address: IpAddr, most: Duration) -> Self {
        Tether { name: Arc::clone(name), address, opened: Instant::now(), most }
    }

    /// Whether another request may be sent on it.
    pub(super) fn holds(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.opened) < self.most && self.name.stands_for(self.address, now)
    }

    /// Has the name looked up again where that is due: nobody else does while no connection is opened.
    pub(super) fn see_to_name(&self) {
        self.name.see_to();
    }
}
