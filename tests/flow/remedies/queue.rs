//! `queue`: what would be refused waits for its turn instead, wherever the policy stands; the better first, and nobody starves.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use testkit::{Fleetfoot, Gate, Origin, Script, ok, status, wait_until};

use super::support::{EVERYWHERE, everywhere, times, with_policy};
use crate::composing::support::config_with;
use crate::setup::each;

fn routed(origin: &Origin, policy: &str) -> Fleetfoot {
    with_policy(policy, &[&format!("api: \"{}\"", origin.url())], &["match: /**, proxy: api, use: p"])
}

#[test]
fn what_comes_too_often_waits_for_its_turn_wherever_the_policy_stands() {
    let origin = Origin::start();
    for (target, _) in EVERYWHERE {
        origin.on(target).reply(ok("", "1"));
    }
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let fleetfoot = everywhere(&origin, "limit: { rate: 20/s, burst: 1, queue: { wait: 10s } }");
        let began = Instant::now();
        for _ in 0..9 {
            assert_eq!(fleetfoot.get(target).status, 200);
        }
        let took = began.elapsed();
        assert!(took >= Duration::from_millis(8 * 50), "nine at 20 a second: {took:?}");
        assert_eq!((times(&fleetfoot, "limit", "queued"), times(&fleetfoot, "limit", "refused")), (8, 0));
    });
}

#[test]
fn what_waits_in_vain_is_refused_and_told_when_to_come_back() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("", "1"));
    let fleetfoot = routed(&origin, "limit: { rate: 1/h, queue: { wait: 50ms, size: 1 } }");
    assert_eq!(fleetfoot.get("/").status, 200);
    let late = fleetfoot.get("/");
    assert_eq!((late.status, late.field("Fleetfoot-Error")), (429, Some("rate-limited")));
    assert!(late.has("Retry-After"));
    assert_eq!(times(&fleetfoot, "limit", "late"), 1);
    assert_eq!(origin.count("GET /"), 1);
}

#[test]
fn a_full_queue_refuses_at_once_and_lets_the_better_in() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("GET /").reply(Script::new().wait(&gate).then(ok("", "1")));
    let fleetfoot = routed(
        &origin,
        "concurrency: { max: 1, queue: { wait: 1m, size: 1, priority: \"${header('X-Priority')}\" } }",
    );
    let waiting = || fleetfoot.metrics().count("fleetfoot_concurrency_waiting");
    thread::scope(|scope| {
        let first = scope.spawn(|| fleetfoot.get("/"));
        origin.wait_for(1, "GET /");
        let second = scope.spawn(|| fleetfoot.get("/"));
        wait_until("one waits", || waiting() == 1);
        let refused = fleetfoot.get("/");
        assert_eq!((refused.status, refused.field("Fleetfoot-Error")), (503, Some("overloaded")));
        let better = scope.spawn(|| fleetfoot.get_with("/", "X-Priority: 7\r\n"));
        assert_eq!(second.join().unwrap().status, 503, "it made room");
        gate.open();
        assert_eq!((first.join().unwrap().status, better.join().unwrap().status), (200, 200));
    });
}

#[test]
fn a_client_that_leaves_frees_its_place() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("GET /").reply(Script::new().wait(&gate).then(ok("", "1")));
    let fleetfoot = routed(&origin, "concurrency: { max: 1, queue: { wait: 1m, size: 1 } }");
    let waiting = || fleetfoot.metrics().count("fleetfoot_concurrency_waiting");
    thread::scope(|scope| {
        let first = scope.spawn(|| fleetfoot.get("/"));
        origin.wait_for(1, "GET /");
        let mut leaving = fleetfoot.connect();
        leaving.send("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n");
        wait_until("it waits", || waiting() == 1);
        drop(leaving);
        wait_until("it has gone", || waiting() == 0);
        let next = scope.spawn(|| fleetfoot.get("/"));
        wait_until("the next waits in its place", || waiting() == 1);
        gate.open();
        assert_eq!((first.join().unwrap().status, next.join().unwrap().status), (200, 200));
        assert_eq!(origin.count("GET /"), 2);
    });
}

