//! Watching: what reads are answered from, looked after in the background: each Redis that needs it, each store's file.
//! And how they are doing, for whoever asks. Called by `control`.

use std::sync::Arc;

use source::{Redis, Source, Store};
use telemetry::RedisFigures;
use tokio::task::{AbortHandle, spawn_local};

use crate::life::watch::Watch;
use crate::walk::running::Running;

/// Starts whatever a plan needs that does not run yet. What `tasks` holds ends with the plan.
pub(crate) fn start(running: &Running, tasks: &mut Vec<AbortHandle>) {
    for redis in running.redis_read() {
        if let Err(error) = redis.watch() {
            tracing::error!("source {}: {error}", redis.plan().name);
        }
    }
    for store in running.sources.iter().filter_map(Source::store).cloned() {
        tasks.push(spawn_local(watch(store)).abort_handle());
    }
}

/// Reads a store's file whenever it changes; and now, since it may have changed while nobody watched.
async fn watch(store: Arc<Store>) {
    let name = &store.plan().name;
    let mut watch = Watch::new(&store.plan().file)
        .inspect_err(|error| tracing::warn!("source {name}: the file is not watched, use SIGHUP: {error}"))
        .ok();
    loop {
        let reading = Arc::clone(&store);
        match tokio::task::spawn_blocking(move || reading.read_again()).await {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(keys))) => tracing::info!("source {name}: read again, keys: {keys}"),
            Ok(Err(error)) => tracing::error!("source {name}: everything stays as it was: {error}"),
            Err(error) => tracing::error!("source {name}: reading it failed: {error}"),
        }
        match &mut watch {
            Some(watch) => watch.changed().await,
            None => return,
        }
    }
}

/// What keeps a Redis from being read. Nobody is refused because of it: it is the same for all instances, and taking them
/// all out would leave nobody to give what is remembered, or what does not come from there.
pub(crate) fn missing(redis: &Redis) -> Result<(), String> {
    let figures = redis.figures();
    if figures.is_up { Ok(()) } else { Err("Redis does not answer".to_owned()) }
}

/// Figures of each Redis that is read from.
pub(crate) fn figures(running: &Running) -> Vec<RedisFigures> {
    let of = |redis: &Arc<Redis>| {
        let figures = redis.figures();
        let replica = figures.replica.unwrap_or_default();
        let tracked = figures.tracked.unwrap_or_default();
        let (entries, bytes) = figures.remembered.unwrap_or_default();
        RedisFigures {
            source: redis.plan().name.clone(),
            up: figures.is_up,
            commands: figures.primary.commands + replica.commands,
            failures: figures.primary.failures + replica.failures,
            refused: figures.primary.refused + replica.refused,
            denied: figures.primary.denied + replica.denied,
            held: tracked.entries + entries,
            held_bytes: tracked.bytes + bytes,
            replica_in_step: figures.in_step,
            tracked: figures.tracked.map(|tracked| telemetry::TrackedFigures {
                live: figures.is_live,
                lives: tracked.lives,
                invalidations: tracked.invalidated,
                flushes: tracked.flushes,
                outdated: tracked.outdated,
                evicted: tracked.evicted,
            }),
        }
    };
    running.redis_read().map(of).collect()
}
