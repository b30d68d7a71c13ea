//! SQLite: a file, and threads that a statement may keep busy.

use std::time::Duration;

use message::Kind;
use plan::{Rows, SqlSource, Statement};

use super::{ask, int, line, on_a_core, reads, wait_until};
use crate::database;
use crate::trouble::{failure, one_connection};

#[test]
fn a_first_row_is_enough_however_many_follow() {
    let (_folder, sqlite) = database::sqlite("");
    on_a_core(async {
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
        let first = Statement { rows: Rows::First, ..reads(endless) };
        assert_eq!(ask(&line(sqlite), &first, &[]).await.unwrap(), r#"{"i":1}"#);
    });
}

#[test]
fn sqlite_stops_late_and_unwanted_statements_and_bounds_its_queue() {
    let (_folder, sqlite) = database::sqlite("");
    on_a_core(async {
        let limit = Duration::from_millis(100);
        let line = line(SqlSource { timeout: limit, wait: limit, queue: 1, ..one_connection(sqlite) });
        let endless =
            reads("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n");
        assert_eq!(failure(&line, &endless).await.0, Kind::SourceTimeout);
        let dropped = tokio::time::timeout(limit / 2, line.query(&endless, &[])).await;
        assert!(dropped.is_err());
        wait_until("free", || line.shared().figures().in_use == 0).await;
        assert_eq!(ask(&line, &reads("SELECT ? AS a"), &[int(1)]).await.unwrap(), r#"[{"a":1}]"#);

        let holder = line.clone();
        let held = endless.clone();
        let holds =
            tokio::task::spawn_local(async move { holder.query(&held, &[]).await.unwrap_err().kind() });
        wait_until("held", || line.shared().figures().in_use == 1).await;
        let waiter = line.clone();
        let waits = tokio::task::spawn_local(async move { ask(&waiter, &reads("SELECT 1 AS a"), &[]).await });
        wait_until("waiting", || line.shared().figures().waiting == 1).await;
        assert_eq!(failure(&line, &reads("SELECT 1")).await.0, Kind::Overloaded);
        assert_eq!(holds.await.unwrap(), Kind::SourceTimeout);
        drop(waits.await.unwrap());
        assert_eq!(line.shared().figures().cancelled, 3);
    });
}

#[test]
fn a_statement_that_reads_writes_nothing_in_sqlite() {
    let (_folder, sqlite) = database::sqlite("CREATE TABLE t (id INTEGER)");
    on_a_core(async {
        let line = line(sqlite);
        let error = ask(&line, &reads("INSERT INTO t VALUES (?)"), &[int(1)]).await.unwrap_err();
        assert_eq!(error.kind(), Kind::UnusableReply);
        assert_eq!(ask(&line, &reads("SELECT id FROM t"), &[]).await.unwrap(), "[]");
    });
}

#[test]
fn a_file_that_is_no_database_is_named_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.db");
    let wrong = folder.path().join("wrong.db");
    std::fs::write(&wrong, "no database, but a text that is long enough to be taken for one ".repeat(20))
        .unwrap();
    for file in [&missing, &wrong] {
        let plan = database::plan(plan::Database::Sqlite(file.clone()));
        let Err(error) = sql::SharedDatabase::new(std::sync::Arc::new(plan), 1) else {
            panic!("it was opened")
        };
        assert!(error.detail().contains(file.to_str().unwrap()), "{error}");
    }
    assert!(!missing.exists());
}
