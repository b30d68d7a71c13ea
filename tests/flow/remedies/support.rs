//! What the stories of this folder begin with: one policy on a route, on a source and on a step of a compose.

use testkit::{Fleetfoot, Origin};

use crate::composing::support::config_with;

/// The targets of [`everywhere`], and where the policy of each stands.
pub(crate) const EVERYWHERE: [(&str, &str); 3] =
    [("/route", "on a route"), ("/source", "on a source"), ("/step", "on a step")];

/// Three routes to the same origin, which is asked for `/asked` by each: one has the policy itself, one goes to a source
/// that has it, and one has a step that has it.
pub(crate) fn everywhere(origin: &Origin, policy: &str) -> Fleetfoot {
    let url = origin.url();
    let sources = [format!("plain: \"{url}\""), format!("wrapped: {{ http: \"{url}\", use: p }}")];
    let routes = [
        "match: /route, proxy: plain, use: p",
        "match: /source, proxy: wrapped",
        "match: GET /step, compose: { it: { plain: GET /step, use: p } }, respond: \"${it}\"",
    ];
    with_policy(policy, &[&sources[0], &sources[1]], &routes)
}

/// A fleetfoot with these sources and routes, and a policy `p`.
pub(crate) fn with_policy(policy: &str, sources: &[&str], routes: &[&str]) -> Fleetfoot {
    let top = format!("cores: 1\npolicies: {{ p: {{ {policy} }} }}");
    Fleetfoot::start(&config_with(&top, sources, routes))
}

/// How often a remedy did something with a call, wherever it stands.
pub(crate) fn times(fleetfoot: &Fleetfoot, remedy: &str, outcome: &str) -> u64 {
    let labels = [format!("remedy=\"{remedy}\""), format!("outcome=\"{outcome}\"")];
    fleetfoot.metrics().sum("fleetfoot_remedies_total", &labels.each_ref().map(String::as_str)) as u64
}
