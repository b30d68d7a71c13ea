//! Steps that ask databases which are slow, silent, gone or wrong, or nothing that they can answer.

use std::fmt::Display;

use rusqlite::Connection;
use testkit::{Port, wait_until};

use super::support::{assert_complete, composing, mariadb, postgres, refs, sql};
use super::trouble::{HIDDEN, Impostor, SHORT, assert_fails, routes};

/// A name, a statement with its arguments, and what is told of it.
type Row = (&'static str, String, u16, &'static str);

/// What every database refuses, or answers with too much.
fn rows(slow: &str, large: &str) -> Vec<Row> {
    let step = |statement: &str| format!("db: \"{statement}\"");
    vec![
        ("slow", step(slow), 504, "source-timeout"),
        ("large", step(large), 502, "unusable-reply"),
        ("no_table", step(&format!("SELECT * FROM {HIDDEN}_table")), 502, "unusable-reply"),
        ("no_column", step(&format!("SELECT {HIDDEN} FROM t")), 502, "unusable-reply"),
        ("no_sql", step(&format!("SELECT {HIDDEN} FROM FROM")), 502, "unusable-reply"),
    ]
}

fn ask_all(sources: &[String], rows: &[Row], more: &[(&str, u16, &str)]) {
    let mut all = Vec::new();
    for (name, step, ..) in rows {
        all.extend(routes(name, step));
    }
    for (name, ..) in more {
        all.extend(routes(name, &format!("{name}: SELECT '{HIDDEN}'")));
    }
    let fleetfoot = composing(&refs(sources), &refs(&all));
    for (name, _, status, word) in rows {
        assert_fails(&fleetfoot, name, *status, word);
    }
    for (name, status, word) in more {
        assert_fails(&fleetfoot, name, *status, word);
    }
    // Whatever went wrong, its connections are in order.
    let fine = rows.iter().map(|(name, ..)| *name).next().expect("there are rows");
    assert_fails(&fleetfoot, fine, 504, "source-timeout");
}

/// A server that works, one that is not there, two that are none, and one that does not know us.
fn sources(
    scheme: &str,
    url: &str,
    address: &impl Display,
    nobody: &Port,
    [mute, loud]: [&Impostor; 2],
) -> [String; 5] {
    let of =
        |address: &dyn Display| sql(&format!("{scheme}://app:secret@{address}/app"), &format!(", {SHORT}"));
    let stranger = sql(&format!("{scheme}://stranger@{address}/app"), ", connect_timeout: 3s");
    [
        // The real one answers in time also where the machine is busy.
        format!("db: {}", sql(url, ", timeout: 1500ms")),
        format!("gone: {}", of(&nobody.address())),
        format!("mute: {}", of(&mute.address())),
        format!("loud: {}", of(&loud.address())),
        format!("locked_out: {stranger}"),
    ]
}

#[test]
fn whatever_a_mariadb_does_is_told_in_time_and_not_where_it_is() {
    let database = mariadb();
    database.execute("CREATE TABLE IF NOT EXISTS t (id INT)");
    let nobody = Port::reserve();
    let (mute, loud) = (Impostor::silent(), Impostor::saying(b"HTTP/1.1 400 hidden\r\n\r\n"));
    let sources = sources("mysql", &database.url(), &database.address(), &nobody, [&mute, &loud]);
    let rows = rows("SELECT SLEEP(30)", "SELECT REPEAT('x', 10485760)");
    let more = [
        ("gone", 502, "connect"),
        ("mute", 504, "connect-timeout"),
        ("loud", 502, "connect"),
        ("locked_out", 502, "connect"),
    ];
    ask_all(&sources, &rows, &more);
}

#[test]
fn whatever_a_postgresql_does_is_told_in_time_and_not_where_it_is() {
    let database = postgres();
    database.execute("CREATE TABLE IF NOT EXISTS t (id INT)");
    let nobody = Port::reserve();
    let (mute, loud) = (Impostor::silent(), Impostor::saying(b"HTTP/1.1 400 hidden\r\n\r\n"));
    let sources = sources("postgres", &database.url(), &database.address(), &nobody, [&mute, &loud]);
    let mut rows = rows("SELECT pg_sleep(30)", "SELECT REPEAT('x', 10485760)");
    // A value that a step of ours gives is no fault of the client.
    let given = format!("db: SELECT id FROM t WHERE id = ?, args: [\"{HIDDEN}\"]");
    rows.push(("unfit", given, 502, "unusable-reply"));
    let more = [
        ("gone", 502, "connect"),
        ("mute", 504, "connect-timeout"),
        ("loud", 504, "connect-timeout"),
        ("locked_out", 502, "connect"),
    ];
    ask_all(&sources, &rows, &more);
}

#[test]
fn whatever_is_wrong_with_a_file_is_told_in_time_and_not_where_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str| {
        let path = folder.path().join(name);
        let connection = Connection::open(&path).expect("a file");
        connection.execute_batch("CREATE TABLE t (id INT); INSERT INTO t VALUES (1)").expect("a table");
        (path, connection)
    };
    let (db, _open) = file("a.db");
    let (locked, lock) = file("locked.db");
    let sources = [
        format!("db: {{ sql: \"sqlite:{}\", timeout: 1500ms }}", db.display()),
        format!("locked: {{ sql: \"sqlite:{}\", timeout: 400ms }}", locked.display()),
    ];
    let rows = rows(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT MAX(i) FROM n",
        "SELECT HEX(ZEROBLOB(5242880))",
    );
    ask_all(&sources, &rows, &[]);
    let writes = "match: POST /, compose: { it: { locked: INSERT INTO t VALUES (2) } }";
    let reads = "match: GET /, compose: { it: { locked: SELECT COUNT(*) AS n FROM t, as: value } }";
    let fleetfoot = composing(&[&sources[1]], &[writes, reads]);
    lock.execute_batch("BEGIN IMMEDIATE").expect("the lock is free");
    let late = fleetfoot.send("POST", "/", "Content-Length: 0");
    assert_eq!((late.status, late.field("fleetfoot-error")), (504, Some("source-timeout")), "{late:?}");
    assert_complete(&fleetfoot.get("/"), r#"{"it":1}"#);
    lock.execute_batch("ROLLBACK").expect("there is a transaction");
    assert_eq!(fleetfoot.send("POST", "/", "Content-Length: 0").status, 200);
    assert_complete(&fleetfoot.get("/"), r#"{"it":2}"#);
}

/// Two places, and queries that last: who waits too long, or finds the queue full, is told to come back.
#[test]
fn who_finds_no_connection_is_told_to_come_back() {
    let database = mariadb();
    let sources = [
        format!("slow: {}", sql(&database.url(), ", pool: 1, wait: 300ms")),
        format!("full: {}", sql(&database.url(), ", pool: 1, queue: 0")),
    ];
    let mut all = Vec::new();
    for name in ["slow", "full"] {
        all.push(format!(
            "match: GET /{name}, compose: {{ it: {{ {name}: \"SELECT SLEEP(30), '{name}'\" }} }}"
        ));
        all.extend(routes(&format!("{name}_too"), &format!("{name}: SELECT '{HIDDEN}'")));
    }
    let fleetfoot = composing(&refs(&sources), &refs(&all));
    for name in ["slow", "full"] {
        let mut first = fleetfoot.connect();
        first.send(format!("GET /{name} HTTP/1.1\r\nHost: example.test\r\n\r\n"));
        wait_until("asked", || database.running().iter().any(|statement| statement.contains(name)));
        assert_fails(&fleetfoot, &format!("{name}_too"), 503, "overloaded");
    }
}
