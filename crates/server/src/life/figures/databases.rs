//! Of each database.

use source::Source;
use telemetry::Family;

use super::of_each;
use crate::walk::running::Running;

pub(super) fn families(running: &Running) -> Vec<Family> {
    let all: Vec<_> = running
        .sources
        .iter()
        .filter_map(Source::sql)
        .map(|database| (database.plan().name.as_str(), database.figures()))
        .collect();
    of_each(
        "source",
        &all,
        [
            (Family::gauge("sql_connections", "Connections to a database; of SQLite: threads"), |of| of.open),
            (Family::gauge("sql_connections_in_use", "Of these, those that carry out a statement"), |of| {
                of.in_use
            }),
            (Family::gauge("sql_waiting", "Queries that wait for a connection"), |of| of.waiting),
            (Family::counter("sql_connects", "Connections made to a database"), |of| of.connects),
            (Family::counter("sql_connect_failures", "Attempts to connect that failed"), |of| of.unconnected),
            (Family::counter("sql_queries", "Statements sent to a database"), |of| of.queries),
            (Family::counter("sql_failures", "Of these, those that failed"), |of| of.failed),
            (Family::counter("sql_cancelled", "Statements stopped in the database"), |of| of.cancelled),
            (
                Family::counter("sql_refused", "Queries that got no connection: queue full, or time up"),
                |of| of.refused + of.unserved,
            ),
            (
                Family::counter("sql_batches", "Statements that looked up keys of one caller or several"),
                |of| of.batches,
            ),
            (Family::counter("sql_batched_keys", "Keys that these looked up"), |of| of.keys),
        ],
    )
}
