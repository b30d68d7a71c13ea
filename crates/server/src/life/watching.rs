//! Watching: what requests are answered with, and let in by, looked after in the background: each Redis that needs it, each
//! store's file, each token, each provider's keys,
//! each limit that is shared.
//! Called by `control`.

use std::sync::Arc;

use policy::{JointLimit, RemoteKeys, Tokens};
use redis_link::Link;
use source::{SharedRedis, SharedStore, Source};
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
    for (_, _, tokens) in running.remedies.tokens() {
        tasks.push(spawn_local(policy::renew(Arc::clone(tokens))).abort_handle());
    }
    for (_, joint, redis) in running.shared_limits() {
        let link = Link::new(Arc::clone(redis));
        tasks.push(spawn_local(policy::heartbeat(Arc::clone(joint), link)).abort_handle());
    }
    for keys in running.auths.iter().filter_map(|(_, auth)| auth.remote()).cloned() {
        tasks.push(spawn_local(keys.keep()).abort_handle());
    }
}

/// Reads a store's file whenever it changes; and now, since it may have changed while nobody watched.
async fn watch(store: Arc<SharedStore>) {
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
pub(crate) fn missing(redis: &SharedRedis) -> Result<(), String> {
    let figures = redis.figures();
    if figures.is_up { Ok(()) } else { Err("Redis does not answer".to_owned()) }
}

/// What keeps calls from carrying a token. What needs none is served all the same.
pub(crate) fn no_token(tokens: &Tokens) -> Result<(), String> {
    if tokens.good_for().is_zero() { Err("there is no token".to_owned()) } else { Ok(()) }
}

/// What keeps instances from counting a limit together. Nobody is refused because of it, unless the config says so.
pub(crate) fn not_shared(joint: &JointLimit) -> Result<(), String> {
    if joint.is_together() {
        return Ok(());
    }
    let does = match joint.plan().when_gone {
        plan::WhenGone::Local => "this instance keeps to its part of the limit",
        plan::WhenGone::Refuse => "calls are refused",
        plan::WhenGone::Allow => "calls pass uncounted",
    };
    Err(format!("Redis does not count: {does}"))
}

/// What keeps tokens from being checked. What needs none is served all the same.
pub(crate) fn no_keys(keys: &RemoteKeys) -> Result<(), String> {
    if keys.figures().keys > 0 { Ok(()) } else { Err("there are no keys to check tokens with".to_owned()) }
}
