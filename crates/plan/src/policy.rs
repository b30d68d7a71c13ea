//! Policy: one entry of `policies` → what it wraps calls with, and whom it lets in. Called by `check` for each.

mod accounts;
mod auth;
mod breaker;
mod cache;
mod compress;
mod concurrency;
mod condition;
mod cors;
mod credentials;
mod failures;
mod faults;
mod field;
mod headers;
mod hedge;
mod key;
mod learn;
mod limit;
mod named_secrets;
mod negative;
mod queue;
pub(crate) mod respond;
mod retry;
mod rewrite;
pub(crate) mod shared;
mod shares;
mod signed;
mod timeout;
mod wasm;

use std::path::Path;
use std::sync::Arc;

use expression::Names;

use crate::known::NamedSources;
use crate::meant::{Auth, Layer, Layers, Signed};
use crate::schema;
use crate::yaml::fault::{Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::Node;

/// What a route, a source or a step that uses it gets. A part with a fault is missing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Policy<'t> {
    /// What it wraps calls with, outermost first.
    pub(crate) layers: Layers,
    /// How requests must be signed.
    pub(crate) signed: Option<Arc<Signed>>,
    /// Who may ask.
    pub(crate) auth: Option<Arc<Auth>>,
    /// The name of the tier that `cache` shares its answers through.
    pub(crate) tier: Option<Node<'t>>,
}

/// Reads a policy. Relative paths in it start at `folder`; `location` is where this instance is.
pub(crate) fn policy<'t>(
    node: Node<'t>,
    folder: &Path,
    location: &str,
    sources: NamedSources<'_, '_>,
    report: &mut Report,
) -> Policy<'t> {
    let Some(section) = Section::open(node, &schema::POLICY, report) else {
        return Policy::default();
    };
    if section.is_empty() {
        let cause = format!("{} says nothing", quoted(node.key()));
        report.at(node, cause, format!("write it like `{}`", schema::POLICY.example));
    }
    let name = node.key();
    let mut layers = Layers::default();
    let cors = section.get("cors").and_then(|node| cors::cors(name, node, report));
    layers.push_some(cors.map(|cors| Layer::Cors(Arc::new(cors))));
    let names = Names { knows_client: true, location: Some(location), ..Names::default() };
    let redirect = section.get("redirect").and_then(|node| respond::redirect(name, node, &names, report));
    layers.push_some(redirect.map(|redirect| Layer::Respond(Arc::new(redirect))));
    let respond = section.get("respond").and_then(|node| respond::respond(name, node, &names, report));
    layers.push_some(respond.map(|respond| Layer::Respond(Arc::new(respond))));
    if let Some(cache) = section.get("cache").and_then(|node| cache::cache(name, node, report)) {
        layers.push(Layer::Cache(Arc::new(cache)));
    }
    let timeout =
        section.get("timeout").and_then(|node| timeout::timeout(name, node, report)).unwrap_or_default();
    layers.push_some(timeout.overall);
    let hedge = section.get("hedge").and_then(|node| hedge::hedge(name, node, report));
    layers.push_some(hedge.map(|hedge| Layer::Hedge(Arc::new(hedge))));
    let retry = section.get("retry").and_then(|node| retry::retry(name, node, report));
    layers.push_some(retry.map(|retry| Layer::Retry(Arc::new(retry))));
    let breaker = section.get("breaker").and_then(|node| breaker::breaker(name, node, report));
    layers.push_some(breaker.map(|breaker| Layer::Breaker(Arc::new(breaker))));
    let limit = section.get("limit").and_then(|node| limit::limit(name, node, sources, report));
    layers.push_some(limit.map(|limit| Layer::Limit { limit: Arc::new(limit), is_of_source: false }));
    let learn = section.get("learn").and_then(|node| learn::learn(name, node, report));
    layers.push_some(learn.map(|learn| Layer::Learn(Arc::new(learn))));
    let concurrency =
        section.get("concurrency").and_then(|node| concurrency::concurrency(name, node, report));
    layers.push_some(concurrency.map(|concurrency| Layer::Concurrency(Arc::new(concurrency))));
    let headers = section.get("headers").and_then(|node| headers::headers(name, node, location, report));
    layers.push_some(headers.map(|headers| Layer::Headers(Arc::new(headers))));
    let rewrite = section.get("rewrite").and_then(|node| rewrite::rewrite(name, node, report));
    layers.push_some(rewrite.map(|rewrite| Layer::Rewrite(Arc::new(rewrite))));
    let hooks = section.get("wasm").and_then(|node| wasm::wasm(name, node, sources, report));
    layers.push_some(hooks.map(|hooks| Layer::Wasm(Arc::new(hooks))));
    let credentials = section.get("credentials");
    let sent = credentials.and_then(|node| credentials::credentials(name, node, folder, report));
    layers.push_some(sent.map(|sent| Layer::Credentials(Arc::new(sent))));
    if let Some(node) = section.get("accounts") {
        if credentials.is_some() {
            let cause = "`credentials` and `accounts` both say what a call carries";
            report.at_key(node, cause, "take one of them out");
        }
        let accounts = accounts::accounts(name, node, folder, report);
        layers.push_some(accounts.map(|accounts| Layer::Accounts(Arc::new(accounts))));
    }
    layers.push_some(timeout.per_try);
    let faults = section.get("faults").and_then(|node| faults::faults(name, node, report));
    layers.push_some(faults.map(|faults| Layer::Faults(Arc::new(faults))));
    Policy {
        layers,
        signed: section
            .get("signed")
            .and_then(|node| signed::signed(name, node, folder, report))
            .map(Arc::new),
        auth: section.get("auth").and_then(|node| auth::auth(name, node, folder, report)).map(Arc::new),
        tier: section.get("cache").and_then(cache::tier),
    }
}
