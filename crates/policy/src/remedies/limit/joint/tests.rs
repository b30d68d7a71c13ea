//! The scripts at a real Redis, beside the limits that one instance counts: the same calls at the same moments, the same decisions.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use guard::{LimitDecision, Limits};
use plan::{Layer, Limit};
use redis_link::{SharedLink, Value};
use testkit::{RedisClient, RedisServer, Reply};

use super::*;

/// Of microseconds, so that groups of calls are as long as in nanoseconds.
const PER: u64 = 16_000_000;
const NOW: u64 = 1_800_000_000_000_000;

/// A limit as it is written, in this Redis.
fn limit(words: &str, redis: &str) -> Limit {
    let file = format!(
        "sources: {{ api: http://a, counts: {{ redis: \"{redis}\", timeout: 5s }} }}\npolicies: {{ p: {{ limit: {{ {words}, shared: counts }} }} }}\n\
         routes: [{{ match: /, proxy: api, use: p }}]\n"
    );
    let plan = plan::compile(&file, "test.yaml").unwrap_or_else(|faults| panic!("{faults}"));
    match plan.routes[0].layers.iter().next() {
        Some(Layer::Limit { limit, .. }) => (**limit).clone(),
        other => panic!("{other:?}"),
    }
}

fn joint(limit: &Limit) -> JointLimit {
    JointLimit::new(limit, limit.shared.as_ref().expect("it is shared"))
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }
}

/// Runs the script of a limit, at a moment of our own or at that of Redis.
struct Redis {
    client: RedisClient,
    /// Of the parts that were asked.
    known: BTreeMap<usize, u64>,
    spent_at: u64,
}

impl Redis {
    fn of(server: &RedisServer) -> Self {
        Redis { client: server.connect(), known: BTreeMap::new(), spent_at: 0 }
    }

    fn take(&mut self, joint: &JointLimit, key: &[u8], at: Option<u64>) -> (Count, LimitDecision) {
        const TIME: &str = "redis.call('TIME')";
        let (names, mut text) = (joint.names.counted(key), joint.count.text().to_owned());
        assert!(text.contains(TIME));
        if let Some(at) = at {
            let (seconds, micros) = (at / 1_000_000, at % 1_000_000);
            text = text.replace(TIME, &format!("{{'{seconds}', '{micros}'}}"));
        }
        let arguments = joint.arguments(self.known.get(&names.part).copied(), self.spent_at);
        let mut words = vec!["EVAL", &text, "2", &names.count, &names.marker];
        words.extend(arguments.iter().map(String::as_str));
        let reply = value(self.client.command(&words).or_panic());
        let (marker, count) = read(&reply).expect("a reply of ours");
        self.known.insert(names.part, marker);
        (count, joint.quota.decision(&count))
    }
}

fn value(reply: Reply) -> Value {
    match reply {
        Reply::Int(number) => Value::Int(number),
        Reply::Bulk(bytes) => Value::BulkString(bytes),
        Reply::Array(replies) => Value::Array(replies.into_iter().map(value).collect()),
        other => panic!("{other:?}"),
    }
}

/// In whole microseconds, as scripts count.
fn rounded(decision: LimitDecision) -> LimitDecision {
    let up = |time: Duration| {
        Duration::from_micros(u64::try_from(time.as_nanos().div_ceil(1000)).expect("not that long"))
    };
    LimitDecision { reset: up(decision.reset), retry_after: up(decision.retry_after), ..decision }
}

const ALGORITHMS: [&str; 3] = ["gcra", "fixed", "sliding"];

#[test]
fn the_same_calls_at_the_same_moments_are_decided_alike() {
    let server = RedisServer::start();
    let mut redis = Redis::of(&server);
    for algorithm in ALGORITHMS {
        for seed in 1..=12 {
            let mut random = Random(seed);
            let amount = 1 + random.below(40);
            let burst =
                if algorithm == "gcra" { format!(", burst: {}", 1 + random.below(9)) } else { String::new() };
            let words = format!("rate: {amount}/16s, algorithm: {algorithm}{burst}");
            let limit = limit(&words, &server.url());
            let (joint, here, start) = (joint(&limit), Limits::new(limit.allowance(), 9), Instant::now());
            let mut now = NOW + seed * 1_000_000_000_000;
            let begun = now;
            let mut wait = 0;
            for call in 0..300 {
                // Often in the very moment in which somebody may go, or just before it.
                let steps = [0, random.below(PER / 200), random.below(PER / 3), wait, wait.saturating_sub(1)];
                now += steps[random.below(5) as usize];
                let key = [random.below(2) as u8];
                let (_, there) = redis.take(&joint, &key, Some(now));
                wait = there.retry_after.as_micros() as u64;
                let here = rounded(here.take(&key, start + Duration::from_micros(now - begun)));
                assert_eq!(there, here, "{words}, seed {seed}, call {call}");
            }
        }
        server.flush_all();
        redis.known.clear();
    }
}

