//! One fill across instances: one of them asks the origin, the others wait for its answer or serve what is stale; and
//! whoever dies meanwhile delays nobody for long.

use std::time::{Duration, Instant};

use testkit::{Fleetfoot, Gate, Origin, RawClient, RedisServer, Script, SlowLink, ok, wait_until};

use super::instances::{joined, two};

const ASK: &str = "GET / HTTP/1.1\r\nHost: example.test\r\n\r\n";

fn asking(fleetfoot: &Fleetfoot) -> RawClient {
    let mut client = fleetfoot.connect();
    client.send(ASK);
    client
}

fn three(origin: &Origin, tier: &str, cache: &str) -> (RedisServer, [Fleetfoot; 3]) {
    let redis = RedisServer::start();
    let source = format!("redis: {}, tier: {{ {tier} }}", redis.url());
    let instances = [0; 3].map(|_| joined(origin, &source, cache));
    (redis, instances)
}

#[test]
fn a_stampede_on_all_instances_costs_the_origin_one_request() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("/").reply(Script::new().wait(&gate).then(ok("", "x".repeat(1000))));
    let (_redis, instances) = three(&origin, "", "");
    let mut clients: Vec<RawClient> = instances.iter().flat_map(|one| (0..20).map(|_| asking(one))).collect();
    origin.wait_for(1, "GET /");
    gate.open();
    for client in &mut clients {
        let answer = client.read_answer();
        assert_eq!((answer.status, answer.body.len()), (200, 1000));
    }
    assert_eq!(origin.count("GET /"), 1);
    let waited: u64 = instances.iter().map(|one| one.metrics().count("fleetfoot_shared_waited_total")).sum();
    assert!(waited <= 2, "{waited}: one of each instance waits for the others' answer");
}

#[test]
fn who_waited_says_that_it_was_shared() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("/").reply(Script::new().wait(&gate).then(ok("", "x")));
    let (_redis, one, other) = two(&origin, "");
    let mut first = asking(&one);
    origin.wait_for(1, "GET /");
    let mut second = asking(&other);
    wait_until("waiting", || other.metrics().count("fleetfoot_fills_in_progress") == 1);
    gate.open();
    assert_eq!(first.read_answer().text(), "x");
    let answer = second.read_answer();
    assert_eq!(answer.text(), "x");
    assert!(answer.is_hit(), "{:?}", answer.head);
    assert_eq!(origin.count("GET /"), 1);
}

#[test]
fn a_dead_leader_delays_the_others_for_the_time_of_its_lock_and_no_longer() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("/").replies([Script::new().wait(&gate).then(ok("", "never")), ok("", "second")]);
    let (_redis, [one, other, third]) = three(&origin, "lock: 1s", "");
    let _lost = asking(&one);
    origin.wait_for(1, "GET /");
    let begun = Instant::now();
    drop(one);
    assert_eq!(other.get("/").text(), "second");
    let took = begun.elapsed();
    assert!(took < Duration::from_millis(2500), "{took:?}");
    // On a busy machine that may take longer than the lock lasts.
    wait_until("stored", || other.metrics().count("fleetfoot_shared_writes_total") == 1);
    assert_eq!(third.get("/").text(), "second");
    assert_eq!(origin.count("GET /"), 2);
    gate.open();
}

#[test]
fn an_origin_slower_than_the_lock_is_asked_by_who_waited() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("/").replies([Script::new().wait(&gate).then(ok("", "first")), ok("", "second")]);
    let (_redis, [one, other, third]) = three(&origin, "lock: 300ms", "");
    let mut slow = asking(&one);
    origin.wait_for(1, "GET /");
    assert_eq!(other.get("/").text(), "second");
    wait_until("stored", || other.metrics().count("fleetfoot_shared_writes_total") == 1);
    gate.open();
    assert_eq!(slow.read_answer().text(), "first", "its client gets what was fetched for it");
    wait_until("refused", || one.metrics().count("fleetfoot_shared_dropped_total") == 1);
    assert_eq!(third.get("/").text(), "second", "what was fetched earlier does not replace it");
}

const EACH: Duration = Duration::from_millis(400);

