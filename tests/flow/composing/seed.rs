//! The endpoint that compose was made for: sixteen calls of four kinds, joined into one response, as the API it comes
//! from gives it. What answers it, and how many calls run at once, is not seen in it.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use testkit::{Fleetfoot, Origin, RedisServer, ok};

use super::support::{assert_complete, mariadb, sql};

/// What `shared` sets up, as SQL that both databases know.
const TABLES: &str = "
    CREATE TABLE test_1 (id INTEGER PRIMARY KEY, title VARCHAR(40), score DOUBLE, note VARCHAR(40));
    CREATE TABLE test_2 (id INTEGER PRIMARY KEY, title VARCHAR(40), score DOUBLE, note VARCHAR(40));
    CREATE TABLE test_3 (id INTEGER PRIMARY KEY, title VARCHAR(40), score DOUBLE, note VARCHAR(40));
    CREATE TABLE test_4 (id INTEGER PRIMARY KEY, title VARCHAR(40), score DOUBLE, note VARCHAR(40));
    INSERT INTO test_1 VALUES (1, 'one', 1.5, NULL), (2, 'zwei \"ü\"', 0, ''), (3, 'three', -2.25, 'n');
    INSERT INTO test_2 VALUES (1, 'uno', 1.5, NULL), (7, 'sette', 10, 'n');
    INSERT INTO test_3 VALUES (5, 'cinq', 5.5, NULL);
    INSERT INTO test_4 VALUES (1, 'eins', 1, NULL), (2, 'zwei', 2, NULL);";

const TRENDS: &str = r#"{"trends":[{"title":"rust","rank":1}]}"#;

/// All parameters, some of them several times.
const TARGET: &str = "/api/ral/v3/test?test1Id=1&test1Id=2&test1Id=9&test2Id=7&test2Id=1&test3Id=5&test4Id=2";

const WANTED: &str = concat!(
    r#"{"data":{"cacheModel":{"test1":{"hits":1.50},"test2":"plain","test3":null,"test4":[4]},"#,
    r#""test1s":[{"id":1,"title":"one","score":1.5,"note":null},{"id":2,"title":"zwei \"ü\"","score":0.0,"note":""}],"#,
    r#""test2s":[{"id":1,"title":"uno","score":1.5,"note":null},{"id":7,"title":"sette","score":10.0,"note":"n"}],"#,
    r#""test3s":[{"id":5,"title":"cinq","score":5.5,"note":null}],"#,
    r#""test4s":[{"id":2,"title":"zwei","score":2.0,"note":null}],"#,
    r#""result":[{"n":1000,"primes":168},{"n":1000,"primes":168},{"n":1000,"primes":168},{"n":1000,"primes":168}],"#,
    r#""trendModels":[{"trends":[{"title":"rust","rank":1}]},{"trends":[{"title":"rust","rank":1}]},"#,
    r#"{"trends":[{"title":"rust","rank":1}]},{"trends":[{"title":"rust","rank":1}]}]}}"#
);