#[test]
fn by_the_clock_of_redis_what_expires_is_what_no_longer_counts() {
    let server = RedisServer::start();
    let mut redis = Redis::of(&server);
    for algorithm in ALGORITHMS {
        let limit = limit(&format!("rate: 20/16ms, algorithm: {algorithm}"), &server.url());
        let (joint, here, start) = (joint(&limit), Limits::new(limit.allowance(), 9), Instant::now());
        let mut begun = None;
        for _ in 0..2000 {
            let (count, there) = redis.take(&joint, b"", None);
            let since = count.now - *begun.get_or_insert(count.now);
            assert_eq!(there, rounded(here.take(b"", start + Duration::from_micros(since))), "{algorithm}");
        }
        let key = joint.names.counted(b"").count;
        let left = server.command(&["PTTL", &key]).int();
        assert!(left <= 18, "{algorithm}: no longer than a window: {left} ms");
    }
}

#[test]
fn large_numbers_are_exact() {
    let server = RedisServer::start();
    let mut redis = Redis::of(&server);
    for words in [
        "rate: 999999999999/366d, algorithm: sliding",
        "rate: 999999999999/366d, algorithm: fixed",
        "rate: 99999989/366d, burst: 99999900",
        "rate: 7/300d, burst: 7",
    ] {
        let limit = limit(words, &server.url());
        let (joint, here, start) = (joint(&limit), Limits::new(limit.allowance(), 9), Instant::now());
        for step in 0..20 {
            let (_, there) = redis.take(&joint, b"", Some(NOW + step));
            assert_eq!(there, rounded(here.take(b"", start + Duration::from_micros(step))), "{words}");
        }
    }
}

/// How many of so many pass at this moment.
fn passing(redis: &mut Redis, joint: &JointLimit, at: u64) -> usize {
    (0..20).filter(|_| redis.take(joint, b"", Some(at)).0.is_allowed).count()
}

#[test]
fn a_redis_that_lost_everything_counts_as_spent_for_who_knew_it() {
    let server = RedisServer::start();
    for algorithm in ALGORITHMS {
        let joint = joint(&limit(&format!("rate: 4/16s, algorithm: {algorithm}"), &server.url()));
        let mut redis = Redis::of(&server);
        assert_eq!(passing(&mut redis, &joint, NOW), 4, "{algorithm}: a new one is not spent");
        server.flush_all();
        let lost = NOW + 5;
        assert_eq!(passing(&mut redis, &joint, lost), 0, "{algorithm}");
        // Another instance, and one that has just started: both hear of it from the marker.
        let mut new = Redis::of(&server);
        assert_eq!(passing(&mut new, &joint, lost + 1), 0, "{algorithm}");
        let almost = lost + PER - 1;
        let by_then = if algorithm == "gcra" { 3 } else { 0 };
        assert_eq!(passing(&mut new, &joint, almost), by_then, "{algorithm}");
        assert_eq!(passing(&mut redis, &joint, lost + PER), 4 - by_then, "{algorithm}");
        server.flush_all();
    }
}

#[test]
fn who_knew_tells_of_a_loss_that_a_new_instance_did_not_see() {
    let server = RedisServer::start();
    for algorithm in ALGORITHMS {
        let joint = joint(&limit(&format!("rate: 4/16s, algorithm: {algorithm}"), &server.url()));
        let (mut old, mut new) = (Redis::of(&server), Redis::of(&server));
        old.known.insert(joint.names.counted(b"").part, 7);
        assert!(new.take(&joint, b"", Some(NOW)).0.is_allowed, "nobody knows better");
        assert_eq!(passing(&mut old, &joint, NOW + 1), 0, "{algorithm}");
        assert_eq!(passing(&mut new, &joint, NOW + 2), 0, "{algorithm}");
        server.flush_all();
    }
}

