//! Config loads: what became of the config as often as it was read. Counted by `server`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use message::Timestamp;

use crate::Family;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct ConfigLoads(Mutex<Loads>);

#[derive(Debug, Default)]
struct Loads {
    succeeded: u64,
    failed: u64,
    last_failed: bool,
    last_success: Option<Timestamp>,
}

impl ConfigLoads {
    pub(crate) fn add(&self, now: Timestamp, success: bool) {
        let mut loads = self.lock();
        loads.last_failed = !success;
        if success {
            loads.succeeded += 1;
            loads.last_success = Some(now);
        } else {
            loads.failed += 1;
        }
    }

    pub(crate) fn families(&self) -> Vec<Family> {
        let loads = self.lock();
        let last =
            Family::gauge("config_last_success_timestamp", "When a config last took effect, since 1970");
        let mut families = vec![
            Family::counter("config_loads", "How often the config was read, by whether it took effect")
                .by(["result"], [(["success"], loads.succeeded), (["failure"], loads.failed)]),
            Family::gauge(
                "config_last_load_successful",
                "Whether the config read last took effect (1) or not (0)",
            )
            .of(loads.succeeded > 0 && !loads.last_failed),
        ];
        families.extend(loads.last_success.map(|at| last.seconds().of(at)));
        families
    }

    fn lock(&self) -> MutexGuard<'_, Loads> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
