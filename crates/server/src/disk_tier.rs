//! DiskTier: the folder behind the memory, opened at the start and closed after the drain. Called by `control`.

use std::sync::Arc;
use std::time::Duration;

use cache::Store;
use disk::{Disk, Figures};
use plan::Plan;
use telemetry::{Metrics, Reading};

use crate::configuration::StartError;

/// How long what is still to be written may take at the end.
const CLOSING: Duration = Duration::from_secs(10);

/// The store of a plan, with what a disk tier kept.
pub(crate) fn open(plan: &Plan) -> Result<(Arc<Store>, Option<Arc<Disk>>), StartError> {
    let Some(tier) = &plan.disk else { return Ok((Store::new(plan.memory), None)) };
    let disk = Arc::new(Disk::open(&tier.folder, tier.bytes).map_err(StartError::Disk)?);
    let figures = disk.figures();
    tracing::info!("{} answers on disk, {} bytes of {}", figures.records, figures.bytes, figures.capacity);
    Ok((Store::with_disk(plan.memory, Arc::clone(&disk)), Some(disk)))
}

/// Has its figures read whenever somebody asks.
pub(crate) fn tie(disk: &Arc<Disk>, metrics: &Metrics) {
    let tie = |reading, read: fn(&Figures) -> u64| {
        let disk = Arc::clone(disk);
        metrics.read_from(reading, move || read(&disk.figures()));
    };
    tie(Reading::DiskRecords, |figures| figures.records);
    tie(Reading::DiskBytes, |figures| figures.bytes);
    tie(Reading::DiskCapacity, |figures| figures.capacity);
    tie(Reading::DiskHits, |figures| figures.hits);
    tie(Reading::DiskMisses, |figures| figures.misses);
    tie(Reading::DiskWrites, |figures| figures.writes);
    tie(Reading::DiskDropped, |figures| figures.dropped);
    tie(Reading::DiskEvicted, |figures| figures.evicted);
    tie(Reading::DiskCorrupt, |figures| figures.corrupt);
    tie(Reading::DiskErrors, |figures| figures.errors);
}

/// Writes what waits.
pub(crate) fn close(disk: &Disk) {
    if !disk.close(CLOSING) {
        tracing::warn!("some answers were not written to disk in time");
    }
}
