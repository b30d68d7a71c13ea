//! What a line to a database promises, tried against real ones that are started here, stopped, paused and killed.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are not inside #[test]")]

mod batching;
mod certificate;
mod database;
mod file;
mod handed_back;
mod same;
mod trouble;
mod values;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use expression::{Parameter, Scalar};
use plan::{Rows, SqlSource, Statement};
use sql::{DatabaseLine, SharedDatabase};
use tokio::runtime::{Builder, LocalOptions};

/// Runs a story as a core does: on a runtime whose futures stay on their thread.
fn on_a_core<F: Future>(story: F) -> F::Output {
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).unwrap();
    runtime.block_on(story)
}

/// A line of the only core.
fn line(plan: SqlSource) -> DatabaseLine {
    DatabaseLine::new(SharedDatabase::new(Arc::new(plan), 1).unwrap())
}

/// A statement that reads.
fn reads(text: &str) -> Statement {
    let pieces = text.split('?').map(str::to_owned).collect();
    Statement { pieces, reads: true, rows: Rows::All, batch: None }
}

fn writes(text: &str) -> Statement {
    Statement { reads: false, ..reads(text) }
}

fn text(value: &str) -> Parameter {
    Parameter::One(Scalar::Text(value.to_owned()))
}

fn int(value: i64) -> Parameter {
    Parameter::One(Scalar::Int(value))
}

fn ints(values: impl IntoIterator<Item = i64>) -> Parameter {
    Parameter::List(values.into_iter().map(Scalar::Int).collect())
}

async fn ask(
    line: &DatabaseLine,
    statement: &Statement,
    parameters: &[Parameter],
) -> message::Result<String> {
    let json = line.query(statement, parameters).await?;
    Ok(String::from_utf8(json.to_vec()).unwrap())
}

/// Looks every few milliseconds; panics with `what` after a while.
async fn wait_until(what: &str, mut reached: impl FnMut() -> bool) {
    let start = Instant::now();
    while !reached() {
        assert!(start.elapsed() < testkit::DEADLINE, "not {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
