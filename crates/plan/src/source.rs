//! Sources: the section `sources` → what the plan asks, in one list. `http` reads an origin, `redis` a Redis or a store,
//! `database` and `module` what only steps ask. Called by `check`.

mod database;
pub(crate) mod http;
mod module;
mod redis;
mod redis_url;
pub(crate) mod url;

pub(crate) use redis::prefix as redis_prefix;

use std::path::Path;
use std::sync::Arc;

use crate::known::{Known, KnownSource, SourceKind};
use crate::meant::{Plan, Source, SourceId};
use crate::yaml::fault::Report;
use crate::yaml::section::{Section, named};
use crate::yaml::tree::{Node, Shape};

/// The sources, and what they are called; given back as they are written. One with a fault keeps its name, so that it is
/// not called unknown.
pub(crate) fn sources<'t>(
    file: &Section<'t>,
    root: Node<'t>,
    folder: &Path,
    plan: &mut Plan,
    known: &mut Known<'t>,
    report: &mut Report,
) -> Vec<Node<'t>> {
    const EXAMPLE: &str = "sources: { api: http://127.0.0.1:3000 }";
    let Some(node) = file.get("sources") else {
        report.at(root, "there are no sources", format!("add one: `{EXAMPLE}`"));
        return Vec::new();
    };
    let nodes = named(node, EXAMPLE, report);
    for (place, node) in nodes.iter().copied().enumerate() {
        let (id, kind) = (SourceId::at(place), kind(node));
        let made = match kind {
            SourceKind::Http => http::source(node, folder, report).map(Arc::new).map(Source::Http),
            SourceKind::Redis => redis::redis(node, folder, report).map(Arc::new).map(Source::Redis),
            SourceKind::Store => redis::store(node, folder, report).map(Arc::new).map(Source::Store),
            SourceKind::Sql => database::database(node, folder, report).map(Arc::new).map(Source::Sql),
            SourceKind::Wasm => module::module(node, folder, report).map(Arc::new).map(Source::Wasm),
        };
        let is_public = match &made {
            Some(Source::Redis(redis)) => redis.public,
            Some(Source::Store(store)) => store.public,
            _ => false,
        };
        known.sources.add(node.key(), KnownSource { id, kind, is_public });
        plan.sources.extend(made);
    }
    nodes
}

/// What a source is, by the key that says where it is.
fn kind(node: Node<'_>) -> SourceKind {
    match node.shape() {
        Shape::Text(text) if redis_url::is_redis(text) => SourceKind::Redis,
        Shape::Text(text) if database::is_database(text) => SourceKind::Sql,
        Shape::Map(entries) => {
            let has = |key: &str| entries.iter().any(|entry| entry.key() == key);
            let kinds = [
                ("redis", SourceKind::Redis),
                ("store", SourceKind::Store),
                ("sql", SourceKind::Sql),
                ("wasm", SourceKind::Wasm),
            ];
            kinds.into_iter().find(|(key, _)| has(key)).map_or(SourceKind::Http, |(_, kind)| kind)
        }
        _ => SourceKind::Http,
    }
}