#[test]
fn a_clock_that_is_behind_lets_nobody_wait_for_longer_than_a_window() {
    const HOUR: u64 = 3_600_000_000;
    let server = RedisServer::start();
    for algorithm in ALGORITHMS {
        for has_lost in [false, true] {
            let joint = joint(&limit(&format!("rate: 4/16s, algorithm: {algorithm}"), &server.url()));
            let mut redis = Redis::of(&server);
            assert_eq!(passing(&mut redis, &joint, NOW), 4);
            if has_lost {
                server.flush_all();
                assert_eq!(passing(&mut redis, &joint, NOW), 0);
            }
            let behind = NOW - HOUR;
            let (_, refused) = redis.take(&joint, b"", Some(behind));
            assert!(!refused.is_allowed, "{algorithm}: what was counted is not forgotten");
            let wait = refused.retry_after.as_micros() as u64;
            assert!(wait <= PER, "{algorithm}: {wait}");
            assert!(!redis.take(&joint, b"", Some(behind + wait - 1)).0.is_allowed, "{algorithm}");
            assert!(redis.take(&joint, b"", Some(behind + wait)).0.is_allowed, "{algorithm}, {has_lost}");
            server.flush_all();
        }
    }
}

#[test]
fn a_quota_may_count_as_spent_as_of_a_moment() {
    let server = RedisServer::start();
    for algorithm in ALGORITHMS {
        let joint = joint(&limit(&format!("rate: 4/16s, algorithm: {algorithm}"), &server.url()));
        let mut redis = Redis { spent_at: NOW, ..Redis::of(&server) };
        assert_eq!(passing(&mut redis, &joint, NOW + 1), 0, "{algorithm}");
        assert_eq!(passing(&mut redis, &joint, NOW + PER), 4, "{algorithm}");
        server.flush_all();
    }
}

#[test]
fn everything_that_is_left_there_expires() {
    let server = RedisServer::start();
    let mut redis = Redis::of(&server);
    for algorithm in ALGORITHMS {
        let joint = joint(&limit(&format!("rate: 4/16s, algorithm: {algorithm}"), &server.url()));
        assert!(redis.take(&joint, b"x", None).0.is_allowed);
    }
    let keys = server.keys("*");
    assert_eq!(keys.len(), 4, "three counts and the marker of their part: {keys:?}");
    for key in keys {
        assert!(server.command(&["PTTL", &key]).int() > 0, "{key}");
    }
}

#[test]
fn seventeen_groups_are_the_most_that_a_value_takes() {
    let server = RedisServer::start();
    let mut redis = Redis::of(&server);
    let joint = joint(&limit("rate: 100000/16s, algorithm: sliding", &server.url()));
    for step in 0..2000 {
        redis.take(&joint, b"", Some(NOW + step * PER / 500));
    }
    let bytes = server.command(&["STRLEN", &joint.names.counted(b"").count]).int();
    assert!(bytes <= 17 * 23 + 3, "{bytes}");
}

/// Calls that a core makes at once, over one connection.
fn at_once(limit: &Limit, calls: usize) -> Vec<Said> {
    let link =
        SharedLink::new(Arc::clone(&limit.shared.as_ref().expect("it is shared").redis)).expect("no TLS");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build_local(tokio::runtime::LocalOptions::default())
        .expect("a runtime");
    let joint = joint(limit);
    runtime.block_on(async move {
        let link = Link::new(link);
        futures_util::future::join_all((0..calls).map(|_| joint.take(&link, b""))).await
    })
}

#[test]
fn however_many_ask_at_once_no_more_pass_and_each_takes_one_round_trip() {
    let server = RedisServer::start();
    for algorithm in ALGORITHMS {
        let limit = limit(&format!("rate: 50/h, algorithm: {algorithm}"), &server.url());
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let limit = limit.clone();
                std::thread::spawn(move || at_once(&limit, 100))
            })
            .collect();
        let said: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect();
        let passed = said.iter().filter(|said| matches!(said, Said::Together(it) if it.is_allowed)).count();
        assert!(
            said.iter().all(|said| matches!(said, Said::Together(_))),
            "{algorithm}: some were not counted"
        );
        assert_eq!(passed, 50, "{algorithm}");
    }
    let evals = server.info("cmdstat_evalsha");
    assert!(evals.starts_with("calls=12"), "400 for each algorithm: {evals}");
}

#[test]
fn a_script_that_redis_forgot_is_sent_again_and_counted_once() {
    let server = RedisServer::start();
    let limit = limit("rate: 10/h, algorithm: fixed", &server.url());
    for left in [9, 8] {
        let _ok = server.command(&["SCRIPT", "FLUSH"]).or_panic();
        let said = at_once(&limit, 1);
        assert!(matches!(said[..], [Said::Together(it)] if it.remaining == left), "{said:?}");
    }
}
