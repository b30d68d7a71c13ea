//! `retry`: a call that failed is made again where that does no harm and may help, wherever the policy stands; never more
//! often than the rule and its budget allow.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use testkit::{MariaDb, Origin, RedisServer, Script, ok, status, wait_until};

use super::support::{EVERYWHERE, everywhere, times, with_policy};
use crate::composing::support::sql;
use crate::setup::each;

const QUICK: &str = "backoff: 1ms..5ms";

fn fails(code: &str) -> Script {
    status(code, "", "no")
}

#[test]
fn what_failed_is_asked_again_wherever_the_policy_stands() {
    let origin = Origin::start();
    for (target, _) in EVERYWHERE {
        let broken = Script::new().send("HTTP/1.1 200 OK\r\n").reset();
        origin.on(target).replies([fails("503 Service Unavailable"), broken, ok("", "1")]);
    }
    let fleetfoot = everywhere(&origin, &format!("retry: {{ {QUICK} }}"));
    each(EVERYWHERE.map(|(target, place)| (place, target)), |_, target| {
        let answer = fleetfoot.get(target);
        assert_eq!((answer.status, answer.text().as_str()), (200, "1"), "{answer:?}");
        assert_eq!(origin.count(target), 3);
    });
    assert_eq!(times(&fleetfoot, "retry", "again"), 6);
}

#[test]
fn another_target_is_asked_than_the_one_that_failed() {
    let (broken, well) = (Origin::start(), Origin::start());
    broken.on("GET /").reply(fails("503 Service Unavailable"));
    well.on("GET /").reply(ok("", "1"));
    let fleetfoot = with_policy(
        &format!("retry: {{ {QUICK}, attempts: 2, budget: 100% }}"),
        &[&format!("api: {{ http: [\"{}\", \"{}\"], balance: least_requests }}", broken.url(), well.url())],
        &["match: /**, proxy: api, use: p"],
    );
    for _ in 0..30 {
        assert_eq!(fleetfoot.get("/").status, 200);
    }
    assert!(broken.count("GET /") > 0, "it is asked first, now and then");
}

