//! Of the targets of origins: which of them requests are sent to.

use source::Source;
use telemetry::Family;

use crate::walk::running::Running;

pub(super) fn family(running: &Running) -> Family {
    let targets = running.sources.iter().filter_map(Source::http).flat_map(|origin| {
        let name = &origin.plan().name;
        origin.health().into_iter().map(move |(target, healthy)| ([name.clone(), target], healthy))
    });
    Family::gauge("target_healthy", "Whether requests are sent to a source's target (1) or not (0)")
        .by(["source", "target"], targets)
}
