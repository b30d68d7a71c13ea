//! `limit.shared`: several instances and one Redis are one limit, wherever the policy stands, whatever becomes of Redis.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use testkit::{Fleetfoot, Origin, RedisCluster, RedisSentinel, RedisServer, SlowLink, ok, wait_until};

use super::support::{EVERYWHERE, times};
use crate::composing::support::config_with;
use crate::control_port::port::get;
use crate::setup::each;

const ALGORITHMS: [&str; 3] = ["gcra", "fixed", "sliding"];

/// An instance with this limit on a route, on a source and on a step; `redis` is what stands in the source. Replies have long
/// enough for a busy machine.
fn instance(origin: &Origin, redis: &str, limit: &str) -> Fleetfoot {
    let url = origin.url();
    let sources = [
        format!("plain: \"{url}\""),
        format!("wrapped: {{ http: \"{url}\", use: p }}"),
        format!("counts: {{ {redis}, timeout: 2s, rest: 1s }}"),
    ];
    let routes = [
        "match: /route, proxy: plain, use: p",
        "match: /source, proxy: wrapped",
        "match: GET /step, compose: { it: { plain: GET /step, use: p } }, respond: \"${it}\"",
        "match: /kept, proxy: plain, use: [p, live]",
    ];
    let top =
        format!("cores: 2\npolicies: {{ p: {{ limit: {{ {limit} }} }}, live: {{ cache: {{ ttl: 1h }} }} }}");
    Fleetfoot::start(&config_with(&top, &sources.each_ref().map(String::as_str), &routes))
}

/// Several that have heard of each other.
fn instances<const N: usize>(origin: &Origin, redis: &str, limit: &str) -> [Fleetfoot; N] {
    let mut all = [0; N].map(|_| instance(origin, redis, limit));
    for fleetfoot in &mut all {
        fleetfoot.wait_for_metrics("hearing of the others", |metrics| {
            metrics.count("fleetfoot_limit_instances") >= N as u64
        });
    }
    all
}

fn origin() -> Origin {
    let origin = Origin::start();
    for (target, _) in EVERYWHERE {
        origin.on(target).reply(ok("", "1"));
    }
    origin.on("/kept").reply(ok("", "kept"));
    origin
}

fn at(redis: &RedisServer) -> String {
    format!("redis: \"{}\"", redis.url())
}

fn counts_together(fleetfoot: &mut Fleetfoot, together: u64) {
    fleetfoot.wait_for_metrics("counting so", |metrics| metrics.count("fleetfoot_limit_shared") == together);
}

#[test]
fn of_many_calls_at_once_exactly_so_many_pass_over_all_instances() {
    let origin = origin();
    each(ALGORITHMS.map(|algorithm| (algorithm, ())), |algorithm, ()| {
        for target in ["/route", "/source", "/kept"] {
            let redis = RedisServer::start();
            let limit = format!("rate: 40/h, algorithm: {algorithm}, shared: counts");
            let both: [_; 2] = instances(&origin, &at(&redis), &limit);
            let statuses = Mutex::new(Vec::new());
            thread::scope(|scope| {
                for number in 0..8 {
                    let (fleetfoot, statuses) = (&both[number % 2], &statuses);
                    scope.spawn(move || {
                        for _ in 0..12 {
                            let status = fleetfoot.get(target).status;
                            statuses.lock().unwrap().push(status);
                        }
                    });
                }
            });
            let statuses = statuses.into_inner().unwrap();
            let passed = statuses.iter().filter(|status| **status == 200).count();
            let refused = statuses.iter().filter(|status| **status == 429).count();
            assert_eq!((passed, refused), (40, 56), "{target}");
        }
    });
}

#[test]
fn who_comes_too_often_is_told_so_by_every_instance_wherever_the_policy_stands() {
    let origin = origin();
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let redis = RedisServer::start();
        let both: [_; 2] = instances(&origin, &at(&redis), "rate: 3/h, algorithm: fixed, shared: counts");
        for (number, left) in [2, 1, 0].into_iter().enumerate() {
            let answer = both[number % 2].get(target);
            assert_eq!(answer.status, 200);
            if target == "/route" {
                assert_eq!(answer.joined("RateLimit-Policy"), "\"p\";q=3;w=3600");
                let told = answer.joined("RateLimit");
                assert!(told.starts_with(&format!("\"p\";r={left};t=")), "{told}");
            }
        }
        let before = origin.count(target);
        for fleetfoot in &both {
            let refused = fleetfoot.get(target);
            assert_eq!((refused.status, refused.field("Fleetfoot-Error")), (429, Some("rate-limited")));
            let wait: u64 = refused.field("Retry-After").expect("it says when").parse().expect("in seconds");
            assert!((3500..=3600).contains(&wait), "{wait}");
            assert_eq!(times(fleetfoot, "limit", "refused"), 1);
        }
        assert_eq!(origin.count(target), before, "the source hears nothing of it");
    });
}