/// They wait on, as they began; a place of today is not theirs.
#[test]
fn those_who_wait_are_told_of_after_a_reload_has_changed_the_rule() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("GET /").reply(Script::new().wait(&gate).then(ok("", "1")));
    origin.on("GET /new").reply(ok("", "1"));
    for (before, after, metric) in [
        ("limit: { rate: 1/m, queue: { wait: 5m } }", "limit: { rate: 1/h }", "fleetfoot_limit_waiting"),
        ("concurrency: { max: 1, queue: { wait: 5m } }", "concurrency: 2", "fleetfoot_concurrency_waiting"),
    ] {
        let config = |policy: &str, open: &str| {
            let top = format!("cores: 1\npolicies: {{ p: {{ {policy} }} }}");
            let routes = ["match: /, proxy: api, use: p", &format!("match: {open}, proxy: api")];
            config_with(&top, &[&format!("api: \"{}\"", origin.url())], &routes)
        };
        let mut fleetfoot = Fleetfoot::start(&config(before, "/old"));
        let ask = |fleetfoot: &Fleetfoot| {
            let mut client = fleetfoot.connect();
            client.send("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n");
            client
        };
        let asked = origin.count("GET /");
        let under_way = ask(&fleetfoot);
        origin.wait_for(asked + 1, "GET /");
        let waits = ask(&fleetfoot);
        let waiting = |fleetfoot: &Fleetfoot| fleetfoot.metrics().sum(metric, &[]) as u64;
        wait_until("it waits", || waiting(&fleetfoot) == 1);
        fleetfoot.rewrite(&config(after, "/new"));
        fleetfoot.hang_up();
        fleetfoot.wait_until("reloaded", |fleetfoot| fleetfoot.get("/new").status == 200);
        if metric.contains("concurrency") {
            // That of the call under way knows of its source; the gauge has it once the rule of today does, too.
            assert_eq!(fleetfoot.metrics().count("fleetfoot_concurrency_limit"), 2);
            assert_eq!(fleetfoot.metrics().count("fleetfoot_concurrency_under_way"), 1);
        }
        assert_eq!(waiting(&fleetfoot), 1, "{before}");
        drop(waits);
        wait_until("it has gone", || waiting(&fleetfoot) == 0);
        drop(under_way);
    }
    gate.open();
}

#[test]
fn groups_take_turns() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("GET /hold").reply(Script::new().wait(&gate).then(ok("", "1")));
    let order = std::sync::Arc::new(Mutex::new(Vec::new()));
    let seen = std::sync::Arc::clone(&order);
    origin.on("GET /").answer(move |request| {
        seen.lock().unwrap().push(request.field("X-Team").unwrap().to_owned());
        ok("", "1")
    });
    let fleetfoot =
        routed(&origin, "concurrency: { max: 1, queue: { wait: 1m, fair: \"${header('X-Team')}\" } }");
    let waiting = |count| {
        wait_until("they wait", || fleetfoot.metrics().count("fleetfoot_concurrency_waiting") == count);
    };
    thread::scope(|scope| {
        scope.spawn(|| fleetfoot.get("/hold"));
        origin.wait_for(1, "GET /hold");
        for count in 1..=6 {
            let fleetfoot = &fleetfoot;
            scope.spawn(move || fleetfoot.get_with("/", "X-Team: greedy\r\n"));
            waiting(count);
        }
        scope.spawn(|| fleetfoot.get_with("/", "X-Team: modest\r\n"));
        waiting(7);
        gate.open();
    });
    let order = order.lock().unwrap();
    assert_eq!(order.iter().position(|team| team == "modest"), Some(1), "{order:?}");
}

