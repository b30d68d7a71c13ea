//! Uses: `use` of a route, a source or a step → what wraps its call, outermost first, and whom it lets in. Called by `check`
//! for sources, and by `routes` for routes and steps.

use std::sync::Arc;

use crate::default;
use crate::known::Known;
use crate::meant::{Asker, Auth, Decides, Layer, Layers, Signed, SourceId, Undone};
use crate::yaml::fault::{Report, quoted};
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;

/// What the policies of one `use` say together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    /// In the written order.
    pub(crate) layers: Layers,
    /// How requests must be signed.
    pub(crate) signed: Option<Arc<Signed>>,
    /// Who may ask.
    pub(crate) auth: Vec<Arc<Auth>>,
}

/// Reads a `use`: each policy in the written order, and at most one of them that caches, hedges, retries, authenticates, signs or says
/// which pages may read. One that counts calls stands there once.
pub(crate) fn uses(node: Node<'_>, known: &Known<'_>, report: &mut Report) -> Used {
    let mut used = Used::default();
    for item in value::one_or_more(node, report) {
        let Some(policy) = known.policies.find(item, "policy", |_| true, report) else { continue };
        let twice = [
            ("how to cache", used.layers.cache().map(|cache| cache.name.as_str()), {
                policy.layers.cache().map(|cache| cache.name.as_str())
            }),
            ("how to hedge", used.layers.repeating_by("hedge"), policy.layers.repeating_by("hedge")),
            ("how to retry", used.layers.repeating_by("retry"), policy.layers.repeating_by("retry")),
            ("how to authenticate", used.layers.credentials(), policy.layers.credentials()),
            ("how to sign", used.signed.as_deref().map(|signed| signed.name.as_str()), {
                policy.signed.as_deref().map(|signed| signed.name.as_str())
            }),
            ("which pages may read", used.layers.cors().map(|cors| cors.name.as_str()), {
                policy.layers.cors().map(|cors| cors.name.as_str())
            }),
        ];
        let twice = twice.into_iter().find_map(|(what, first, second)| Some((what, first?, second?)));
        if let Some((what, first, second)) = twice {
            let cause = format!("{} and {} both say {what}", quoted(first), quoted(second));
            report.at(item, cause, "use one of them");
            continue;
        }
        if let Some((word, name)) = used.layers.counts_twice(&policy.layers) {
            let cause =
                format!("{} is named twice, and its `{word}` would count each call twice", quoted(name));
            report.at(item, cause, "name it once");
            continue;
        }
        if let (Some(outer), Some(cache)) = (used.layers.credentials(), policy.layers.cache()) {
            let cause =
                format!("{} authenticates outside of {}, which caches", quoted(outer), quoted(&cache.name));
            report.at(
                item,
                cause,
                "name the policy that caches first: it keeps what is fetched with the credentials",
            );
        }
        used.layers.extend(&policy.layers);
        if policy.signed.is_some() {
            used.signed.clone_from(&policy.signed);
        }
        used.auth.extend(policy.auth.clone());
    }
    used
}

/// Puts what wraps a source inside of what is used around a call to it, and says what makes no sense of the two together. `node`
/// is where that is used, or the place of the call; `asker` is whose call it is.
pub(crate) fn onto(used: &mut Layers, source: &Layers, asker: Asker, node: Node<'_>, report: &mut Report) {
    let twice = used.repeating().find_map(|(word, first)| Some((word, first, source.repeating_by(word)?)));
    if let Some((word, first, second)) = twice {
        let cause = format!(
            "{} has `{word}`, and so has {} around the source: their tries multiply",
            quoted(first),
            quoted(second)
        );
        report.at(node, cause, "take one of them out");
    }
    if let Some((word, name)) = used.counts_twice(source) {
        let cause = format!(
            "{} is also around the source, and its `{word}` would count each call twice",
            quoted(name)
        );
        report.at(node, cause, "take one of them out");
    }
    if let (Some(first), Some(second)) = (used.credentials(), source.credentials()) {
        let cause =
            format!("{} authenticates, and so does {} around the source", quoted(first), quoted(second));
        report.at(node, cause, "take one of them out");
    } else if let (Some(outer), Some(cache)) = (used.credentials(), source.cache()) {
        // What it keeps is for whoever asks the source, with whatever credentials.
        let cause = format!(
            "{} authenticates outside of {}, which caches around the source",
            quoted(outer),
            quoted(&cache.name)
        );
        report.at(node, cause, "put both on the source, or both here");
    }
    let own = used.iter().count();
    let outer = used.cache().map(|cache| cache.name.clone());
    used.extend(source);
    if let Some(cors) = used.cors_behind_cache() {
        let cause = format!(
            "{} says who may read, and stands behind a cache, which keeps that for others",
            quoted(&cors.name)
        );
        report.at(node, cause, "name it before the policy that caches");
    }
    if let Some(undone) = used.undone() {
        let before = "name it before the policy that authenticates";
        let (cause, remedy) = match undone {
            Undone::Field(name, field) => (
                format!(
                    "{} changes {}, which credentials outside of it have set",
                    quoted(name),
                    quoted(field.as_str())
                ),
                before,
            ),
            Undone::Query(name) => (
                format!(
                    "{} asks for a query of its own, without what credentials outside of it have put there",
                    quoted(name)
                ),
                before,
            ),
            Undone::Replaced(name, field) => (
                format!(
                    "{} sets {}, which credentials inside of it replace",
                    quoted(name),
                    quoted(field.as_str())
                ),
                "take that field out of `headers`",
            ),
        };
        report.at(node, cause, remedy);
    }
    if let Some((name, verb)) = used.reads_rewritten(asker) {
        let cause = format!(
            "{} {verb} the path, and a policy inside of it reads `path.NAME`, which is of the path as it came",
            quoted(name)
        );
        report.at(node, cause, "name that policy before the one that rewrites");
    }
    of_nobody(used, (own, outer.as_deref()), asker, node, report);
}

