//! Of each route with many calls.

use std::sync::atomic::Ordering::Relaxed;

use telemetry::Family;

use super::of_each;
use crate::walk::running::Running;

pub(super) fn families(running: &Running) -> Vec<Family> {
    let all: Vec<_> = running.compositions().map(|(route, of)| (route, &*of.counters)).collect();
    of_each(
        "route",
        &all,
        [
            (Family::counter("compose_calls", "Calls that steps asked for"), |of| of.calls.load(Relaxed)),
            (
                Family::counter("compose_deduped", "Of these, those that their request had made already"),
                |of| of.deduped.load(Relaxed),
            ),
            (
                Family::counter("compose_coalesced", "Of these, those that another request had under way"),
                |of| of.coalesced.load(Relaxed),
            ),
            (
                Family::counter("compose_incomplete", "Responses in which something stands in for a step"),
                |of| of.incomplete.load(Relaxed),
            ),
            (Family::counter("compose_steps_given", "Steps that gave a value"), |of| of.given.load(Relaxed)),
            (Family::counter("compose_steps_left_out", "Steps whose `when` did not hold"), |of| {
                of.left_out.load(Relaxed)
            }),
            (Family::counter("compose_steps_stale", "Steps that gave what they gave before"), |of| {
                of.stale.load(Relaxed)
            }),
            (Family::counter("compose_steps_failed", "Steps that failed, and something stood in"), |of| {
                of.failed.load(Relaxed)
            }),
        ],
    )
}
