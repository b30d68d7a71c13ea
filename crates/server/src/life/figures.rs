//! Figures: what is counted of databases, of modules, and of routes with many calls. Called by `control` when somebody asks
//! for metrics.

use std::sync::atomic::Ordering;

use source::Source;
use telemetry::Family;

use crate::walk::composition::Counters;
use crate::walk::running::Running;

/// How a figure of one is read.
type Of<T> = (&'static str, &'static str, bool, fn(&T) -> u64);

/// Everything that is counted of these.
pub(crate) fn families(running: &Running) -> Vec<Family> {
    const GAUGE: bool = false;
    const COUNTER: bool = true;
    let databases: [Of<sql::Figures>; 11] = [
        ("sql_connections", "Connections to a database; of SQLite: threads", GAUGE, |of| of.open),
        ("sql_connections_in_use", "Of these, those that carry out a statement", GAUGE, |of| of.in_use),
        ("sql_waiting", "Queries that wait for a connection", GAUGE, |of| of.waiting),
        ("sql_connects", "Connections made to a database", COUNTER, |of| of.connects),
        ("sql_connect_failures", "Attempts to connect that failed", COUNTER, |of| of.unconnected),
        ("sql_queries", "Statements sent to a database", COUNTER, |of| of.queries),
        ("sql_failures", "Of these, those that failed", COUNTER, |of| of.failed),
        ("sql_cancelled", "Statements stopped in the database", COUNTER, |of| of.cancelled),
        ("sql_refused", "Queries that got no connection: queue full, or time up", COUNTER, |of| {
            of.refused + of.unserved
        }),
        ("sql_batches", "Statements that looked up keys of one caller or several", COUNTER, |of| of.batches),
        ("sql_batched_keys", "Keys that these looked up", COUNTER, |of| of.keys),
    ];
    let modules: [Of<wasm::Figures>; 7] = [
        ("wasm_running", "Calls of a module that compute now", GAUGE, |of| of.running as u64),
        ("wasm_waiting", "Calls that wait for a thread", GAUGE, |of| of.waiting as u64),
        ("wasm_calls", "Calls of a module", COUNTER, |of| of.calls),
        ("wasm_failures", "Of these, those that gave nothing usable", COUNTER, |of| of.failed),
        ("wasm_timeouts", "Of these, those that computed for too long", COUNTER, |of| of.timed_out),
        ("wasm_refused", "Calls refused, the queue being full", COUNTER, |of| of.refused),
        ("wasm_cancelled", "Calls given up by whoever asked", COUNTER, |of| of.cancelled),
    ];
    let routes: [Of<Counters>; 8] = [
        ("compose_calls", "Calls that steps asked for", COUNTER, |of| of.calls.load(Ordering::Relaxed)),
        ("compose_deduped", "Of these, those that their request had made already", COUNTER, |of| {
            of.deduped.load(Ordering::Relaxed)
        }),
        ("compose_coalesced", "Of these, those that another request had under way", COUNTER, |of| {
            of.coalesced.load(Ordering::Relaxed)
        }),
        ("compose_incomplete", "Responses in which something stands in for a step", COUNTER, |of| {
            of.incomplete.load(Ordering::Relaxed)
        }),
        ("compose_steps_given", "Steps that gave a value", COUNTER, |of| of.given.load(Ordering::Relaxed)),
        ("compose_steps_left_out", "Steps whose `when` did not hold", COUNTER, |of| {
            of.left_out.load(Ordering::Relaxed)
        }),
        ("compose_steps_stale", "Steps that gave what they gave before", COUNTER, |of| {
            of.stale.load(Ordering::Relaxed)
        }),
        ("compose_steps_failed", "Steps that failed, and something stood in", COUNTER, |of| {
            of.failed.load(Ordering::Relaxed)
        }),
    ];
    let of_databases: Vec<_> = running
        .sources
        .iter()
        .filter_map(Source::sql)
        .map(|of| (of.plan().name.clone(), of.figures()))
        .collect();
    let of_modules: Vec<_> = running
        .sources
        .iter()
        .filter_map(Source::wasm)
        .map(|of| (of.plan().name.clone(), of.figures()))
        .collect();
    let of_routes: Vec<_> = running.compositions().collect();
    let mut families: Vec<Family> = databases.iter().map(|of| family(of, "source", &of_databases)).collect();
    families.extend(modules.iter().map(|of| family(of, "source", &of_modules)));
    families.extend(routes.iter().map(|(name, help, is_counter, read)| Family {
        name,
        help,
        is_counter: *is_counter,
        label: "route",
        values: of_routes.iter().map(|(route, of)| ((*route).to_owned(), read(&of.counters))).collect(),
    }));
    families
}

fn family<T>((name, help, is_counter, read): &Of<T>, label: &'static str, all: &[(String, T)]) -> Family {
    let values = all.iter().map(|(name, of)| (name.clone(), read(of))).collect();
    Family { name, help, is_counter: *is_counter, label, values }
}
