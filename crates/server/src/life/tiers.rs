//! Tiers: what lies behind the memory: a folder, and a Redis that instances share. Opened at the start; the folder is closed
//! after the drain. Called by `control`.

use std::sync::Arc;
use std::time::Duration;

use cache::{SharedFigures, Store, Tiers};
use disk::Disk;
use plan::Plan;

use crate::configuration::StartError;

/// How long what is still to be written may take at the end.
const CLOSING: Duration = Duration::from_secs(10);

/// How long it may take at the end to tell the others.
const LEAVING: Duration = Duration::from_secs(1);

/// The store of a plan, and its tiers.
pub(crate) fn open(plan: &Plan) -> Result<(Arc<Store>, Tiers), StartError> {
    let tiers = Tiers { disk: plan.disk.as_ref().map(open_disk).transpose()?, redis: redis(plan)? };
    let store = Store::with_tiers(plan.memory, tiers.clone())
        .map_err(|error| StartError::System("the thread of the shared tier cannot be started", error))?;
    Ok((store, tiers))
}

fn open_disk(tier: &plan::Disk) -> Result<Arc<Disk>, StartError> {
    let disk = Arc::new(Disk::open(&tier.folder, tier.bytes).map_err(StartError::Disk)?);
    let figures = disk.figures();
    tracing::info!("{} answers on disk, {} bytes of {}", figures.records, figures.bytes, figures.capacity);
    Ok(disk)
}

/// Whether Redis is there is not asked: answers come from memory and origin as long as it is not.
fn redis(plan: &Plan) -> Result<Option<Arc<redis_link::SharedLink>>, StartError> {
    let redis = plan.shared_tier().map(|tier| redis_link::SharedLink::new(Arc::clone(tier)));
    redis.transpose().map_err(StartError::Prepare)
}

/// What keeps the shared tier from being used; nobody is refused because of it.
pub(crate) fn missing(store: &Store) -> Result<(), String> {
    match store.shared_figures() {
        Some(figures) if !figures.up => {
            Err(format!("Redis does not answer: answers come from memory and origin{}", untold(&figures)))
        }
        Some(figures) if !figures.hears => Err(format!(
            "purges of other instances are not heard: answers come from memory and origin{}",
            untold(&figures)
        )),
        Some(SharedFigures { refused: Some(why), untold, .. }) => Err(format!(
            "Redis does not take what this instance purges ({untold} wait), so the others do not hear of it: {why}"
        )),
        Some(SharedFigures { missing: 1.., .. }) => Err(
            "an instance has fallen silent: what it purges is not known here, so everything is made stale as often as \
             `unheard` says"
                .to_owned(),
        ),
        Some(_) | None => Ok(()),
    }
}

/// What is wrong with the disk tier; nobody is refused because of it.
pub(crate) fn disk_trouble(disk: &Disk) -> Result<(), String> {
    disk.trouble().map_or(Ok(()), Err)
}

fn untold(figures: &SharedFigures) -> String {
    if figures.untold == 0 { String::new() } else { format!("; {} purges wait to be told", figures.untold) }
}

/// Tells the other instances that this one is leaving.
pub(crate) async fn leave(store: &Store) {
    if !store.leave(LEAVING).await {
        tracing::warn!(
            "the other instances could not be told that this one leaves: they will doubt what they hold"
        );
    }
}

/// Writes what waits.
pub(crate) fn close(disk: &Disk) {
    if !disk.close(CLOSING) {
        tracing::warn!("some answers were not written to disk in time");
    }
}
