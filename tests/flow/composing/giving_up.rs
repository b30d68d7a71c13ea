//! What nobody waits for any more is stopped where it runs: statements in the database, requests to origins, modules.
//! Whoever gives up: a step that fails the request, the time of the route or of a step, or the client.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use testkit::{Fleetfoot, Gate, Http2Frames, MariaDb, Origin, Postgres, Script, status, wait_until};

use super::support::{composing, refs, sql};

const ENDLESS: &str = r#"(module
  (memory (export "memory") 1)
  (func (export "alloc") (param i32) (result i32) (i32.const 1024))
  (func (export "endless") (param i32 i32) (result i64) (loop $l (br $l)) (i64.const 0)))"#;

/// As long as a busy machine may take until what is given up has stopped.
const SOON: Duration = Duration::from_secs(3);

/// A step of each kind that goes on for longer than any of these stories, unless it is stopped.
const SLOW: [(&str, &str); 5] = [
    ("m", "mariadb: SELECT SLEEP(60)"),
    ("p", "postgres: SELECT pg_sleep(60)"),
    ("h", "api: GET /never"),
    ("s", "sqlite: WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n"),
    ("w", "math: endless"),
];

struct Sources {
    mariadb: MariaDb,
    postgres: Postgres,
    api: Origin,
    /// Requests that the origin has not answered, and whose connection is open.
    open: Arc<AtomicUsize>,
    /// Lets the origin fail what it was asked at `/fails`.
    gate: Gate,
    folder: tempfile::TempDir,
}

impl Sources {
    fn start() -> Self {
        let (open, gate) = (Arc::new(AtomicUsize::new(0)), Gate::new());
        let api = Origin::start();
        let counted = Arc::clone(&open);
        api.on("/never").talk(move |conversation| {
            counted.fetch_add(1, Ordering::Relaxed);
            while !conversation.read_some().is_empty() {}
            counted.fetch_sub(1, Ordering::Relaxed);
            conversation.close();
        });
        api.on("/fails").reply(Script::new().wait(&gate).then(status("500 Internal Server Error", "", "")));
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("endless.wat"), ENDLESS).expect("the file is written");
        let file = rusqlite::Connection::open(folder.path().join("a.db")).expect("a file");
        file.execute_batch("CREATE TABLE t (id)").expect("a table");
        Sources { mariadb: MariaDb::start(), postgres: Postgres::start(), api, open, gate, folder }
    }

    /// A fleetfoot with a route that waits for all of [`SLOW`]. `with` stands in each of the steps; `route` in the route,
    /// and `last` is one more step.
    fn composing(&self, with: &str, route: &str, last: &str) -> Fleetfoot {
        let patient = ", timeout: 60s";
        let at = |file: &str| self.folder.path().join(file).display().to_string();
        let sources = [
            format!("mariadb: {}", sql(&self.mariadb.url(), patient)),
            format!("postgres: {}", sql(&self.postgres.url(), patient)),
            format!("sqlite: {}", sql(&format!("sqlite:{}", at("a.db")), patient)),
            format!("api: {{ http: \"{}\"{patient} }}", self.api.url()),
            format!("math: {{ wasm: {}{patient}, threads: 1 }}", at("endless.wat")),
        ];
        let mut steps = String::new();
        for (name, step) in SLOW {
            write!(steps, "{name}: {{ {step}{with} }}, ").expect("a text takes all");
        }
        composing(&refs(&sources), &[&format!("match: GET /, {route}, compose: {{ {steps}{last} }}")])
    }

    fn running(&self) -> [usize; 3] {
        [self.mariadb.running().len(), self.postgres.running().len(), self.open.load(Ordering::Relaxed)]
    }

    fn wait_until_running(&self) {
        wait_until("running", || self.running() == [1, 1, 1]);
    }

    /// Everything stops soon after `since`, what computes here too.
    fn assert_stops(&self, fleetfoot: &Fleetfoot, since: Instant) {
        wait_until("stopped", || self.running() == [0, 0, 0]);
        assert!(since.elapsed() < SOON, "it took {:?}", since.elapsed());
        let mut last = (Instant::now(), computed(fleetfoot.pid()));
        wait_until("idle", || {
            if last.0.elapsed() < Duration::from_millis(200) {
                return false;
            }
            let now = (Instant::now(), computed(fleetfoot.pid()));
            let is_idle = now.1 - last.1 < 5;
            last = now;
            is_idle
        });
        assert!(since.elapsed() < SOON * 2, "it took {:?}", since.elapsed());
        // And what was used is in order.
        let connections = (self.mariadb.connections(), self.postgres.connections());
        assert!(connections.0 <= 1 && connections.1 <= 1, "{connections:?}");
    }
}

