//! Servers that are slow, stop, or say nothing: every query ends in time, with an error that says why, and nothing stays
//! behind in the database.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use message::Kind;
use plan::{DatabaseServer, SqlSource, Statement};
use testkit::{MariaDb, Postgres};

use super::{ask, line, on_a_core, reads, wait_until, writes};
use crate::database::{self, Server};

/// The kind of error that a query ends with, and how long that took.
pub(crate) async fn failure(line: &sql::DatabaseLine, statement: &Statement) -> (Kind, Duration) {
    let start = Instant::now();
    let error = ask(line, statement, &[]).await.unwrap_err();
    (error.kind(), start.elapsed())
}

pub(crate) fn one_connection(plan: SqlSource) -> SqlSource {
    SqlSource { pool: 1, ..plan }
}

async fn late_and_unwanted_statements_are_stopped<S: Server>() {
    let shared = S::one_by_one();
    let (server, _turn) = (&shared.server, shared.turn.lock().await);
    let plan = SqlSource { timeout: Duration::from_millis(500), ..one_connection(server.plan()) };
    let line = line(plan);
    let figures = line.shared().clone();
    let (kind, took) = failure(&line, &reads(S::SLOW)).await;
    assert_eq!(kind, Kind::SourceTimeout);
    assert!(took < Duration::from_secs(2), "{took:?}");
    wait_until("stopped after its time", || server.running().is_empty()).await;

    let (asker, slow) = (line.clone(), reads(S::SLOW));
    let asks = tokio::task::spawn_local(async move { drop(asker.query(&slow, &[]).await) });
    wait_until("running", || !server.running().is_empty()).await;
    asks.abort();
    wait_until("stopped after its drop", || server.running().is_empty()).await;
    // The only place in the pool is free again.
    assert_eq!(ask(&line, &reads("SELECT 1 AS a"), &[]).await.unwrap(), r#"[{"a":1}]"#);
    let figures = figures.figures();
    assert_eq!((figures.cancelled, figures.timed_out, figures.in_use, figures.open), (2, 1, 0, 1));
    wait_until("one connection", || server.connections() == 1).await;
}

#[test]
fn late_and_unwanted_statements_are_stopped_in_mariadb() {
    on_a_core(late_and_unwanted_statements_are_stopped::<MariaDb>());
}

#[test]
fn late_and_unwanted_statements_are_stopped_in_postgresql() {
    on_a_core(late_and_unwanted_statements_are_stopped::<Postgres>());
}

async fn a_stopped_server_is_told_at_once_and_comes_back<S: Server>() {
    let shared = S::one_by_one();
    let (server, _turn) = (&shared.server, shared.turn.lock().await);
    server.execute("CREATE TABLE stopped (id INT PRIMARY KEY); INSERT INTO stopped VALUES (1)");
    let line = line(one_connection(server.plan()));
    let (read, write) =
        (reads("SELECT id FROM stopped"), writes("INSERT INTO stopped SELECT MAX(id) + 1 FROM stopped"));
    ask(&line, &read, &[]).await.unwrap();
    server.stop();
    for _ in 0..3 {
        let (kind, took) = failure(&line, &read).await;
        assert_eq!(kind, Kind::Connect);
        assert!(took < Duration::from_secs(1), "{took:?}");
    }
    server.restart();
    assert_eq!(ask(&line, &read, &[]).await.unwrap(), r#"[{"id":1}]"#);

    // Its idle connection is broken now: reads are sent again, and writes look first.
    server.end_connections();
    assert_eq!(ask(&line, &read, &[]).await.unwrap(), r#"[{"id":1}]"#);
    server.restart();
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert_eq!(ask(&line, &write, &[]).await.unwrap(), "[]");
    assert_eq!(ask(&line, &read, &[]).await.unwrap(), r#"[{"id":1},{"id":2}]"#);
}

#[test]
fn a_stopped_mariadb_is_told_at_once_and_comes_back() {
    on_a_core(a_stopped_server_is_told_at_once_and_comes_back::<MariaDb>());
}

#[test]
fn a_stopped_postgresql_is_told_at_once_and_comes_back() {
    on_a_core(a_stopped_server_is_told_at_once_and_comes_back::<Postgres>());
}

async fn a_restart_under_load_is_told_and_over<S: Server>() {
    let shared = S::one_by_one();
    let (server, _turn) = (&shared.server, shared.turn.lock().await);
    let line = line(SqlSource { pool: 3, ..server.plan() });
    let is_over = Rc::new(Cell::new(false));
    let readers: Vec<_> = (0..6)
        .map(|_| {
            let (line, is_over) = (line.clone(), Rc::clone(&is_over));
            tokio::task::spawn_local(async move {
                let (read, mut failures) = (reads("SELECT 1 AS a"), Vec::new());
                while !is_over.get() {
                    match ask(&line, &read, &[]).await {
                        Ok(answer) => assert_eq!(answer, r#"[{"a":1}]"#),
                        Err(error) => failures.push(error),
                    }
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                failures
            })
        })
        .collect();
    wait_until("under load", || line.shared().figures().queries > 50).await;
    // On a thread of its own, so that the readers go on.
    let restarting = Arc::clone(&shared);
    tokio::task::spawn_blocking(move || restarting.server.restart()).await.unwrap();
    let before = line.shared().figures().queries;
    wait_until("under load again", || line.shared().figures().queries > before + 50).await;
    is_over.set(true);
    for reader in readers {
        for error in reader.await.unwrap() {
            assert!(matches!(error.kind(), Kind::Connect | Kind::BrokeOff), "{error:?}");
        }
    }
    assert_eq!(ask(&line, &reads("SELECT 1 AS a"), &[]).await.unwrap(), r#"[{"a":1}]"#);
}

#[test]
fn a_restart_of_mariadb_under_load_is_told_and_over() {
    on_a_core(a_restart_under_load_is_told_and_over::<MariaDb>());
}

#[test]
fn a_restart_of_postgresql_under_load_is_told_and_over() {
    on_a_core(a_restart_under_load_is_told_and_over::<Postgres>());
}

async fn a_silent_server_costs_the_timeout_and_no_more<S: Server>() {
    let shared = S::one_by_one();
    let (server, _turn) = (&shared.server, shared.turn.lock().await);
    let limit = Duration::from_millis(400);
    let plan =
        SqlSource { timeout: limit, connect_timeout: limit, wait: limit, ..one_connection(server.plan()) };
    let line = line(plan);
    let read = reads("SELECT 1 AS a");
    ask(&line, &read, &[]).await.unwrap();
    server.pause();
    assert_eq!(failure(&line, &read).await.0, Kind::SourceTimeout);
    // The place in the pool is kept while the statement is being stopped, for two seconds at most.
    let mut kinds = Vec::new();
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(2_600) {
        let (kind, took) = failure(&line, &read).await;
        assert!(took < Duration::from_secs(1), "{took:?}");
        if kinds.last() != Some(&kind) {
            kinds.push(kind);
        }
    }
    assert_eq!(kinds, [Kind::Overloaded, Kind::ConnectTimeout]);
    let core = tokio::runtime::Handle::current();
    wait_until("nothing left to do", || core.metrics().num_alive_tasks() == 0).await;
    server.resume();
    assert_eq!(ask(&line, &read, &[]).await.unwrap(), r#"[{"a":1}]"#);
    wait_until("one connection", || server.connections() == 1).await;
}

#[test]
fn a_silent_mariadb_costs_the_timeout_and_no_more() {
    on_a_core(a_silent_server_costs_the_timeout_and_no_more::<MariaDb>());
}

#[test]
fn a_silent_postgresql_costs_the_timeout_and_no_more() {
    on_a_core(a_silent_server_costs_the_timeout_and_no_more::<Postgres>());
}

async fn who_finds_no_connection_is_told<S: Server>(server: &S) {
    let plan = SqlSource { queue: 1, wait: Duration::from_millis(100), ..one_connection(server.plan()) };
    let line = line(plan);
    let slow = reads(S::SLOW);
    let holder = line.clone();
    let holds = tokio::task::spawn_local(async move { drop(holder.query(&slow, &[]).await) });
    wait_until("held", || line.shared().figures().in_use == 1).await;
    let read = reads("SELECT 1");
    let waits = tokio::task::spawn_local({
        let (line, read) = (line.clone(), read.clone());
        async move { line.query(&read, &[]).await.unwrap_err() }
    });
    wait_until("waiting", || line.shared().figures().waiting == 1).await;
    let (kind, took) = failure(&line, &read).await;
    assert_eq!(kind, Kind::Overloaded);
    assert!(took < Duration::from_millis(50), "{took:?}");
    let error = waits.await.unwrap();
    assert_eq!(error.kind(), Kind::Overloaded);
    assert!(error.detail().contains("no connection became free in time"), "{error}");
    let figures = line.shared().figures();
    assert_eq!((figures.refused, figures.unserved, figures.waiting), (1, 1, 0));
    holds.abort();
    drop(holds.await);
    wait_until("free", || line.shared().figures().in_use == 0).await;
}

#[test]
fn who_finds_no_connection_to_a_server_is_told() {
    let (mariadb, postgresql) = (database::mariadb(), database::postgresql());
    on_a_core(async {
        who_finds_no_connection_is_told(&*mariadb).await;
        who_finds_no_connection_is_told(&*postgresql).await;
    });
}

async fn thousands_of_queries_leave_nothing_behind<S: Server>() {
    let shared = S::one_by_one();
    let (server, _turn) = (&shared.server, shared.turn.lock().await);
    server.execute("CREATE TABLE thousands (id INT PRIMARY KEY); INSERT INTO thousands VALUES (1), (2), (3)");
    let line = line(SqlSource { pool: 3, ..server.plan() });
    let tasks: Vec<_> = (0..10)
        .map(|task| {
            let line = line.clone();
            tokio::task::spawn_local(async move {
                for turn in 0..200 {
                    // Some want one list after the other, some statements that are wrong, some leave.
                    let list = super::ints(0..turn % 9);
                    ask(&line, &reads("SELECT id FROM thousands WHERE id IN (?)"), &[list]).await.unwrap();
                    match (task, turn % 50) {
                        (0, 0) => {
                            drop(ask(&line, &reads("SELECT nothing FROM nowhere"), &[]).await.unwrap_err());
                        }
                        (1, 0) => {
                            let slow = reads(S::SLOW);
                            drop(
                                tokio::time::timeout(Duration::from_millis(5), line.query(&slow, &[])).await,
                            );
                        }
                        _ => {}
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    wait_until("all stopped", || server.running().is_empty() && line.shared().figures().in_use == 0).await;
    wait_until("at most three connections", || server.connections() <= 3).await;
    let figures = line.shared().figures();
    assert_eq!((figures.waiting, figures.open), (0, server.connections() as u64));
    assert!(figures.connects <= 3 + 4, "{figures:?}");
    let of_line = line.shared().clone();
    drop(line);
    wait_until("none open", || of_line.figures().open == 0 && server.connections() == 0).await;
}

#[test]
fn thousands_of_queries_leave_nothing_behind_in_mariadb() {
    on_a_core(thousands_of_queries_leave_nothing_behind::<MariaDb>());
}

#[test]
fn thousands_of_queries_leave_nothing_behind_in_postgresql() {
    on_a_core(thousands_of_queries_leave_nothing_behind::<Postgres>());
}

#[test]
fn too_large_an_answer_is_refused_and_stopped() {
    let (mariadb, postgresql) = (database::mariadb(), database::postgresql());
    let (_folder, sqlite) = database::sqlite("");
    on_a_core(async {
        let row = "SELECT REPEAT('x', 1000000) AS a";
        let rows = format!("{row}{}", format!(" UNION ALL {row}").repeat(9));
        let large = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000)
            SELECT printf('%1000d', i) AS a FROM n";
        for (plan, rows) in
            [(database::mysql(&mariadb), &*rows), (database::postgres(&postgresql), &*rows), (sqlite, large)]
        {
            let line = line(one_connection(plan));
            let error = ask(&line, &reads(rows), &[]).await.unwrap_err();
            assert_eq!(error.kind(), Kind::UnusableReply);
            assert!(error.detail().contains("larger than 8 MiB"), "{error}");
            assert_eq!(ask(&line, &reads("SELECT 1 AS a"), &[]).await.unwrap(), r#"[{"a":1}]"#);
        }
        // A single value that is larger than what a packet may be.
        let line = line(one_connection(database::mysql(&mariadb)));
        let value = "SELECT CONCAT(REPEAT('x', 15000000), REPEAT('x', 15000000)) AS a";
        let error = ask(&line, &reads(value), &[]).await;
        assert!(
            error.as_ref().is_err_and(|error| error.kind() == Kind::UnusableReply)
                || error.unwrap().contains("null")
        );
        assert_eq!(ask(&line, &reads("SELECT 1 AS a"), &[]).await.unwrap(), r#"[{"a":1}]"#);
    });
}

#[test]
fn with_a_wrong_password_there_is_no_connection_and_it_is_not_shown() {
    let (mariadb, postgresql) = (database::mariadb(), database::postgresql());
    on_a_core(async {
        let wrong = |server: DatabaseServer| DatabaseServer {
            password: Some(plan::Token::new("hunter2".to_owned())),
            ..server
        };
        for database in [
            plan::Database::MySql(wrong(database::server(mariadb.port()))),
            plan::Database::Postgres(wrong(database::server(postgresql.port()))),
        ] {
            let error = ask(&line(database::plan(database)), &reads("SELECT 1"), &[]).await.unwrap_err();
            assert_eq!(error.kind(), Kind::Connect);
            assert!(!format!("{error:?}").contains("hunter2"), "{error}");
        }
    });
}