/// What stands under the keys of Redis, or of the file.
const KEYS: [(&str, &str); 3] =
    [("test1:key:1,2,9", r#"{"hits":1.50}"#), ("test2:key:7,1", "plain"), ("test4:key:2", "[4]")];

fn trends() -> Origin {
    let origin = Origin::start();
    origin.on("GET /trends/api/realtimetrends?hl=ko").reply(ok("Content-Type: application/json", TRENDS));
    origin
}

/// The file, in which only `db` and `redis` say where anything is.
fn config(db: &str, redis: &str, trends: &Origin, run: &str) -> String {
    let math = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/compose/math.wat");
    format!(
        r#"
listen: {{ http: 127.0.0.1:0, admin: 127.0.0.1:0 }}
cores: 1
sources:
  trends: {{ http: "{trends}", timeout: 5s }}
  db: {db}
  redis: {redis}
  math: {{ wasm: {math}, timeout: 5s }}
routes:
  - match: GET /api/ral/v3/test
    timeout: 10s
    run: {run}
    compose:
      tests:
        each: [1, 2, 3, 4]
        db: SELECT * FROM test_{{each}} WHERE id IN (?) ORDER BY id
        args: ["${{query.all('test{{each}}Id')}}"]
      cached:
        each: {{ test1: 1, test2: 2, test3: 3, test4: 4 }}
        redis: "GET test{{each}}:key:${{query.all('test{{each}}Id')}}"
        on_error: null
      result: {{ each: [1, 2, 3, 4], math: execute, args: {{ n: 1000 }} }}
      trends: {{ each: [1, 2, 3, 4], trends: "GET /trends/api/realtimetrends?hl=ko", on_error: stale }}
    respond:
      data:
        cacheModel: "${{cached}}"
        test1s: "${{tests[0]}}"
        test2s: "${{tests[1]}}"
        test3s: "${{tests[2]}}"
        test4s: "${{tests[3]}}"
        result: "${{result}}"
        trendModels: "${{trends}}"
"#,
        db = sql(db, ", pool: 20, timeout: 5s"),
        trends = trends.url(),
        math = math.display(),
    )
}

/// A file of SQLite and one of keys, with the same in them.
fn files(folder: &Path) -> (PathBuf, PathBuf) {
    let (db, store) = (folder.join("ral.db"), folder.join("store.json"));
    Connection::open(&db)
        .and_then(|connection| connection.execute_batch(TABLES))
        .expect("the tables are made");
    let values = KEYS.map(|(key, value)| {
        let value = if value == "plain" { r#""plain""# } else { value };
        format!("{}: {value}", serde_json::Value::from(key))
    });
    std::fs::write(&store, format!("{{ {} }}", values.join(", "))).expect("the file is written");
    (db, store)
}

#[test]
fn the_same_response_from_whatever_answers_and_however_many_at_once() {
    let (database, redis, origin) = (mariadb(), RedisServer::start(), trends());
    database.execute(TABLES);
    for (key, value) in KEYS {
        drop(redis.command(&["SET", key, value]).or_panic());
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (db, store) = files(folder.path());
    let real = (database.url(), format!("\"{}\"", redis.url()));
    let small = (format!("sqlite:{}", db.display()), format!("{{ store: \"{}\" }}", store.display()));
    for (db, redis) in [real, small] {
        for run in ["parallel", "serial", "pool(10, 20)"] {
            let fleetfoot = Fleetfoot::start(&config(&db, &redis, &origin, run));
            assert_complete(&fleetfoot.get(TARGET), WANTED);
        }
    }
}

#[test]
fn all_that_a_request_lacks_is_told_at_once_and_nobody_is_asked() {
    let (folder, origin) = (tempfile::tempdir().expect("a temporary folder"), trends());
    let (db, store) = files(folder.path());
    let store = format!("{{ store: \"{}\" }}", store.display());
    let fleetfoot =
        Fleetfoot::start(&config(&format!("sqlite:{}", db.display()), &store, &origin, "parallel"));
    let answer = fleetfoot.get("/api/ral/v3/test?test2Id=1");
    assert_eq!(answer.status, 400, "{answer:?}");
    for name in ["test1Id", "test3Id", "test4Id"] {
        assert_eq!(answer.text().matches(name).count(), 1, "{}", answer.text());
    }
    assert!(!answer.text().contains("test2Id"), "{}", answer.text());
    assert_eq!(origin.requests().len(), 0);
}

#[test]
fn of_sixteen_calls_each_thing_is_asked_once() {
    let (folder, origin) = (tempfile::tempdir().expect("a temporary folder"), trends());
    let (db, store) = files(folder.path());
    let store = format!("{{ store: \"{}\" }}", store.display());
    for run in ["parallel", "serial"] {
        let before = origin.requests().len();
        let fleetfoot = Fleetfoot::start(&config(&format!("sqlite:{}", db.display()), &store, &origin, run));
        assert_complete(&fleetfoot.get(TARGET), WANTED);
        let metrics = fleetfoot.metrics();
        assert_eq!(metrics.count("fleetfoot_compose_calls_total"), 16);
        assert_eq!(
            metrics.count("fleetfoot_compose_deduped_total"),
            6,
            "four times the same trends and work"
        );
        assert_eq!((origin.requests().len() - before, metrics.count("fleetfoot_wasm_calls_total")), (1, 1));
    }
}
