//! Sources of steps come and go with the configuration, and with the process: nothing of the old ones stays.

use std::time::{Duration, Instant};

use testkit::{Fleetfoot, MariaDb, Postgres, RedisServer, wait_until};

use super::support::{assert_complete, composing, config_with, refs, sql};
use crate::reading::support::reload;

const FINE: &str = r#"(module
  (memory (export "memory") 1)
  (data (i32.const 0) "true")
  (func (export "alloc") (param i32) (result i32) (i32.const 1024))
  (func (export "fine") (param i32 i32) (result i64) (i64.const 4))
  (func (export "endless") (param i32 i32) (result i64) (loop $l (br $l)) (i64.const 0)))"#;

struct Sources {
    mariadb: MariaDb,
    postgres: Postgres,
    redis: RedisServer,
    folder: tempfile::TempDir,
}

impl Sources {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("fine.wat"), FINE).expect("the file is written");
        let file = rusqlite::Connection::open(folder.path().join("a.db")).expect("a file");
        file.execute_batch("CREATE TABLE t (id)").expect("a table");
        Sources {
            mariadb: MariaDb::start(),
            postgres: Postgres::start(),
            redis: RedisServer::start(),
            folder,
        }
    }

    /// `number` is another one each time, so that nothing is as it was.
    fn config(&self, number: usize) -> String {
        let at = |file: &str| self.folder.path().join(file).display().to_string();
        let timeout = format!(", timeout: {}s", 60 + number);
        let sources = [
            format!("mariadb: {}", sql(&self.mariadb.url(), &timeout)),
            format!("postgres: {}", sql(&self.postgres.url(), &timeout)),
            format!("sqlite: {}", sql(&format!("sqlite:{}", at("a.db")), &timeout)),
            format!("redis: {{ redis: \"{}\"{timeout} }}", self.redis.url()),
            format!("math: {{ wasm: {}{timeout} }}", at("fine.wat")),
        ];
        let all = "m: { mariadb: SELECT 1, as: value }, p: { postgres: SELECT 1, as: value }, \
                   s: { sqlite: SELECT 1, as: value }, r: { redis: GET a }, w: { math: fine }";
        let slow =
            "m: { mariadb: SELECT SLEEP(60) }, p: { postgres: SELECT pg_sleep(60) }, w: { math: endless }";
        let routes = [
            format!(
                "match: GET /, compose: {{ {all} }}, respond: {{ number: {number}, m: \"${{m}}\", p: \"${{p}}\", s: \"${{s}}\", w: \"${{w}}\" }}"
            ),
            format!("match: GET /slow, timeout: 60s, compose: {{ {slow} }}"),
        ];
        config_with("cores: 2\ndrain: 1s", &refs(&sources), &refs(&routes))
    }

    fn connections(&self) -> [usize; 3] {
        [self.mariadb.connections(), self.postgres.connections(), self.redis.clients().len()]
    }
}

fn threads(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/task")).expect("it runs").count()
}

fn files(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).expect("it runs").count()
}

#[test]
fn a_new_configuration_leaves_nothing_of_the_old_one() {
    let sources = Sources::start();
    let mut fleetfoot = Fleetfoot::start(&sources.config(0));
    let pid = fleetfoot.pid();
    let ask = |fleetfoot: &Fleetfoot, number: usize| {
        for _ in 0..20 {
            assert_complete(
                &fleetfoot.get("/"),
                &format!(r#"{{"number":{number},"m":1,"p":1,"s":1,"w":true}}"#),
            );
        }
    };
    let mut before = (0, 0);
    for number in 1..=12 {
        reload(&mut fleetfoot, &sources.config(number));
        fleetfoot.wait_until("new", |fleetfoot| fleetfoot.get("/").text().contains(&format!(":{number},")));
        ask(&fleetfoot, number);
        if number == 4 {
            before = (threads(pid), files(pid));
        }
    }
    // One connection for each core, at most.
    wait_until("left", || sources.connections().iter().all(|count| *count <= 4));
    wait_until("as before", || threads(pid) <= before.0 + 2 && files(pid) <= before.1 + 6);
}

#[test]
fn a_module_that_was_built_anew_is_used_from_the_next_reload_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let module = folder.path().join("fine.wat");
    std::fs::write(&module, FINE).expect("the file is written");
    let source = format!("math: {{ wasm: {} }}", module.display());
    let mut fleetfoot = composing(&[&source], &["match: GET /, compose: { it: { math: fine } }"]);
    assert_complete(&fleetfoot.get("/"), r#"{"it":true}"#);
    std::fs::write(&module, FINE.replace("true", "null")).expect("the file is written");
    fleetfoot.hang_up();
    fleetfoot.wait_until("the new module", |fleetfoot| fleetfoot.get("/").body == br#"{"it":null}"#);
}

#[test]
fn a_process_ends_in_time_whatever_runs_for_it() {
    let sources = Sources::start();
    let mut fleetfoot = Fleetfoot::start(&sources.config(0));
    let mut client = fleetfoot.connect();
    client.send("GET /slow HTTP/1.1\r\nHost: example.test\r\n\r\n");
    wait_until("running", || [sources.mariadb.running().len(), sources.postgres.running().len()] == [1, 1]);
    let begun = Instant::now();
    fleetfoot.terminate();
    assert!(fleetfoot.wait_for_exit().success(), "it drains for a second");
    assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
}

#[test]
fn a_process_that_ends_leaves_no_connection() {
    let sources = Sources::start();
    let mut fleetfoot = Fleetfoot::start(&sources.config(0));
    assert_eq!(fleetfoot.get("/").status, 200);
    fleetfoot.terminate();
    assert!(fleetfoot.wait_for_exit().success(), "nothing is under way");
    wait_until("left", || sources.connections() == [0, 0, 0]);
}
