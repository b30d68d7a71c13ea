//! Figures: what is counted here and there, as `/metrics` shows it; a file for each who counts, and [`Owners::families`]
//! lists them. Asked whenever somebody asks for metrics.

mod auth;
mod cache;
mod compose;
mod connections;
mod databases;
mod modules;
mod policies;
mod redis;
mod sources;
mod tiers;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use ::cache::Store;
use disk::Disk;
use listener::{ConnectionCounters, OpenConnections};
use telemetry::Family;

use crate::life::control::current;
use crate::walk::running::Running;

/// Who counts.
pub(crate) struct Owners {
    pub(crate) store: Arc<Store>,
    /// Entries forgotten because of purges.
    pub(crate) swept: Arc<AtomicU64>,
    pub(crate) disk: Option<Arc<Disk>>,
    pub(crate) open: Arc<OpenConnections>,
    /// Of each core.
    pub(crate) connections: Vec<Arc<ConnectionCounters>>,
    pub(crate) running: Arc<Mutex<Arc<Running>>>,
}

impl Owners {
    /// All, in the order in which they are shown; `own` is what `telemetry` itself counts of purges and errands.
    pub(crate) fn families(&self, own: Vec<Family>) -> Vec<Family> {
        let running = current(&self.running);
        [
            cache::families(&self.store, &self.swept),
            self.disk.as_deref().map(tiers::of_disk).unwrap_or_default(),
            self.store.shared_figures().map(tiers::of_shared).unwrap_or_default(),
            vec![connections::open(&self.open)],
            own,
            vec![connections::events(&self.connections), sources::family(&running)],
            redis::families(&running),
            databases::families(&running),
            modules::families(&running),
            compose::families(&running),
            policies::families(&running),
            auth::families(&running),
        ]
        .concat()
    }
}

/// What is shown, still without values, and how one's value is read.
type Row<T, V> = (Family, fn(&T) -> V);

/// Families of which each of `all` has a value under its name, or none: `None`. Without anybody to have one, there are no
/// families.
fn of_each<T, V: Into<Option<u64>>, const ROWS: usize>(
    label: &'static str,
    all: &[(&str, T)],
    rows: [Row<T, V>; ROWS],
) -> Vec<Family> {
    if all.is_empty() {
        return Vec::new();
    }
    let values =
        |read: fn(&T) -> V| all.iter().filter_map(move |(name, of)| Some(([*name], read(of).into()?)));
    rows.into_iter().map(|(family, read)| family.by([label], values(read))).collect()
}
