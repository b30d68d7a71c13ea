//! `on_error: stale` over databases, reads and modules: what the same call gave last, told as that, for as long as there
//! is trouble, and not for any other call.

use testkit::{Fleetfoot, MariaDb, Origin, RedisServer, Script, ok, status};

use super::support::{assert_complete, assert_incomplete, composing, refs, sql, told};

fn both(fleetfoot: &Fleetfoot, id: &str) -> testkit::Answer {
    fleetfoot.get(&format!("/{id}"))
}

#[test]
fn what_a_call_gave_last_stands_in_for_the_same_call_only() {
    let (database, redis) = (MariaDb::start(), RedisServer::start());
    database.execute("CREATE TABLE t (id INT, title TEXT); INSERT INTO t VALUES (1, 'one'), (2, 'two')");
    for (key, value) in [("k:1", "11"), ("k:2", "22")] {
        drop(redis.command(&["SET", key, value]).or_panic());
    }
    let sources = [
        format!("db: {}", sql(&database.url(), "")),
        format!("redis: {{ redis: \"{}\", timeout: 2s }}", redis.url()),
    ];
    let route = "match: \"GET /{id}\", compose: { \
                 d: { db: \"SELECT title FROM t WHERE id = ?\", args: [\"${path.id}\"], as: value, on_error: [stale, null] }, \
                 r: { redis: \"GET k:${path.id}\", on_error: [stale, null] } }";
    let mut fleetfoot = composing(&refs(&sources), &[route]);
    assert_complete(&both(&fleetfoot, "1"), r#"{"d":"one","r":11}"#);
    // What is asked again while all is well is asked anew.
    database.execute("UPDATE t SET title = 'eins' WHERE id = 1");
    drop(redis.command(&["SET", "k:1", "12"]).or_panic());
    assert_complete(&both(&fleetfoot, "1"), r#"{"d":"eins","r":12}"#);

    database.stop();
    redis.kill();
    for _ in 0..3 {
        let answer = both(&fleetfoot, "1");
        let mut failed: Vec<_> = told(&answer).1.split(", ").collect();
        failed.sort_unstable();
        assert_eq!(
            (answer.text().as_str(), failed),
            (r#"{"d":"eins","r":12}"#, vec!["d;error=stale", "r;error=stale"])
        );
        assert_eq!(answer.field("cache-control"), Some("no-store"));
    }
    for id in ["2", "01", "1%20"] {
        let answer = both(&fleetfoot, id);
        assert_eq!(
            (answer.status, answer.text().as_str()),
            (200, r#"{"d":null,"r":null}"#),
            "{id}: {answer:?}"
        );
        assert_eq!(told(&answer).0, "false");
    }

    database.restart();
    redis.restart();
    fleetfoot.wait_until("well", |fleetfoot| told(&both(fleetfoot, "1")).0 == "true");
    assert_complete(&both(&fleetfoot, "1"), r#"{"d":"eins","r":null}"#);
}

const MODULE: &str = r#"(module
  (memory (export "memory") 1)
  (data (i32.const 0) "true")
  (func (export "alloc") (param i32) (result i32) (i32.const 1024))
  (func (export "endless") (param i32 i32) (result i64) (loop $l (br $l)) (i64.const 0)))"#;

/// Its own fault, time and again: there never was anything.
#[test]
fn where_nothing_was_given_nothing_stands_in() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("a.wat");
    std::fs::write(&file, MODULE).expect("the file is written");
    let source = format!("math: {{ wasm: {}, timeout: 100ms }}", file.display());
    let route = "match: GET /, compose: { a: { math: endless, on_error: [stale, { is: nothing }] } }";
    let fleetfoot = composing(&[&source], &[route]);
    for _ in 0..2 {
        assert_incomplete(&fleetfoot.get("/"), "a;error=source-timeout", r#"{"a":{"is":"nothing"}}"#);
    }
}

/// Whatever makes a step fail, what it gave last stands in: also an answer that no step can use, which is never kept.
#[test]
fn what_was_given_last_is_not_lost_to_what_cannot_be_used() {
    let origin = Origin::start();
    let database = MariaDb::start();
    database.execute("CREATE TABLE gone (id INT); INSERT INTO gone VALUES (1)");
    let bad = [
        ok("", "<html>"),
        status("404 Not Found", "", "{}"),
        status("500 Internal Server Error", "", "{}"),
        status("503 Service Unavailable", "", "{}"),
        ok("Cache-Control: max-age=600", "<html>"),
        status("404 Not Found", "Cache-Control: max-age=600", "{}"),
        ok("", format!("\"{}\"", "x".repeat(10 << 20))),
        Script::from("nonsense\r\n\r\n").close(),
    ];
    let count = bad.len();
    origin.on("*").replies(std::iter::once(ok("", "1")).chain(bad).chain([ok("", "2")]));
    let sources = [format!("api: \"{}\"", origin.url()), format!("db: {}", sql(&database.url(), ""))];
    let routes = [
        "match: GET /http, compose: { it: { api: GET /x, on_error: [stale, null] } }",
        "match: GET /sql, compose: { it: { db: SELECT id FROM gone, as: value, on_error: [stale, null] } }",
    ];
    let fleetfoot = composing(&refs(&sources), &routes);
    assert_complete(&fleetfoot.get("/http"), r#"{"it":1}"#);
    for number in 0..count {
        let answer = fleetfoot.get("/http");
        assert_eq!(
            (answer.text().as_str(), told(&answer)),
            (r#"{"it":1}"#, ("false", "it;error=stale")),
            "{number}"
        );
    }
    assert_complete(&fleetfoot.get("/http"), r#"{"it":2}"#);
    assert_complete(&fleetfoot.get("/sql"), r#"{"it":1}"#);
    database.execute("DROP TABLE gone");
    assert_incomplete(&fleetfoot.get("/sql"), "it;error=stale", r#"{"it":1}"#);
}