/// A breaker and a timeout on the route, and a queue around the source: as one is written for a provider.
#[test]
fn a_deadline_that_comes_in_the_queue_is_not_the_fault_of_the_source() {
    let origin = Origin::start();
    for queued in [
        "limit: { rate: 1/h, queue: { wait: 1m } }",
        "limit: { rate: 1/h, per: provider, queue: { wait: 1m } }",
        "learn: { queue: { wait: 1m } }",
    ] {
        origin.on("GET /").replies([status("429 Too Many Requests", "Retry-After: 30", ""), ok("", "1")]);
        let top = format!(
            "cores: 1\naccess_log: json\npolicies: {{ p: {{ {queued} }}, guard: {{ breaker: {{ in_a_row: 2, probe: 1m }}, timeout: 5s, retry: true }} }}"
        );
        let api = format!("api: {{ http: \"{}\", use: p }}", origin.url());
        let routes = ["match: /, proxy: api, use: guard"];
        let fleetfoot = Fleetfoot::start(&config_with(&top, &[&api], &routes));
        assert_eq!(fleetfoot.get("/").status, 429, "{queued}");
        let asked = origin.count("GET /");
        let began = Instant::now();
        for _ in 0..4 {
            let refused = fleetfoot.get("/");
            assert_eq!((refused.status, refused.field("Fleetfoot-Error")), (429, Some("rate-limited")));
            assert!(refused.has("Retry-After"));
        }
        assert!(began.elapsed() < Duration::from_secs(5), "its turn would come too late: known at once");
        let remedy = queued.split(':').next().unwrap();
        assert_eq!((times(&fleetfoot, remedy, "late"), times(&fleetfoot, "timeout.overall", "late")), (4, 0));
        assert_eq!((times(&fleetfoot, "retry", "again"), times(&fleetfoot, "breaker", "opened")), (0, 0));
        assert_eq!(origin.count("GET /"), asked, "{queued}");
    }
}

/// When a place becomes free, nobody knows beforehand.
#[test]
fn who_waits_for_a_place_until_its_deadline_is_refused_by_the_queue() {
    let (origin, gate) = (Origin::start(), Gate::new());
    origin.on("GET /hold").reply(Script::new().wait(&gate).then(ok("", "1")));
    origin.on("GET /").reply(ok("", "1"));
    let top = "cores: 1\naccess_log: json\npolicies: { outer: { breaker: { in_a_row: 2, probe: 1m }, retry: true }, inner: { timeout: 50ms }, p: { concurrency: { max: 1, queue: { wait: 1m } } } }";
    let api = format!("api: \"{}\"", origin.url());
    let routes = ["match: /hold, proxy: api, use: p", "match: /, proxy: api, use: [outer, inner, p]"];
    let fleetfoot = Fleetfoot::start(&config_with(top, &[&api], &routes));
    thread::scope(|scope| {
        let first = scope.spawn(|| fleetfoot.get("/hold"));
        origin.wait_for(1, "GET /hold");
        for _ in 0..3 {
            let refused = fleetfoot.get("/");
            assert_eq!((refused.status, refused.field("Fleetfoot-Error")), (503, Some("overloaded")));
            assert!(refused.has("Retry-After"));
        }
        assert_eq!(
            (times(&fleetfoot, "concurrency", "late"), times(&fleetfoot, "timeout.overall", "late")),
            (3, 0)
        );
        gate.open();
        assert_eq!(first.join().unwrap().status, 200);
    });
    assert_eq!(fleetfoot.get("/").status, 200, "the breaker has heard nothing");
    assert_eq!(times(&fleetfoot, "breaker", "opened"), 0);
}

#[test]
fn nobody_is_overtaken_by_a_hit() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("Cache-Control: max-age=3600", "kept"));
    let fleetfoot = with_policy(
        "limit: { rate: 10/s, burst: 1, queue: { wait: 10s } }, cache: true",
        &[&format!("api: {{ http: \"{}\" }}", origin.url())],
        &["match: /**, proxy: api, use: [p]"],
    );
    for _ in 0..3 {
        assert_eq!(fleetfoot.get("/").text(), "kept");
    }
    assert_eq!(
        (origin.count("GET /"), times(&fleetfoot, "limit", "queued")),
        (1, 0),
        "hits cost nothing here"
    );
}

#[test]
fn each_group_is_sure_of_its_share() {
    let origin = Origin::start();
    origin.on("GET /").reply(ok("", "1"));
    let fleetfoot = routed(
        &origin,
        "limit: { rate: 10/h, shares: { by: \"${header('X-Team')}\", of: { checkout: 60%, batch: 30% } } }",
    );
    let ask = |team: &str| fleetfoot.get_with("/", &format!("X-Team: {team}\r\n")).status;
    let given = (0..20).filter(|_| ask("batch") == 200).count();
    assert!((2..=5).contains(&given), "its share, and what is nobody's: {given}");
    let checkout = (0..20).filter(|_| ask("checkout") == 200).count();
    assert!(checkout >= 5, "six tenths of ten, but for what is rounded: {checkout}");
    let others = (0..20).filter(|_| ask("somebody") == 200).count();
    assert!(others >= 1, "{others}");
    let all = given + checkout + others;
    assert!((9..=10).contains(&all), "never more than the limit together, and hardly fewer: {all}");
}