#[test]
fn answers_that_are_not_for_sharing_are_fetched_side_by_side() {
    let origin = Origin::start();
    origin.on("/").reply(Script::new().pause(EACH).then(ok("Cache-Control: private", "mine")));
    let (_redis, instances) = three(&origin, "lock: 10s", "");
    // The first answer tells that they are not for sharing; whoever waited for it asks at once, all together.
    let begun = Instant::now();
    let mut clients: Vec<_> = instances.iter().map(asking).collect();
    for client in &mut clients {
        assert_eq!(client.read_answer().text(), "mine");
    }
    let took = begun.elapsed();
    assert!(took < EACH * 3, "{took:?}");
}

#[test]
fn a_failed_fetch_gives_the_lock_back_at_once() {
    let origin = Origin::start();
    origin.on("/").replies([Script::new().pause(Duration::from_millis(200)).reset(), ok("", "good")]);
    let (_redis, [one, other, _third]) = three(&origin, "lock: 10s", "");
    let begun = Instant::now();
    let mut failing = asking(&one);
    origin.wait_for(1, "GET /");
    let mut waiting = asking(&other);
    let failed = failing.read_answer().status;
    assert!(failed == 502 || failed == 200, "{failed}: a GET may be tried once more");
    assert_eq!(waiting.read_answer().status, 200);
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[test]
fn what_is_stale_is_served_while_one_of_them_refreshes_it() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("/").replies([
        ok("Cache-Control: max-age=10\nAge: 20", "old"),
        Script::new().wait(&gate).then(ok("Cache-Control: max-age=100", "new")),
    ]);
    let (_redis, [one, other, third]) = three(&origin, "", "stale: 1h");
    assert_eq!(one.get("/").text(), "old");
    wait_until("stored", || one.metrics().count("fleetfoot_shared_writes_total") == 1);
    for fleetfoot in [&one, &other, &third] {
        for _ in 0..3 {
            assert_eq!(fleetfoot.get("/").text(), "old");
        }
    }
    origin.wait_for(2, "GET /");
    gate.open();
    for fleetfoot in [&one, &other, &third] {
        wait_until("refreshed", || fleetfoot.get("/").text() == "new");
    }
    assert_eq!(origin.count("GET /"), 2);
}

/// A line that takes its time keeps the first waiting for what the other instance has, and the second joins it.
#[test]
fn who_wants_the_origin_asked_is_not_given_what_another_instance_had() {
    let origin = Origin::start();
    origin.on("/").replies([
        ok("Cache-Control: max-age=10\nAge: 20\nETag: \"1\"", "old"),
        ok("Cache-Control: max-age=100", "new"),
        ok("Cache-Control: max-age=100", "newest"),
    ]);
    let redis = RedisServer::start();
    let line = SlowLink::to(redis.port());
    let here = joined(&origin, &format!("redis: {}", redis.url()), "");
    let there = joined(&origin, &format!("redis: redis://{}, timeout: 5s", line.address()), "");
    assert_eq!(there.get("/").text(), "old");
    assert_eq!(here.get("/").text(), "new");
    wait_until("stored", || here.metrics().count("fleetfoot_shared_writes_total") == 1);
    line.set_delay(Duration::from_millis(300));
    let mut first = asking(&there);
    wait_until("waiting", || there.metrics().count("fleetfoot_fills_in_progress") == 1);
    assert_eq!(there.get_with("/", "Cache-Control: no-cache").text(), "newest");
    assert_eq!(first.read_answer().text(), "new");
}

#[test]
fn variants_are_filled_side_by_side() {
    let (origin, gate) = (Origin::start(), Gate::new());
    let held = gate.clone();
    origin.on("/").answer(move |request| {
        let language = request.field("Accept-Language").unwrap_or("none").to_owned();
        let answer = ok("Vary: Accept-Language", language.clone());
        if language == "de" { Script::new().wait(&held).then(answer) } else { answer }
    });
    let (_redis, [one, other, _third]) = three(&origin, "lock: 500ms", "");
    let mut german = one.connect();
    german.send("GET / HTTP/1.1\r\nHost: example.test\r\nAccept-Language: de\r\n\r\n");
    origin.wait_for(1, "GET /");
    let begun = Instant::now();
    assert_eq!(other.get_with("/", "Accept-Language: fr").text(), "fr");
    assert!(begun.elapsed() < Duration::from_secs(3));
    gate.open();
    assert_eq!(german.read_answer().text(), "de");
}
