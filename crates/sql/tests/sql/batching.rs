//! Look-ups of several callers become one, and each gets what it would have got alone.

use expression::Parameter;
use message::Kind;
use plan::{Batch, SqlSource, Statement};
use sql::DatabaseLine;

use super::{ask, int, line, on_a_core, reads, text, wait_until};
use crate::database;

pub(crate) fn batched(statement: Statement, column: &str) -> Statement {
    Statement { batch: Some(Batch { parameter: 0, column: column.to_owned() }), ..statement }
}

pub(crate) fn look_up() -> Statement {
    batched(reads("SELECT id, title FROM t WHERE id IN (?) ORDER BY title"), "id")
}

/// All at the same time.
pub(crate) async fn together(
    line: &DatabaseLine,
    statement: &Statement,
    all: &[Vec<Parameter>],
) -> Vec<message::Result<String>> {
    let tasks: Vec<_> = all
        .iter()
        .map(|parameters| {
            let (line, statement, parameters) = (line.clone(), statement.clone(), parameters.clone());
            tokio::task::spawn_local(async move { ask(&line, &statement, &parameters).await })
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}

#[test]
fn a_hundred_look_ups_cost_the_database_a_few_statements() {
    let (mariadb, postgresql) = (database::mariadb(), database::postgresql());
    let rows: Vec<_> = (0..100).map(|id| format!("({id}, 'title {id}')")).collect();
    let tables =
        format!("CREATE TABLE t (id INT PRIMARY KEY, title TEXT); INSERT INTO t VALUES {}", rows.join(","));
    mariadb.execute(&tables);
    postgresql.execute(&tables);
    let (_folder, sqlite) = database::sqlite(&tables);
    on_a_core(async {
        for plan in [database::mysql(&mariadb), database::postgres(&postgresql), sqlite] {
            let line = line(plan);
            ask(&line, &look_up(), &[int(0)]).await.unwrap();
            let before = line.shared().figures();
            let all: Vec<_> = (0..100).map(|id| vec![text(&id.to_string())]).collect();
            let answers = together(&line, &look_up(), &all).await;
            for (id, answer) in answers.into_iter().enumerate() {
                assert_eq!(answer.unwrap(), format!(r#"[{{"id":{id},"title":"title {id}"}}]"#));
            }
            let after = line.shared().figures();
            // The first goes at once, the others when it returns or after a millisecond.
            assert!(after.queries - before.queries <= 8, "{after:?}");
            assert_eq!(after.queries - before.queries, after.batches - before.batches);
            assert_eq!(after.keys - before.keys, 100);
        }
    });
}

#[test]
fn a_key_that_does_not_fit_fails_its_own_caller_only() {
    let postgresql = database::postgresql();
    postgresql.execute("CREATE TABLE small (id INT PRIMARY KEY); INSERT INTO small VALUES (1), (2)");
    on_a_core(async {
        let line = line(database::postgres(&postgresql));
        let statement = batched(reads("SELECT id FROM small WHERE id IN (?)"), "id");
        let all = [1_i64, 2, 3_000_000_000, 3].map(|key| vec![text(&key.to_string())]);
        let mut answers = together(&line, &statement, &all).await.into_iter();
        assert_eq!(answers.next().unwrap().unwrap(), r#"[{"id":1}]"#);
        assert_eq!(answers.next().unwrap().unwrap(), r#"[{"id":2}]"#);
        assert_eq!(answers.next().unwrap().unwrap_err().kind(), Kind::MalformedRequest);
        assert_eq!(answers.next().unwrap().unwrap(), "[]");
    });
}

#[test]
fn who_leaves_stops_nobody_else_but_the_last_one_does() {
    let postgresql = testkit::Postgres::start();
    postgresql.execute("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 9)");
    on_a_core(async {
        let line = line(SqlSource { pool: 2, ..database::postgres(&postgresql) });
        let slow = batched(reads("SELECT id FROM t, pg_sleep(0.3) WHERE id IN (?)"), "id");
        let start = |key: i64| {
            let (line, slow) = (line.clone(), slow.clone());
            tokio::task::spawn_local(async move { ask(&line, &slow, &[int(key)]).await })
        };
        // One at once, and two together.
        let (first, leaves, stays) = (start(1), start(2), start(3));
        wait_until("two under way", || line.shared().figures().in_use == 2).await;
        leaves.abort();
        assert_eq!(stays.await.unwrap().unwrap(), r#"[{"id":3}]"#);
        assert_eq!(first.await.unwrap().unwrap(), r#"[{"id":1}]"#);
        assert_eq!(line.shared().figures().cancelled, 0);

        let all = [start(1), start(2), start(3)];
        wait_until("two under way", || line.shared().figures().in_use == 2).await;
        all.iter().for_each(tokio::task::JoinHandle::abort);
        wait_until("both stopped", || line.shared().figures().cancelled == 2).await;
        wait_until("nothing runs", || postgresql.running().is_empty()).await;
    });
}
