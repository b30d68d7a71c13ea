//! A Redis that is slow, silent, emptied, restarted or not there at all: no request fails, none takes long, and nothing
//! is older than was promised.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use testkit::{Fleetfoot, Origin, RedisServer, SlowLink, ok};

use super::instances::{config, joined, until_it_hears};
use crate::control_port::port::get;
use crate::load::{Load, TARGETS, TROUBLES, Trouble, meanwhile, telling_the_time};

/// Answers are fresh for a second and stale for one more.
const OLDEST: Duration = Duration::from_millis(3500);

const SHORT_LIVED: &str = "ttl: 1s, stale: 1s, tier: shared";

fn short_lived(origin: &Origin, redis: &str) -> String {
    config(origin, redis, "").replace("ttl: 10m, tier: shared,", SHORT_LIVED)
}

#[test]
fn trouble_in_the_middle_of_load_fails_no_request() {
    const MORE: [Trouble; 3] = [
        ("killed and restarted", |redis, _| {
            redis.kill();
            meanwhile(700);
            redis.restart();
        }),
        ("emptied", |redis, _| redis.flush_all()),
        ("too far away", |_, line| {
            line.set_delay(Duration::from_millis(300));
            meanwhile(700);
            line.set_delay(Duration::ZERO);
        }),
    ];
    let begun = Instant::now();
    let origin = telling_the_time(begun, "");
    let redis = RedisServer::start();
    let line = SlowLink::to(redis.port());
    let source = format!("redis: redis://{}", line.address());
    let mut instances = [0; 2].map(|_| Fleetfoot::start(&short_lived(&origin, &source)));
    for (what, trouble) in TROUBLES.into_iter().chain(MORE) {
        instances.iter_mut().for_each(until_it_hears);
        let load = Load::on(&[&instances[0], &instances[1]], begun);
        meanwhile(300);
        trouble(&redis, &line);
        meanwhile(500);
        load.stop().is_fine(what, OLDEST);
        // It recovers by itself.
        instances.iter_mut().for_each(until_it_hears);
        let up = |fleetfoot: &mut Fleetfoot| {
            let shared = |metrics: &testkit::Metrics| metrics.count("fleetfoot_shared_hits_total");
            let before = shared(&fleetfoot.metrics());
            fleetfoot.wait_until("using it again", |fleetfoot| {
                (0..TARGETS).for_each(|target| drop(fleetfoot.get(&format!("/{target}"))));
                shared(&fleetfoot.metrics()) > before
            });
        };
        let [one, other] = &mut instances;
        let load = Load::on(&[one], begun);
        up(other);
        load.stop();
    }
}

#[test]
fn without_a_redis_it_starts_and_serves_and_says_so() {
    let begun = Instant::now();
    let origin = telling_the_time(begun, "");
    let redis = RedisServer::start();
    redis.kill();
    let mut fleetfoot = Fleetfoot::start(&short_lived(&origin, &format!("redis: {}", redis.url())));
    let load = Load::on(&[&fleetfoot], begun);
    meanwhile(700);
    load.stop().is_fine("never there", OLDEST);
    let ready = get(&fleetfoot, "/readyz");
    assert_eq!(ready["ready"], true);
    assert_eq!(ready["degraded"][0]["check"], "tier shared");
    assert!(
        ready["degraded"][0]["missing"].as_str().unwrap().contains("answers come from memory and origin")
    );
    redis.restart();
    until_it_hears(&mut fleetfoot);
    assert!(get(&fleetfoot, "/readyz")["degraded"].is_null());
}

#[test]
fn while_it_is_silent_a_miss_costs_next_to_nothing_more() {
    let begun = Instant::now();
    let origin = telling_the_time(begun, "");
    let redis = RedisServer::start();
    let mut fleetfoot = joined(&origin, &format!("redis: {}", redis.url()), "");
    redis.pause();
    fleetfoot.wait_for_metrics("noticing", |metrics| metrics.count("fleetfoot_shared_hears") == 0);
    let asked = Instant::now();
    for number in 0..50 {
        assert_eq!(fleetfoot.get(&format!("/new/{number}")).status, 200);
    }
    let took = asked.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?} for 50 misses");
    redis.resume();
    until_it_hears(&mut fleetfoot);
}

/// The bound of what waits to be written holds, and what is over it is counted.
#[test]
fn what_cannot_be_written_is_dropped_and_counted() {
    let origin = Origin::start();
    let count = Mutex::new(0);
    origin.on("*").answer(move |_| {
        *count.lock().expect("no answer panics") += 1;
        ok("", "x".repeat(500_000))
    });
    let redis = RedisServer::start();
    let mut fleetfoot = joined(&origin, &format!("redis: {}", redis.url()), "");
    redis.pause();
    fleetfoot.wait_for_metrics("noticing", |metrics| {
        metrics.count("fleetfoot_shared_up") == 0 || { metrics.count("fleetfoot_shared_hears") == 0 }
    });
    for number in 0..40 {
        assert_eq!(fleetfoot.get(&format!("/{number}")).status, 200);
    }
    fleetfoot.wait_for_metrics("dropping", |metrics| metrics.count("fleetfoot_shared_dropped_total") > 0);
    redis.resume();
    until_it_hears(&mut fleetfoot);
}
