//! A purge at one instance is a purge at all: within a tenth of a second, also of what is on its way, and also for who
//! could not hear of it at once.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Fleetfoot, Gate, Origin, RedisServer, Script, SlowLink, ok, wait_until};

use super::instances::{config, counting, joined, two, until_it_hears, until_written};
use crate::control_port::port::{purge, visit};

/// Longer than it takes, even on a busy machine; what is promised is a tenth of a second.
const PROMISED: Duration = Duration::from_millis(100);

pub(crate) fn doubts(fleetfoot: &Fleetfoot) -> u64 {
    fleetfoot.metrics().count("fleetfoot_cache_doubts_total")
}

#[test]
fn each_scope_is_forgotten_everywhere_within_a_tenth_of_a_second() {
    let origin = counting("Cache-Tag: t");
    let (_redis, mut one, other) = two(&origin, "");
    let scopes: [Value; 6] = [
        json!({ "url": "http://example.test/x/0?q=1" }),
        json!({ "url": "http://example.test/x/1?q=1", "exact": true }),
        json!({ "prefix": "/x/2" }),
        json!({ "host": "example.test" }),
        json!({ "tag": "t" }),
        json!({ "everything": true }),
    ];
    let mut took = Vec::new();
    for (number, scope) in scopes.iter().enumerate() {
        let target = format!("/x/{number}?q=1");
        one.get(&target);
        until_written(&mut one, number as u64 + 1);
        assert!(other.get(&target).is_hit(), "{scope}: it has to be there first");
        let told = purge(&one, scope);
        assert_eq!(told["other_instances"], "told");
        let since = Instant::now();
        wait_until("forgotten", || !other.get(&target).is_hit());
        took.push(since.elapsed());
        assert_eq!(one.get(&target).text(), format!("{target} 2"), "{scope}");
        until_written(&mut one, number as u64 + 1);
    }
    took.sort();
    assert!(took[took.len() / 2] < PROMISED, "{took:?}");
}

#[test]
fn what_was_stored_before_is_not_used_by_who_starts_afterwards() {
    let origin = counting("");
    let (redis, mut one, _other) = two(&origin, "");
    one.get("/a");
    one.get("/b");
    until_written(&mut one, 2);
    purge(&one, &json!({ "url": "http://example.test/a" }));
    let late = joined(&origin, &format!("redis: {}", redis.url()), "");
    assert_eq!(late.get("/a").text(), "/a 2");
    assert_eq!(late.get("/b").text(), "/b 1");
}

#[test]
fn what_is_stored_afterwards_is_used_by_all() {
    let origin = counting("");
    let (_redis, mut one, other) = two(&origin, "");
    one.get("/");
    until_written(&mut one, 1);
    other.get("/");
    purge(&one, &json!({ "everything": true }));
    wait_until("forgotten", || other.metrics().count("fleetfoot_purges_heard_total") == 1);
    // Heard by the one itself as well, so that what it stores says that it comes after.
    assert_eq!(one.get("/").text(), "/ 2");
    until_written(&mut one, 2);
    let answer = other.get("/");
    assert_eq!(answer.text(), "/ 2");
    assert!(answer.is_hit(), "{:?}", answer.head);
}

#[test]
fn what_is_on_its_way_is_forgotten_too() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("/").replies([Script::new().wait(&gate).then(ok("", "old")), ok("", "new"), ok("", "newer")]);
    let (_redis, one, other) = two(&origin, "coalesce: false");
    let mut asking = other.connect();
    asking.send("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n");
    origin.wait_for(1, "GET /");
    purge(&one, &json!({ "url": "http://example.test/" }));
    wait_until("heard", || other.metrics().count("fleetfoot_purges_heard_total") == 1);
    gate.open();
    assert_eq!(asking.read_answer().text(), "old", "it was asked for before");
    assert_eq!(other.get("/").text(), "new");
    assert!(one.get("/").text().starts_with("new"));
}

#[test]
fn a_soft_purge_makes_it_stale_everywhere() {
    let origin = counting("");
    let (_redis, mut one, other) = two(&origin, "stale: 1m");
    one.get("/");
    until_written(&mut one, 1);
    other.get("/");
    purge(&one, &json!({ "url": "http://example.test/", "soft": true }));
    wait_until("fetched anew", || other.get("/").text() == "/ 2");
    wait_until("and here", || one.get("/").text() == "/ 2");
    assert_eq!(origin.count("GET /"), 2, "one of them asked, for both");
}

#[test]
fn a_write_at_one_is_seen_at_all() {
    let origin = counting("Cache-Tag: list");
    origin.on("PUT /games/7").reply(ok("", "written"));
    let redis = RedisServer::start();
    let source = format!("redis: {}", redis.url());
    let with_rule = config(&origin, &source, "").replace(
        "routes: [",
        "routes: [{ match: \"PUT /games/{id}\", proxy: api, invalidate: [{ tag: list }, { url: \"/games/${path.id}/score\" }] }, ",
    );
    let mut instances = [Fleetfoot::start(&with_rule), Fleetfoot::start(&with_rule)];
    instances.iter_mut().for_each(until_it_hears);
    let [one, other] = &mut instances;
    for target in ["/games", "/games/7", "/games/7/score"] {
        one.get(target);
    }
    until_written(one, 3);
    for target in ["/games", "/games/7", "/games/7/score"] {
        assert!(other.get(target).is_hit());
    }
    assert_eq!(visit(other, "http://example.test/games", "").status, 200);
    assert_eq!(other.send("PUT", "/games/7", "Content-Length: 0").status, 200);
    for target in ["/games", "/games/7", "/games/7/score"] {
        assert_eq!(other.get(target).text(), format!("{target} 2"), "who wrote reads what was written");
        wait_until("seen here", || one.get(target).text() != format!("{target} 1"));
    }
}

