//! A mixed load while everything it needs is killed, paused, cut off and started again, and clients leave in the middle:
//! every request comes to a status that is meant, in time, and afterwards nothing is left of any of it. `COMPOSE_REQUESTS`
//! says how many; a release build named by `FLEETFOOT_BIN` carries out many more in the same time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use testkit::{
    Fleetfoot, Footprint, MariaDb, Origin, Postgres, RawClient, RedisServer, Script, SlowLink, ok, status,
    wait_until,
};

use super::support::{config_with, refs, sql};
use crate::load::meanwhile;

/// As many as a test may take that runs with all others.
const REQUESTS: usize = 5_000;
const CLIENTS: usize = 32;
/// What every route allows itself, and what a busy machine adds to it.
const LONGEST: Duration = Duration::from_secs(2 + 8);

const SUM: &str = r#"(module
  (memory (export "memory") 1)
  (data (i32.const 0) "[1,2,3]")
  (func (export "alloc") (param i32) (result i32) (i32.const 1024))
  (func (export "fine") (param i32 i32) (result i64) (i64.const 7))
  (func (export "traps") (param i32 i32) (result i64) unreachable)
  (func (export "endless") (param i32 i32) (result i64) (loop $l (br $l)) (i64.const 0)))"#;

struct Sources {
    mariadb: MariaDb,
    postgres: Postgres,
    redis: RedisServer,
    to_mariadb: SlowLink,
    to_redis: SlowLink,
    origin: Origin,
    folder: tempfile::TempDir,
}

impl Sources {
    fn start() -> Self {
        let (mariadb, postgres, redis) = (MariaDb::start(), Postgres::start(), RedisServer::start());
        let rows: Vec<_> = (0..100).map(|id| format!("({id}, 'title {id}')")).collect();
        let table = format!(
            "CREATE TABLE books (id INT, title VARCHAR(20)); INSERT INTO books VALUES {};",
            rows.join(",")
        );
        mariadb.execute(&table);
        postgres.execute(&table);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = rusqlite::Connection::open(folder.path().join("a.db")).expect("a file");
        file.execute_batch(&table).expect("a table");
        std::fs::write(folder.path().join("sum.wat"), SUM).expect("the file is written");
        let origin = Origin::start();
        origin.on("*").answer(|request| ok("Cache-Control: max-age=1", format!("{:?}", request.target)));
        origin.on("/bad/0").reply(status("500 Internal Server Error", "", "no"));
        origin.on("/bad/1").reply(Script::from("nonsense\r\n\r\n").close());
        origin.on("/bad/2").reply(Script::from("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[1").reset());
        origin.on("/bad/3").reply(Script::new().pause(Duration::from_millis(80)).then(ok("", "1")));
        origin.on("/bad/4").reply(Script::new().close());
        Sources {
            to_mariadb: SlowLink::to(mariadb.port()),
            to_redis: SlowLink::to(redis.port()),
            mariadb,
            postgres,
            redis,
            origin,
            folder,
        }
    }

