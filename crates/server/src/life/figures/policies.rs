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
    let states = running.remedies.breakers.iter().flat_map(|(policy, breakers)| {
        let of = move |([source, target], is_open): ([String; 2], bool)| {
            ([policy.to_owned(), source, target], u64::from(is_open))
        };
        breakers.states().into_iter().map(of)
    });
    let states: Vec<_> = states.collect();
    if !states.is_empty() {
        let open =
            Family::gauge("breaker_open", "1 while the breaker of a policy lets no call to this target");
        families.push(open.by(["policy", "source", "target"], states));
    }
    let counts = running.remedies.tally.counts();
    if !counts.is_empty() {
        let remedies = Family::counter("remedies", "Calls that a policy did something about");
        families.push(remedies.by(["route", "policy", "remedy", "outcome"], counts));
    }
    families
}