/// Says what goes by who asks behind a cache, where that is nobody. `own`: how many layers do not stand on the source; `outer`: what
/// the cache among these is called.
fn of_nobody(
    used: &Layers,
    (own, outer): (usize, Option<&str>),
    asker: Asker,
    node: Node<'_>,
    report: &mut Report,
) {
    let apart = |at: usize, what: &str| match outer {
        Some(default::STALE) => format!("take `stale` out of `on_error`, or {what} out of the policy"),
        // It cannot be moved before a cache that stands here.
        Some(_) if at >= own => {
            format!(
                "put {what} into a policy of its own, and use that here instead of on the source, before the one that caches"
            )
        }
        _ => format!("put {what} into a policy of its own, and name it before the one that caches"),
    };
    if let Some((at, layer)) = used.answer_of_nobody(asker) {
        let (word, policy) = (quoted(layer.word()), quoted(layer.policy()));
        let cause = format!(
            "an expression in {word} of {policy} depends on who asks, and behind a cache nobody knows: one response is for many"
        );
        // What a step asks says nothing of the client, so no key holds it.
        let is_clients = asker == Asker::Step && layer.reads_client_of(asker);
        let otherwise =
            if is_clients { "" } else { "; or let the cache's `key` or `bypass` name what it reads" };
        report.at(node, cause, apart(at, &word) + otherwise);
    }
    if let Some((at, layer, decides)) = used.owner_of_nobody() {
        let does = if decides == Decides::Turn { "orders its `queue`" } else { "counts" };
        let cause = format!(
            "{} {does} by who asks, and behind a cache nobody knows: one fetch is for many",
            quoted(layer.policy())
        );
        let what =
            if matches!(layer, Layer::Limit { .. }) { "the limit".to_owned() } else { quoted(layer.word()) };
        report.at(node, cause, apart(at, &what));
    }
}

/// Refuses credentials around what is no request over HTTP. `what` is that.
pub(crate) fn without_credentials(used: &Layers, what: &str, node: Node<'_>, report: &mut Report) {
    if let Some(name) = used.credentials() {
        let cause = format!("{} authenticates requests over HTTP, and this is {what}", quoted(name));
        report.at(node, cause, "put it on an origin, or on what asks one");
    }
}

/// Says what makes no sense around calls that give values instead of responses.
pub(crate) fn of_values(layers: &Layers, node: Node<'_>, report: &mut Report) {
    if let Some(word) = layers.of_requests() {
        let cause = format!("{} is for requests over HTTP, and this call gives a value", quoted(word));
        report.at(node, cause, "use that policy on a route, or on a source over HTTP");
    }
}

/// What wraps the calls to each source, in their order.
pub(crate) fn of_sources(sources: &[Node<'_>], known: &Known<'_>, report: &mut Report) -> Vec<Layers> {
    let of_source = |source: &Node<'_>| {
        let Shape::Map(entries) = source.shape() else { return Layers::default() };
        let Some(node) = entries.into_iter().find(|entry| entry.key() == "use") else {
            return Layers::default();
        };
        let used = uses(node, known, report);
        if used.signed.is_some() {
            report.at(
                node,
                "a source cannot be signed: clients ask for routes",
                "use that policy on the route",
            );
        }
        if let Some(cors) = used.layers.cors() {
            let cause = format!("{} is for browsers, which ask for routes", quoted(&cors.name));
            report.at(node, cause, "use that policy on the route");
        }
        if known.source(source.key()).is_some_and(|source| !source.is_http()) {
            without_credentials(&used.layers, "no origin", node, report);
            of_values(&used.layers, node, report);
        }
        if !used.auth.is_empty() {
            report.at(
                node,
                "a source lets nobody in: clients ask for routes",
                "use that policy on the route",
            );
        }
        used.layers.of_source()
    };
    sources.iter().map(of_source).collect()
}

impl Known<'_> {
    /// What wraps the calls to a source, wherever they come from.
    pub(crate) fn around(&self, source: SourceId) -> &Layers {
        &self.around[source.place()]
    }
}