    fn config(&self) -> String {
        let at = |file: &str| self.folder.path().join(file).display().to_string();
        let short = ", pool: 6, queue: 40, wait: 300ms, timeout: 400ms, connect_timeout: 400ms";
        let sources = [
            format!(
                "mariadb: {}",
                sql(&format!("mysql://app:secret@{}/app", self.to_mariadb.address()), short)
            ),
            format!("postgres: {}", sql(&self.postgres.url(), short)),
            format!("sqlite: {}", sql(&format!("sqlite:{}", at("a.db")), ", timeout: 400ms")),
            format!(
                "redis: {{ redis: \"redis://{}\", timeout: 200ms, connect_timeout: 200ms }}",
                self.to_redis.address()
            ),
            format!(
                "api: {{ http: \"{}\", timeout: {{ connect: 300ms, head: 300ms, body: 300ms }} }}",
                self.origin.url()
            ),
            format!("math: {{ wasm: {}, timeout: 50ms }}", at("sum.wat")),
        ];
        let look_up = "SELECT id, title FROM books WHERE id IN (?)\", args: [\"${path.id}\"]";
        let all = |on_error: &str| {
            format!(
                "m: {{ mariadb: \"{look_up}{on_error} }}, p: {{ postgres: \"{look_up}, as: row{on_error} }}, \
                 s: {{ sqlite: \"{look_up}, as: row{on_error} }}, r: {{ each: [a, b, c], redis: \"GET {{each}}:${{path.id}}\"{on_error} }}, \
                 h: {{ api: \"GET /of/${{path.id}}\"{on_error} }}, w: {{ math: fine{on_error} }}"
            )
        };
        let routes = [
            format!("match: \"GET /strict/{{id}}\", timeout: 2s, compose: {{ {} }}", all("")),
            format!("match: \"GET /null/{{id}}\", timeout: 2s, compose: {{ {} }}", all(", on_error: null")),
            format!("match: \"GET /omit/{{id}}\", timeout: 2s, run: serial, compose: {{ {} }}", all(", on_error: omit")),
            format!("match: \"GET /stale/{{id}}\", timeout: 2s, compose: {{ {} }}", all(", on_error: [stale, null]")),
            format!("match: \"GET /pool/{{id}}\", timeout: 2s, run: \"pool(4, 40)\", compose: {{ {} }}", all("")),
            format!("match: \"GET /batch/{{id}}\", timeout: 2s, compose: {{ m: {{ mariadb: \"{look_up}, batch: true }}, p: {{ postgres: \"{look_up}, batch: true }} }}"),
            "match: \"GET /bad/{id}\", timeout: 2s, compose: { h: { api: \"GET /bad/${path.id}\" }, r: { redis: \"GET a\" } }".to_owned(),
            "match: \"GET /slow/{id}\", timeout: 2s, compose: { m: { mariadb: SELECT SLEEP(1), timeout: 20ms, on_error: null }, \
             p: { postgres: \"SELECT pg_sleep(1), 1 AS n\", as: column, timeout: 20ms, on_error: null }, \
             w: { math: endless, args: \"${path.id}\", on_error: null }, t: { math: traps, on_error: null } }".to_owned(),
            "match: \"GET /late/{id}\", timeout: 60ms, compose: { m: { mariadb: \"SELECT SLEEP(1), ?\", args: [\"${path.id}\"] }, \
             h: { api: GET /bad/3 } }".to_owned(),
            "match: \"GET /nested/{id}\", timeout: 2s, compose: { \
             ids: { mariadb: SELECT id FROM books ORDER BY id LIMIT 6, as: column }, \
             all: { for: \"${ids}\", width: 3, compose: { h: { api: \"GET /of/${item}\" }, \
             s: { sqlite: \"SELECT title FROM books WHERE id = ?\", args: [\"${item}\"], as: value } } } }"
                .to_owned(),
        ];
        config_with("cores: 2", &refs(&sources), &refs(&routes))
    }

    /// Each in turn, until `is_over`.
    fn trouble(&self, is_over: impl Fn() -> bool) -> usize {
        let troubles: [&dyn Fn(); 9] = [
            &|| self.mariadb.end_connections(),
            &|| self.postgres.end_connections(),
            &|| self.origin.drop_connections(),
            &|| {
                self.redis.kill();
                meanwhile(100);
                self.redis.restart();
            },
            &|| {
                self.to_mariadb.cut();
                meanwhile(200);
                self.to_mariadb.restore();
            },
            &|| {
                self.to_redis.freeze();
                meanwhile(500);
                self.to_redis.restore();
            },
            &|| {
                self.postgres.pause();
                meanwhile(700);
                self.postgres.resume();
            },
            &|| {
                self.to_mariadb.freeze();
                meanwhile(700);
                self.to_mariadb.restore();
            },
            &|| self.mariadb.restart(),
        ];
        let mut count = 0;
        while !is_over() {
            troubles[count % troubles.len()]();
            count += 1;
            meanwhile(300);
        }
        count
    }
}

const WAYS: [&str; 10] =
    ["strict", "null", "omit", "stale", "pool", "batch", "bad", "slow", "late", "nested"];

