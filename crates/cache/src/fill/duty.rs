//! Duty: what a filler owes to those who wait for it, whatever becomes of it.

use std::sync::Arc;

use message::{Error, Kind};

use crate::fill::Fill;
use crate::key::Key;
use crate::store::Store;

/// Sees to it that nobody waits for a filler that is gone: at a shutdown, or should it ever panic.
pub(crate) struct Duty {
    pub(crate) store: Arc<Store>,
    pub(crate) key: Key,
    pub(crate) fill: Arc<Fill>,
}

impl Drop for Duty {
    fn drop(&mut self) {
        self.store.fills.remove(&self.key.view(), &self.fill);
        self.fill.abandon(Error::new(Kind::Internal, "the fetch was given up"));
        self.store.counters.fill_ended();
    }
}