#[test]
fn each_value_has_a_quota_of_its_own_in_a_cluster_and_behind_sentinels() {
    let origin = origin();
    let alternates = |redis: &str| {
        let limit = "rate: 1/h, per: \"${header('X-Client')}\", shared: counts";
        let both: [_; 2] = instances(&origin, redis, limit);
        for client in 0..30 {
            let ask =
                |number: usize| both[number % 2].get_with("/route", &format!("X-Client: {client}")).status;
            assert_eq!((ask(client), ask(client + 1)), (200, 429), "{client}");
        }
    };
    let cluster = RedisCluster::start(3);
    let nodes: Vec<_> = cluster.nodes().iter().map(RedisServer::url).collect();
    alternates(&format!("redis: [{}], topology: cluster", nodes.join(", ")));
    let spread = cluster.nodes().iter().filter(|node| !node.keys("fleetfoot:limit:*").is_empty());
    assert_eq!(spread.count(), 3, "they are spread");
    let sentinel = RedisSentinel::start();
    let sentinels: Vec<_> = sentinel.sentinels().iter().map(RedisServer::url).collect();
    alternates(&format!(
        "redis: [{}], topology: sentinel, master: {}",
        sentinels.join(", "),
        sentinel.name()
    ));
}

#[test]
fn a_user_of_redis_may_do_no_more_than_it_takes() {
    let redis = RedisServer::options()
        .acl(
            "user counter on >a-secret-word ~shop:limit:* resetchannels -@all +@connection +@scripting +get +set +pttl \
             +pexpire +time +zadd +zremrangebyscore +zcard",
        )
        .start();
    let origin = origin();
    let source = format!("{}, user: counter, password: a-secret-word", at(&redis));
    for algorithm in ALGORITHMS {
        let shared = "shared: { redis: counts, prefix: shop, when_gone: refuse }";
        let limit = format!("rate: 2/h, algorithm: {algorithm}, {shared}");
        let [fleetfoot] = instances(&origin, &source, &limit);
        assert_eq!([(); 3].map(|()| fleetfoot.get("/route").status), [200, 200, 429], "{algorithm}");
    }
}

#[test]
fn a_redis_that_is_gone_may_refuse_everybody_or_let_everybody_pass() {
    let origin = origin();
    let rows =
        [("refuse", (503, Some("limit-unavailable")), "unavailable"), ("allow", (200, None), "uncounted")];
    each(rows.map(|(word, status, outcome)| (word, (status, outcome))), |word, (status, outcome)| {
        let redis = RedisServer::start();
        let limit = format!("rate: 2/h, shared: {{ redis: counts, when_gone: {word} }}");
        let [mut fleetfoot] = instances(&origin, &at(&redis), &limit);
        assert_eq!(fleetfoot.get("/route").status, 200);
        redis.kill();
        for call in 1..=5 {
            let answer = fleetfoot.get("/route");
            assert_eq!((answer.status, answer.field("Fleetfoot-Error")), status);
            assert_eq!(answer.has("Retry-After"), word == "refuse");
            assert_eq!(times(&fleetfoot, "limit", outcome), call);
        }
        for (target, place) in EVERYWHERE {
            assert_eq!(fleetfoot.get(target).status, status.0, "{place}");
        }
        counts_together(&mut fleetfoot, 0);
        let ready = get(&fleetfoot, "/readyz");
        assert_eq!(
            (&ready["ready"], &ready["degraded"][0]["check"]),
            (&true.into(), &"limit of policy p".into())
        );
        redis.restart();
        counts_together(&mut fleetfoot, 1);
        assert!(get(&fleetfoot, "/readyz")["degraded"].is_null());
        // It has lost what it had, and that is known here.
        assert_eq!(fleetfoot.get("/route").status, 429);
    });
}

/// Asks two instances as fast as they answer, and notes when calls passed.
struct Hammer<'a> {
    both: &'a [Fleetfoot; 2],
    passed: Mutex<Vec<Instant>>,
}