/// Hundredths of seconds for which a process has computed.
fn computed(pid: u32) -> u64 {
    let stat =
        std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).expect("it runs");
    let (_, after) = stat.rsplit_once(')').expect("the name stands in brackets");
    after.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum()
}

const GET: &str = "GET / HTTP/1.1\r\nHost: example.test\r\n\r\n";

#[test]
fn whoever_gives_up_everything_is_stopped_where_it_runs() {
    let sources = Sources::start();

    let fleetfoot = sources.composing("", "timeout: 60s", "fails: { api: GET /fails }");
    let mut client = fleetfoot.connect();
    client.send(GET);
    sources.wait_until_running();
    sources.gate.open();
    let answer = client.read_answer();
    assert_eq!((answer.status, answer.field("fleetfoot-error")), (502, Some("unusable-reply")), "{answer:?}");
    sources.assert_stops(&fleetfoot, Instant::now());

    let fleetfoot = sources.composing("", "timeout: 2s", "");
    let mut client = fleetfoot.connect();
    client.send(GET);
    sources.wait_until_running();
    let answer = client.read_answer();
    assert_eq!((answer.status, answer.field("fleetfoot-error")), (504, Some("source-timeout")), "{answer:?}");
    sources.assert_stops(&fleetfoot, Instant::now());

    let fleetfoot = sources.composing(", timeout: 2s, on_error: null", "timeout: 60s", "");
    let mut client = fleetfoot.connect();
    client.send(GET);
    sources.wait_until_running();
    let answer = client.read_answer();
    let mut failed: Vec<_> = answer.field("x-fleetfoot-failed").unwrap_or_default().split(", ").collect();
    failed.sort_unstable();
    assert_eq!(
        failed,
        ["h", "m", "p", "s", "w"].map(|name| format!("{name};error=source-timeout")),
        "{answer:?}"
    );
    assert_eq!(answer.text(), r#"{"m":null,"p":null,"h":null,"s":null,"w":null}"#);
    sources.assert_stops(&fleetfoot, Instant::now());
}

#[test]
fn a_client_that_leaves_takes_along_what_runs_for_it_alone() {
    let sources = Sources::start();
    let fleetfoot = sources.composing("", "timeout: 60s", "");

    let mut client = fleetfoot.connect();
    client.send(GET);
    sources.wait_until_running();
    drop(client);
    sources.assert_stops(&fleetfoot, Instant::now());

    let mut client = fleetfoot.connect();
    client.send(GET);
    sources.wait_until_running();
    client.reset();
    sources.assert_stops(&fleetfoot, Instant::now());

    let fields: [(&[u8], &[u8]); 4] =
        [(b":method", b"GET"), (b":scheme", b"http"), (b":authority", b"example.test"), (b":path", b"/")];
    let mut frames = Http2Frames::connect(fleetfoot.address());
    frames.headers(1, &fields, true);
    sources.wait_until_running();
    frames.cancel(1);
    sources.assert_stops(&fleetfoot, Instant::now());
    frames.headers(3, &fields, true);
    sources.wait_until_running();
    drop(frames);
    sources.assert_stops(&fleetfoot, Instant::now());
}