#[test]
fn the_last_try_is_what_the_client_gets() {
    let origin = Origin::start();
    origin.on("GET /").replies([
        fails("502 Bad Gateway"),
        fails("503 Service Unavailable"),
        fails("504 Gateway Timeout"),
    ]);
    let fleetfoot = with_policy(
        &format!("retry: {{ {QUICK} }}"),
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    let answer = fleetfoot.get("/");
    assert_eq!((answer.status, answer.text().as_str(), origin.count("GET /")), (504, "no", 3));
}

#[test]
fn what_may_have_changed_something_is_not_asked_again() {
    let origin = Origin::start();
    for method in ["POST", "PATCH", "PUT", "DELETE"] {
        origin.on(&format!("{method} /")).replies([fails("503 Service Unavailable"), ok("", "done")]);
    }
    let proxied = |words: &str| {
        with_policy(
            &format!("retry: {{ {QUICK}{words} }}"),
            &[&format!("api: \"{}\"", origin.url())],
            &["match: /**, proxy: api, use: p"],
        )
    };
    let fleetfoot = proxied("");
    for (method, expected) in [("POST", 503), ("PATCH", 503), ("PUT", 200), ("DELETE", 200)] {
        assert_eq!(fleetfoot.send(method, "/", "").status, expected, "{method}");
    }
    origin.on("POST /").replies([fails("503 Service Unavailable"), ok("", "done")]);
    assert_eq!(proxied(", methods: all").send("POST", "/", "").status, 200, "unless the file says so");
}

#[test]
fn content_is_sent_again_as_far_as_it_was_held() {
    let origin = Origin::start();
    origin.on("PUT /short").replies([fails("503 Service Unavailable"), ok("", "done")]);
    origin.on("PUT /long").replies([fails("503 Service Unavailable"), ok("", "done")]);
    let fleetfoot = with_policy(
        &format!("retry: {{ {QUICK}, replay: 10B }}"),
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    let put = |target: &str, content: &str| {
        let length = content.len();
        fleetfoot.connect().ask(format!(
            "PUT {target} HTTP/1.1\r\nHost: example.test\r\nContent-Length: {length}\r\n\r\n{content}"
        ))
    };
    assert_eq!(put("/short", "0123456789").status, 200);
    assert_eq!(put("/long", "0123456789+").status, 503);
    assert_eq!((origin.count("PUT /short"), origin.count("PUT /long")), (2, 1));
    assert_eq!(origin.last("PUT /short").body, b"0123456789");
    assert_eq!(origin.last("PUT /long").body, b"0123456789+", "nothing of it is lost");
}

#[test]
fn a_source_that_says_when_to_come_back_is_left_alone_until_then() {
    let origin = Origin::start();
    let later = |after: &str| status("503 Service Unavailable", &format!("Retry-After: {after}"), "");
    origin.on("GET /soon").replies([later("1"), ok("", "fine")]);
    origin.on("GET /late").replies([later("60"), ok("", "fine")]);
    origin.on("GET /never").replies([later("9999999999999999999"), ok("", "fine")]);
    let fleetfoot = with_policy(
        "retry: { backoff: 1ms..2s }, timeout: 30s",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    let began = Instant::now();
    assert_eq!(fleetfoot.get("/soon").text(), "fine");
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
    let answer = fleetfoot.get("/late");
    assert_eq!((answer.status, answer.field("Retry-After"), origin.count("GET /late")), (503, Some("60"), 1));
    assert_eq!(fleetfoot.get("/never").status, 503);
}

#[test]
fn a_limit_of_ours_does_not_hide_what_the_source_said() {
    let origin = Origin::start();
    origin.on("GET /").reply(Script::new().close());
    let fleetfoot = with_policy(
        &format!("retry: {{ {QUICK} }}, limit: 1/h"),
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    let answer = fleetfoot.get("/");
    assert_eq!((answer.status, answer.field("Fleetfoot-Error")), (502, Some("broke-off")), "{answer:?}");
    assert_eq!(fleetfoot.get("/").status, 429);
}

#[test]
fn an_outage_is_not_made_worse() {
    let origin = Origin::start();
    origin.on("GET /").reply(fails("503 Service Unavailable"));
    let fleetfoot = with_policy(
        "retry: { attempts: 2, backoff: 1ms..1ms, budget: 10%, floor: 1/h }",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    for _ in 0..100 {
        assert_eq!(fleetfoot.get("/").status, 503);
    }
    let asked = origin.count("GET /");
    assert!((105..=111).contains(&asked), "a tenth of the calls may be retries: {asked}");
    assert_eq!(times(&fleetfoot, "retry", "again") as usize, asked - 100);
    assert_eq!(times(&fleetfoot, "retry", "denied") as usize, 200 - asked);
}

/// With every default: 20 % of the calls of the last ten seconds, and 3 a second besides. Unbounded, 50 % of errors would be
/// 1.75 times the calls.
#[test]
fn half_of_all_calls_failing_does_not_become_a_storm() {
    const CLIENTS: usize = 16;
    const CALLS: usize = 250;
    let (origin, asked) = (Origin::start(), AtomicU64::new(0));
    origin.on("GET /").answer(move |_| {
        // Every other one, in no order that retries could fall in with.
        let number = asked.fetch_add(1, Relaxed);
        let is_well = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 63 == 0;
        if is_well { ok("", "1") } else { fails("503 Service Unavailable") }
    });
    let fleetfoot = with_policy(
        "retry: true",
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    let (began, well) = (Instant::now(), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = fleetfoot.connect();
                for _ in 0..CALLS {
                    let answer = client.ask("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n");
                    well.fetch_add(u64::from(answer.status == 200), Relaxed);
                }
            });
        }
    });
    let (calls, took) = (CLIENTS * CALLS, began.elapsed());
    let (asked, well) = (origin.count("GET /"), well.into_inner());
    let times_as_many = asked as f64 / calls as f64;
    println!("{asked} calls for {calls}, {times_as_many:.3} times, in {took:.1?}; {well} answered well");
    // At most those of ten seconds at once.
    let floor = 3.0 * (took.as_secs_f64() + 10.0);
    assert!(asked as f64 <= 1.2 * calls as f64 + floor, "{asked} for {calls}");
    assert!(
        asked as f64 >= 1.15 * calls as f64,
        "what the budget allows is made use of: {asked} for {calls}"
    );
    assert_eq!(times(&fleetfoot, "retry", "again") as usize, asked - calls);
    assert!(well as usize * 100 >= calls * 55, "and worth it: {well} of {calls}");
}

#[test]
fn only_what_is_listed_is_retried() {
    let origin = Origin::start();
    origin.on("GET /429").replies([status("429 Too Many Requests", "Retry-After: 0", ""), ok("", "fine")]);
    origin.on("GET /503").replies([fails("503 Service Unavailable"), ok("", "fine")]);
    let fleetfoot = with_policy(
        &format!("retry: {{ {QUICK}, on: [429, connect] }}"),
        &[&format!("api: \"{}\"", origin.url())],
        &["match: /**, proxy: api, use: p"],
    );
    assert_eq!((fleetfoot.get("/429").status, fleetfoot.get("/503").status), (200, 503));
}

#[test]
fn a_statement_that_reads_is_carried_out_again_and_one_that_writes_is_not() {
    let mariadb = MariaDb::start();
    mariadb.execute("CREATE TABLE t (id INT)");
    let fleetfoot = with_policy(
        &format!("retry: {{ {QUICK} }}"),
        &[&format!("db: {}", sql(&mariadb.url(), ", timeout: 30s"))],
        &[
            "match: GET /reads, compose: { it: { db: SELECT SLEEP(1), as: value, use: p } }, respond: \"${it}\"",
            "match: POST /writes, compose: { it: { db: INSERT INTO t SELECT SLEEP(1), use: p } }",
        ],
    );
    let interrupted = |method: &'static str, target: &'static str| {
        thread::scope(|scope| {
            let asking = scope.spawn(|| fleetfoot.send(method, target, ""));
            wait_until("running", || mariadb.running().len() == 1);
            mariadb.end_connections();
            asking.join().expect("it answers").status
        })
    };
    assert_eq!(interrupted("GET", "/reads"), 200);
    assert_eq!(interrupted("POST", "/writes"), 502);
}

#[test]
fn a_read_of_a_redis_that_was_silent_for_a_moment_is_asked_again() {
    let redis = RedisServer::start();
    drop(redis.command(&["SET", "k", "1"]));
    let sources = [&format!("redis: {{ redis: \"{}\", timeout: 1s, use: p }}", redis.url())[..]];
    let routes = [
        "match: GET /route, read: { redis: GET k }",
        "match: GET /step, compose: { it: { redis: GET k } }, respond: \"${it}\"",
    ];
    let fleetfoot = with_policy("retry: { attempts: 10, backoff: 500ms..1s }", &sources, &routes);
    for (count, target) in ["/route", "/step"].iter().enumerate() {
        assert_eq!(fleetfoot.get(target).text(), "1");
        redis.pause();
        thread::scope(|scope| {
            let asking = scope.spawn(|| fleetfoot.get(target));
            wait_until("retried", || times(&fleetfoot, "retry", "again") > count as u64);
            redis.resume();
            let answer = asking.join().expect("it answers");
            assert_eq!((answer.status, answer.text().as_str()), (200, "1"), "{target} {answer:?}");
        });
    }
}
