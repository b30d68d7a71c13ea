//! Of the limit and the retries of each policy.

use telemetry::Family;

use super::of_each;
use crate::walk::running::Running;

pub(super) fn families(running: &Running) -> Vec<Family> {
    let limits: Vec<_> = running.remedies.limits.iter().collect();
    let retries: Vec<_> = running.remedies.retries.iter().collect();
    let mut families = of_each(
        "policy",
        &limits,
        [
            (Family::counter("limited", "Calls refused by the limit of a policy"), |of| of.refused()),
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
    families.extend(of_each(
        "policy",
        &retries,
        [
            (Family::counter("retries", "Tries beyond the first"), |of| of.made()),
            (
                Family::counter("retries_denied", "Tries that the budget of their policy did not allow"),
                |of| of.denied(),
            ),
        ],
    ));
    families
}
