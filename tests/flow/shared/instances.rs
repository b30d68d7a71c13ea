//! What the stories of this folder begin with: instances with one Redis and one origin.

use std::sync::Mutex;

use testkit::{Fleetfoot, Origin, RedisServer, ok};

/// A configuration of an instance: where Redis is, as `redis: …` and whatever else stands in the source; words of the
/// policy besides.
pub(crate) fn config(origin: &Origin, redis: &str, cache: &str) -> String {
    format!(
        "listen: {{ http: 127.0.0.1:0, admin: 127.0.0.1:0 }}\ncores: 1\nmemory: 64MiB\n\
         sources:\n  api: http://{}\n  shared: {{ {redis} }}\n\
         policies: {{ public: {{ cache: {{ ttl: 10m, tier: shared, {cache} }} }} }}\n\
         routes: [{{ match: /**, proxy: api, use: public }}]\n",
        origin.address()
    )
}

/// An instance that has joined the others.
pub(crate) fn joined(origin: &Origin, redis: &str, cache: &str) -> Fleetfoot {
    let mut fleetfoot = Fleetfoot::start(&config(origin, redis, cache));
    until_it_hears(&mut fleetfoot);
    fleetfoot
}

/// Waits until it hears of the purges of others, and so may use what they stored.
pub(crate) fn until_it_hears(fleetfoot: &mut Fleetfoot) {
    fleetfoot.wait_for_metrics("hearing", |metrics| metrics.count("fleetfoot_shared_hears") == 1);
}

/// Two instances with a plain Redis, its server first.
pub(crate) fn two(origin: &Origin, cache: &str) -> (RedisServer, Fleetfoot, Fleetfoot) {
    let redis = RedisServer::start();
    let source = format!("redis: {}", redis.url());
    let (one, other) = (joined(origin, &source, cache), joined(origin, &source, cache));
    (redis, one, other)
}

/// Comes back when Redis has what this instance has stored so far.
pub(crate) fn until_written(fleetfoot: &mut Fleetfoot, answers: u64) {
    fleetfoot.wait_for_metrics("writing", |metrics| {
        metrics.count("fleetfoot_shared_writes_total") + metrics.count("fleetfoot_shared_dropped_total")
            >= answers
    });
}

/// Answers with the number of the request for its target.
pub(crate) fn counting(fields: &'static str) -> Origin {
    let origin = Origin::start();
    let asked = Mutex::new(std::collections::HashMap::<String, u64>::new());
    origin.on("*").answer(move |request| {
        let mut asked = asked.lock().expect("no answer panics");
        let count = asked.entry(request.target.clone()).or_default();
        *count += 1;
        ok(fields, format!("{} {count}", request.target))
    });
    origin
}