impl Hammer<'_> {
    fn passed(&self) -> MutexGuard<'_, Vec<Instant>> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until this has come true.
    fn until(&self, what: &str, reached: impl Fn() -> bool) {
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for fleetfoot in self.both {
                let over = &over;
                scope.spawn(move || {
                    while !over.load(Relaxed) {
                        if fleetfoot.get("/route").status == 200 {
                            self.passed().push(Instant::now());
                        }
                    }
                });
            }
            wait_until(what, reached);
            over.store(true, Relaxed);
        });
    }

    /// The most that passed in any time of this length.
    fn most_within(&self, window: Duration) -> usize {
        let mut passed = self.passed().clone();
        passed.sort();
        let within =
            |at: &Instant| passed.iter().filter(|other| **other >= *at && **other - *at < window).count();
        passed.iter().map(within).max().unwrap_or(0)
    }
}

#[test]
fn no_more_pass_while_it_dies_is_gone_and_comes_back_with_nothing_than_the_limit() {
    let (origin, redis) = (origin(), RedisServer::start());
    let limit = "rate: 10/s, algorithm: sliding, shared: counts";
    let both: [_; 2] = instances(&origin, &at(&redis), limit);
    let hammer = Hammer { both: &both, passed: Mutex::default() };
    let local = || both.each_ref().map(|fleetfoot| times(fleetfoot, "limit", "local"));
    let shared = || both.iter().all(|fleetfoot| fleetfoot.metrics().count("fleetfoot_limit_shared") == 1);
    hammer.until("two seconds of quota used", || hammer.passed().len() >= 20);
    redis.kill();
    hammer.until("each has made its part alone, twice", || local().iter().all(|made| *made >= 10));
    redis.restart();
    hammer.until("they count together again", shared);
    let before = hammer.passed().len();
    hammer.until("they go on", || hammer.passed().len() >= before + 30);
    redis.flush_all();
    let before = hammer.passed().len();
    hammer.until("they go on", || hammer.passed().len() >= before + 20);
    // A call is counted a little before its answer is here, by some more than by others.
    let most = hammer.most_within(Duration::from_millis(800));
    println!("{} passed, {most} at most within 0.8 s", hammer.passed().len());
    assert!(most <= 10, "{most}");
}

#[test]
fn one_that_is_cut_off_alone_adds_no_more_than_its_part() {
    let (origin, redis) = (origin(), RedisServer::start());
    let line = SlowLink::to(redis.port());
    let limit = "rate: 10/s, algorithm: sliding, shared: counts";
    let there = format!("redis: \"redis://{}\"", line.address());
    let mut both = [at(&redis), there].map(|redis| instance(&origin, &redis, limit));
    for fleetfoot in &mut both {
        fleetfoot.wait_for_metrics("hearing of the other", |metrics| {
            metrics.count("fleetfoot_limit_instances") == 2
        });
    }
    line.cut();
    let hammer = Hammer { both: &both, passed: Mutex::default() };
    hammer.until("it has made its part alone, twice", || times(&both[1], "limit", "local") >= 10);
    assert_eq!(times(&both[0], "limit", "local"), 0, "the other counts in Redis");
    let most = hammer.most_within(Duration::from_millis(800));
    println!("{most} at most within 0.8 s");
    assert!((10..=15).contains(&most), "{most}");
    line.restore();
    let [_, cut_off] = &mut both;
    counts_together(cut_off, 1);
}

#[test]
fn a_redis_that_comes_back_empty_hands_out_nothing_twice() {
    let origin = origin();
    each(ALGORITHMS.map(|algorithm| (algorithm, ())), |algorithm, ()| {
        let redis = RedisServer::start();
        let limit = format!("rate: 5/h, algorithm: {algorithm}, shared: counts");
        let both: [_; 2] = instances(&origin, &at(&redis), &limit);
        let ask = |number: usize| both[number].get("/route").status;
        assert_eq!([ask(0), ask(1), ask(0)], [200; 3]);
        redis.flush_all();
        let late = instance(&origin, &at(&redis), &limit);
        assert_eq!([ask(1), late.get("/route").status, ask(0)], [429; 3]);
        let wait: u64 = both[0].get("/route").field("Retry-After").expect("when").parse().expect("seconds");
        let expected = if algorithm == "gcra" { 700..=720 } else { 3580..=3600 };
        assert!(expected.contains(&wait), "{wait}");
    });
}

