//! Stop: whether anybody still waits for a job. Set when the future of [`Workers::run`](crate::Workers::run) is dropped;
//! asked by the job, as often as it can.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// See the module. Cheap to clone, for whatever a job asks in between: a progress handler, an epoch's callback.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Nobody waits any more: what the job gives is thrown away, so it may end with anything, and should soon.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
