//! Of what policies wrap calls with.

use telemetry::Family;

use super::of_each;
use crate::walk::running::Running;

pub(super) fn families(running: &Running) -> Vec<Family> {
    let limits: Vec<_> = running.remedies.limits.iter().collect();
    let mut families = of_each(
        "policy",
        &limits,
        [
            (Family::gauge("limit_keys", "Values of `per` that a limit counts apart now"), |of| of.keys()),
            (
                Family::counter(
                    "limit_keys_evicted",
                    "Values of `per` dropped before their quota was whole again",
                ),
                |of| of.evicted(),
            ),
        ],
    );
    let counts = running.remedies.tally.counts();
    if !counts.is_empty() {
        let remedies = Family::counter("remedies", "Calls that a policy did something about");
        families.push(remedies.by(["route", "policy", "remedy", "outcome"], counts));
    }
    families
}