#[test]
fn a_redis_that_hangs_holds_up_nobody_for_longer_than_its_timeout() {
    let (origin, redis) = (origin(), RedisServer::start());
    let config = format!(
        "listen: {{ http: 127.0.0.1:0, admin: 127.0.0.1:0 }}\ncores: 1\n\
         sources: {{ api: \"{}\", counts: {{ {}, timeout: 50ms, rest: 10m }} }}\n\
         policies: {{ p: {{ limit: {{ rate: 100/h, shared: {{ redis: counts, when_gone: allow }} }} }} }}\n\
         routes: [{{ match: /**, proxy: api, use: p }}]\n",
        origin.url(),
        at(&redis)
    );
    let mut fleetfoot = Fleetfoot::start(&config);
    assert_eq!(fleetfoot.get("/route").status, 200);
    redis.pause();
    let began = Instant::now();
    for _ in 0..20 {
        assert_eq!(fleetfoot.get("/route").status, 200);
    }
    let took = began.elapsed();
    counts_together(&mut fleetfoot, 0);
    redis.resume();
    // Three wait, and whoever comes later does not ask.
    assert!(took < Duration::from_secs(1), "{took:?}");
}

#[test]
fn what_comes_too_often_waits_for_its_turn_and_asks_no_more_than_it_has_to() {
    let (origin, redis) = (origin(), RedisServer::start());
    let limit = "rate: 20/s, burst: 1, queue: { wait: 20s }, shared: counts";
    let both: [_; 2] = instances(&origin, &at(&redis), limit);
    let began = Instant::now();
    thread::scope(|scope| {
        for number in 0..20 {
            let fleetfoot = &both[number % 2];
            scope.spawn(move || assert_eq!(fleetfoot.get("/route").status, 200));
        }
    });
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(19 * 50), "twenty at 20 a second: {took:?}");
    let queued: u64 = both.iter().map(|fleetfoot| times(fleetfoot, "limit", "queued")).sum();
    assert!(queued >= 15, "{queued}");
    let calls = redis.info("cmdstat_evalsha");
    let calls: u64 = calls.split(['=', ',']).nth(1).and_then(|calls| calls.parse().ok()).expect("some");
    println!("{calls} questions, with heartbeats, in {took:?}");
    // Each when it comes and when it may; beside it those of the other instance that were quicker, and heartbeats.
    assert!(calls < 120, "{calls}");
}

#[test]
fn what_waits_in_vain_is_told_when_to_come_back() {
    let (origin, redis) = (origin(), RedisServer::start());
    let limit = "rate: 1/h, queue: { wait: 50ms }, shared: counts";
    let [fleetfoot] = instances(&origin, &at(&redis), limit);
    assert_eq!(fleetfoot.get("/route").status, 200);
    let late = fleetfoot.get("/route");
    assert_eq!((late.status, late.field("Fleetfoot-Error")), (429, Some("rate-limited")));
    let wait: u64 = late.field("Retry-After").expect("it says when").parse().expect("in seconds");
    assert!((3500..=3600).contains(&wait), "{wait}");
    assert_eq!(times(&fleetfoot, "limit", "late"), 1);
}

#[test]
fn explain_says_who_counts_and_takes_nothing() {
    let (origin, redis) = (origin(), RedisServer::start());
    let [mut fleetfoot] = instances(&origin, &at(&redis), "rate: 1/h, shared: counts");
    let explained = |fleetfoot: &Fleetfoot| {
        get(fleetfoot, "/explain?method=GET&url=http://example.test/route").to_string()
    };
    for _ in 0..3 {
        let told = explained(&fleetfoot);
        assert!(told.contains("counted in `counts` by all instances, 1 seen lately"), "{told}");
    }
    assert_eq!(fleetfoot.get("/route").status, 200);
    redis.kill();
    counts_together(&mut fleetfoot, 0);
    let told = explained(&fleetfoot);
    assert!(
        told.contains("`counts` cannot be asked: refused with 429, this instance's part is used up"),
        "{told}"
    );
}

#[test]
fn a_reload_keeps_what_was_counted_and_who_counts() {
    let (origin, redis) = (origin(), RedisServer::start());
    let [mut fleetfoot] = instances(&origin, &at(&redis), "rate: 2/h, shared: counts");
    assert_eq!(fleetfoot.get("/route").status, 200);
    let config = std::fs::read_to_string(fleetfoot.config_file()).unwrap();
    let reloaded = |fleetfoot: &mut Fleetfoot, config: &str, times: usize| {
        fleetfoot.rewrite(config);
        fleetfoot.hang_up();
        fleetfoot.wait_until("reloaded", |fleetfoot| {
            fleetfoot.stderr().all().iter().filter(|line| line.contains("reloaded")).count() >= times
        });
    };
    reloaded(&mut fleetfoot, &config.replace("ttl: 1h", "ttl: 2h"), 1);
    assert_eq!([(); 2].map(|()| fleetfoot.get("/route").status), [200, 429]);
    reloaded(&mut fleetfoot, &config.replace("rate: 2/h", "rate: 3/h"), 2);
    assert_eq!(fleetfoot.get("/route").status, 200, "another limit counts for itself");
}
