//! What the stories of this folder begin with: a Redis, and a fleetfoot whose routes read it.

use std::time::{Duration, Instant};

use testkit::{Fleetfoot, Metrics, RedisServer};

/// A configuration with one source, `redis`, of which `source` says what stands there besides its place, and these
/// routes.
pub(crate) fn config(redis: &RedisServer, source: &str, routes: &[&str]) -> String {
    // Longer than what a busy machine may take, where no story is about that.
    let timeout = if source.contains("timeout:") { "" } else { "timeout: 1s, " };
    let source = format!("{{ redis: \"{}\", public: true, {timeout}{source} }}", redis.url());
    of_source(&source, routes)
}

/// The same with the whole source.
pub(crate) fn of_source(source: &str, routes: &[&str]) -> String {
    let routes: Vec<_> = routes.iter().map(|route| format!("  - {{ {route} }}\n")).collect();
    format!(
        "listen: {{ http: 127.0.0.1:0, admin: 127.0.0.1:0 }}\ncores: 1\nsources:\n  redis: {source}\nroutes:\n{}",
        routes.concat()
    )
}

/// A route that gives what stands under any key.
pub(crate) const GET: &str = r#"match: "GET /get/{key}", read: { redis: "GET ${path.key}", as: text }"#;

/// A Redis and a fleetfoot that reads it.
pub(crate) fn reading(source: &str, routes: &[&str]) -> (RedisServer, Fleetfoot) {
    let redis = RedisServer::start();
    let fleetfoot = Fleetfoot::start(&config(&redis, source, routes));
    (redis, fleetfoot)
}

/// Has Redis do this, which it must.
pub(crate) fn tell(redis: &RedisServer, command: &[&str]) {
    drop(redis.command(command).or_panic());
}

/// Comes back when Redis tells what changes.
pub(crate) fn until_it_tells(fleetfoot: &mut Fleetfoot) {
    fleetfoot.wait_for_metrics("tracking", tracks);
}

/// How often a configuration has taken effect.
pub(crate) fn loads(fleetfoot: &Fleetfoot) -> u64 {
    figure(&fleetfoot.metrics(), "fleetfoot_config_loads_total", &["result=\"success\""])
}

/// Changes the configuration, and waits until it has taken effect.
pub(crate) fn reload(fleetfoot: &mut Fleetfoot, config: &str) {
    let before = loads(fleetfoot);
    fleetfoot.rewrite(config);
    fleetfoot.wait_until("reloaded", |fleetfoot| loads(fleetfoot) > before);
}

/// Whether Redis tells what changes.
pub(crate) fn tracks(metrics: &Metrics) -> bool {
    figure(metrics, "fleetfoot_redis_tracking", &[]) == 1
}

/// A figure that is a whole number.
pub(crate) fn figure(metrics: &Metrics, name: &str, labels: &[&str]) -> u64 {
    metrics.sum(name, labels) as u64
}

/// How long it takes until a target has this text, which it must not lose again.
pub(crate) fn time_until(fleetfoot: &Fleetfoot, target: &str, text: &str) -> Duration {
    let begun = Instant::now();
    loop {
        let answer = fleetfoot.get(target);
        if answer.text() == text {
            return begun.elapsed();
        }
        assert!(begun.elapsed() < Duration::from_secs(10), "{target} never became {text}: {answer:?}");
    }
}

/// Reads a target until it is held, which it is with the second answer.
pub(crate) fn hold(fleetfoot: &mut Fleetfoot, target: &str) {
    fleetfoot.wait_until("held", |fleetfoot| fleetfoot.get(target).is_hit());
}
