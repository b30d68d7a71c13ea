//! Of each module.

use source::Source;
use telemetry::Family;

use super::of_each;
use crate::walk::running::Running;

pub(super) fn families(running: &Running) -> Vec<Family> {
    let all: Vec<_> = running
        .sources
        .iter()
        .filter_map(Source::wasm)
        .map(|module| (module.plan().name.as_str(), module.figures()))
        .collect();
    of_each(
        "source",
        &all,
        [
            (Family::gauge("wasm_running", "Calls of a module that compute now"), |of| of.running as u64),
            (Family::gauge("wasm_waiting", "Calls that wait for a thread"), |of| of.waiting as u64),
            (Family::counter("wasm_calls", "Calls of a module"), |of| of.calls),
            (Family::counter("wasm_failures", "Of these, those that gave nothing usable"), |of| of.failed),
            (Family::counter("wasm_timeouts", "Of these, those that computed for too long"), |of| {
                of.timed_out
            }),
            (Family::counter("wasm_refused", "Calls refused, the queue being full"), |of| of.refused),
            (Family::counter("wasm_cancelled", "Calls given up by whoever asked"), |of| of.cancelled),
        ],
    )
}