/// An instance that reaches Redis over a line that can be cut, and one that always does.
pub(crate) fn with_a_line(origin: &Origin, tier: &str) -> (RedisServer, SlowLink, Fleetfoot, Fleetfoot) {
    let redis = RedisServer::start();
    let line = SlowLink::to(redis.port());
    let here = joined(origin, &format!("redis: {}", redis.url()), "stale: 1m");
    let there =
        joined(origin, &format!("redis: redis://{}, tier: {{ {tier} }}", line.address()), "stale: 1m");
    (redis, line, here, there)
}

#[test]
fn who_was_cut_off_learns_what_it_missed_and_nothing_else_is_lost() {
    let origin = counting("");
    let (_redis, line, mut here, mut there) = with_a_line(&origin, "");
    for target in ["/a", "/b"] {
        here.get(target);
    }
    until_written(&mut here, 2);
    for target in ["/a", "/b"] {
        there.get(target);
    }
    line.cut();
    there.wait_for_metrics("being cut off", |metrics| metrics.count("fleetfoot_shared_hears") == 0);
    purge(&here, &json!({ "url": "http://example.test/a" }));
    assert!(there.get("/a").is_hit(), "nobody could tell it yet");
    line.restore();
    until_it_hears(&mut there);
    assert_eq!(there.get("/a").text(), "/a 2");
    assert_eq!(there.get("/b").text(), "/b 1");
    assert_eq!(doubts(&there), 0);
}

#[test]
fn a_purge_at_who_is_cut_off_is_told_later() {
    let origin = counting("");
    let (_redis, line, mut here, mut there) = with_a_line(&origin, "");
    here.get("/");
    until_written(&mut here, 1);
    there.get("/");
    line.cut();
    there.wait_for_metrics("being cut off", |metrics| metrics.count("fleetfoot_shared_hears") == 0);
    let told = purge(&there, &json!({ "url": "http://example.test/" }));
    assert_eq!(told["in_force"], true);
    let others = told["other_instances"].as_str().unwrap();
    assert!(others.starts_with("not told yet: source shared: "), "{others}");
    assert_eq!(there.get("/").text(), "/ 2");
    assert_eq!(here.get("/").text(), "/ 1");
    line.restore();
    wait_until("told", || here.get("/").text() != "/ 1");
}

#[test]
fn who_is_cut_off_for_long_asks_the_origin_again() {
    let origin = counting("");
    let (_redis, line, _here, there) = with_a_line(&origin, "unheard: 300ms");
    assert_eq!(there.get("/").text(), "/ 1");
    line.freeze();
    wait_until("asked again", || there.get("/").text() != "/ 1");
    assert!(doubts(&there) >= 1);
}

/// What was purged is gone with the stream, so that nobody can say what it was.
#[test]
fn where_redis_was_emptied_everything_is_asked_for_again() {
    let origin = counting("");
    let (redis, mut one, other) = two(&origin, "stale: 1m");
    one.get("/");
    until_written(&mut one, 1);
    assert!(other.get("/").is_hit());
    redis.flush_all();
    wait_until("asked again", || other.get("/").text() == "/ 2");
    wait_until("and here", || one.get("/").text() == "/ 2");
    assert!(doubts(&one) >= 1 && doubts(&other) >= 1);
    until_it_hears(&mut one);
    // And purges go on as before.
    purge(&one, &json!({ "everything": true }));
    wait_until("forgotten", || other.get("/").text() == "/ 3");
}

#[test]
fn a_redis_that_comes_back_empty_is_joined_anew() {
    let origin = counting("");
    let (redis, mut one, mut other) = two(&origin, "");
    one.get("/");
    until_written(&mut one, 1);
    redis.kill();
    for fleetfoot in [&mut one, &mut other] {
        fleetfoot.wait_for_metrics("missing it", |metrics| metrics.count("fleetfoot_shared_hears") == 0);
    }
    assert_eq!(one.get("/").text(), "/ 1");
    redis.restart();
    until_it_hears(&mut one);
    until_it_hears(&mut other);
    one.get("/new");
    until_written(&mut one, 2);
    wait_until("shared again", || other.get("/new").text() == "/new 1");
    purge(&other, &json!({ "url": "http://example.test/new" }));
    wait_until("forgotten", || one.get("/new").text() == "/new 2");
}

#[test]
fn many_purges_at_once_all_arrive() {
    let origin = counting("");
    let (_redis, one, other) = two(&origin, "");
    for number in 0..200 {
        purge(&one, &json!({ "tag": format!("t{number}") }));
    }
    wait_until("heard", || other.metrics().count("fleetfoot_purges_heard_total") == 200);
    assert_eq!(one.metrics().count("fleetfoot_purges_heard_total"), 0, "its own are none of the others'");
    assert_eq!(one.metrics().count("fleetfoot_purges_told_total"), 200);
}