/// What is asked with this number, spread by a multiplication.
fn target(number: usize) -> (&'static str, String) {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    let way = WAYS[mixed % WAYS.len()];
    let id = if way == "bad" { mixed / 16 % 5 } else { mixed / 16 % 100 };
    (way, format!("GET /{way}/{id} HTTP/1.1\r\nHost: example.test\r\n\r\n"))
}

type Seen = BTreeMap<(&'static str, u16), usize>;

/// Asks until all numbers are taken. One in sixteen leaves without having heard.
fn client(fleetfoot: &Fleetfoot, next: &AtomicUsize, count: usize) -> Seen {
    let mut seen = Seen::new();
    let mut line = fleetfoot.connect();
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= count {
            return seen;
        }
        let (way, request) = target(number);
        if number % 16 == 7 {
            let mut leaves = fleetfoot.connect();
            leaves.send(&request);
            if number % 32 == 7 {
                leaves.reset();
            }
            continue;
        }
        let begun = Instant::now();
        let answer = line.ask(&request);
        assert!(begun.elapsed() < LONGEST, "{way}: {:?} for {answer:?}", begun.elapsed());
        assert!(matches!(answer.status, 200 | 502 | 503 | 504), "{way}: {answer:?}");
        assert!(!answer.text().contains("127.0.0.1"), "{way}: {answer:?}");
        *seen.entry((way, answer.status)).or_default() += 1;
    }
}

fn ask_all(fleetfoot: &Fleetfoot, count: usize, meanwhile: impl FnOnce(&dyn Fn() -> bool)) -> Seen {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| client(fleetfoot, &next, count))).collect();
        meanwhile(&|| {
            next.load(Ordering::Relaxed) >= count
                || clients.iter().any(std::thread::ScopedJoinHandle::is_finished)
        });
        let mut sum = Seen::new();
        for client in clients {
            for (key, count) in client.join().expect("no client panics") {
                *sum.entry(key).or_default() += count;
            }
        }
        sum
    })
}

#[test]
fn trouble_of_all_kinds_leaves_nothing_behind() {
    let requests =
        std::env::var("COMPOSE_REQUESTS").ok().and_then(|count| count.parse().ok()).unwrap_or(REQUESTS);
    let sources = Sources::start();
    let fleetfoot = Fleetfoot::start(&sources.config());
    let quiet = ask_all(&fleetfoot, requests / 10, |_| {});
    let before = Footprint::of(fleetfoot.pid());

    let begun = Instant::now();
    let mut troubles = 0;
    let seen = ask_all(&fleetfoot, requests, |is_over| troubles = sources.trouble(is_over));
    println!("{requests} requests, {troubles} troubles in {:?}: {seen:?}", begun.elapsed());
    println!("without trouble: {quiet:?}");
    for (way, status) in [("strict", 200), ("null", 200), ("late", 504), ("slow", 200), ("bad", 502)] {
        assert!(seen.contains_key(&(way, status)), "no {status} of {way}");
    }

    // All is well again, by itself.
    for way in ["strict", "pool", "batch", "nested"] {
        wait_until("well", || fleetfoot.get(&format!("/{way}/7")).status == 200);
    }
    wait_until("at rest", || sources.mariadb.running().is_empty() && sources.postgres.running().is_empty());
    let connections =
        (sources.mariadb.connections(), sources.postgres.connections(), sources.redis.clients().len());
    println!("connections: {connections:?}");
    assert!(connections.0 <= 6 && connections.1 <= 6 && connections.2 <= 6, "{connections:?}");
    wait_until("as before", || Footprint::of(fleetfoot.pid()).files <= before.files + 16);
    let after = Footprint::of(fleetfoot.pid());
    println!("before: {before:?}, after: {after:?}");
    assert!(after.threads <= before.threads + 2, "{before:?}, {after:?}");
    assert!(after.resident <= before.resident * 2 + (64 << 20), "{before:?}, {after:?}");
    let mut line: RawClient = fleetfoot.connect();
    for number in 0..200 {
        let (way, request) = target(number);
        let answer = line.ask(&request);
        let is_meant = match way {
            "bad" => matches!(answer.status, 200 | 502),
            "late" => answer.status == 504,
            _ => answer.status == 200,
        };
        assert!(is_meant, "{way}: {answer:?}");
    }
}
