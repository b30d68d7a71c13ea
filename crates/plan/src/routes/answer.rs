//! Answer: `redirect` or `respond` of a route that has no source → what it gives to whatever it takes, by the words that a policy
//! has for it. Called by `routes`.

use std::sync::Arc;

use expression::Names;

use crate::known::Known;
use crate::meant::{Layer, Layers, Pattern};
use crate::policy::respond::{redirect, respond};
use crate::uses::without_credentials;
use crate::yaml::fault::{Report, quoted};
use crate::yaml::tree::Node;

/// What stands for the name of a policy in metrics. No policy is called so: names have no brackets.
const NAME: &str = "(route)";

/// Reads what is given. `pattern` is missing where it has a fault of its own.
pub(super) fn answer(
    node: Node<'_>,
    pattern: Option<&Pattern>,
    known: &Known<'_>,
    report: &mut Report,
) -> Option<Layer> {
    let segments = pattern.map(Pattern::names);
    let names = Names {
        segments: segments.as_deref(),
        knows_client: true,
        location: Some(&known.location),
        ..Names::default()
    };
    let read = if node.key() == "redirect" { redirect } else { respond };
    let answer = read(NAME, node, &names, report)?;
    if answer.when.is_some() {
        report.at_key(
            node,
            format!("{} has a `when`, and nobody answers the requests that it leaves", quoted(node.key())),
            "take `when` out, or put this into a policy on a route with a source",
        );
    }
    Some(Layer::Respond(Arc::new(answer)))
}

/// Refuses what only makes sense around a source. `node` is where it is used.
pub(super) fn without_source(layers: &Layers, node: Node<'_>, report: &mut Report) {
    without_credentials(layers, "a response of the route itself", node, report);
    if let Some(cache) = layers.cache() {
        let cause = format!("{} caches, and this route has its response at hand", quoted(&cache.name));
        report.at(node, cause, "use a policy without `cache`");
    }
}
