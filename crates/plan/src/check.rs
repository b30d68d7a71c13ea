//! Check: a whole file → a [`Plan`], or everything that is wrong with it. Opens the file's sections in the order in
//! which they need each other; called by `load` and `compile`.

use std::path::Path;
use std::sync::Arc;

use crate::default;
use crate::disk::disk;
use crate::fault::{Faults, Hints, Place, Reason, Report, quoted};
use crate::listen::{limits, listen};
use crate::meant::{AccessLog, Plan, ReadFrom};
use crate::policy::{Policy, policy};
use crate::routes::{Known, routes};
use crate::section::{Section, named};
use crate::source::source;
use crate::tree::{Node, Shape, Tree};
use crate::{database, file, module, redis, redis_url, schema, tracked, value};

/// Compiles a file's text. Relative paths in it start at `folder`; `name` is what messages call it.
pub(crate) fn check(text: &str, name: &str, folder: &Path) -> Result<Plan, Faults> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut report = Report::default();
    let plan = file::read(text, &mut report).and_then(|tree| plan(&tree, folder, &mut report));
    match plan {
        Some(mut plan) if report.is_empty() => {
            plan.hints = report.into_hints(name, text);
            Ok(plan)
        }
        _ => Err(report.into_faults(name, text)),
    }
}

fn plan(tree: &Tree, folder: &Path, report: &mut Report) -> Option<Plan> {
    let Some(root) = tree.root() else {
        report.fault(
            Place::default(),
            String::new(),
            "the file is empty",
            "write a source and a route: `sources: { api: http://127.0.0.1:3000 }` and \
             `routes: [{ match: /**, proxy: api }]`",
        );
        return None;
    };
    let file = Section::open(root, &schema::FILE, report)?;
    let mut plan = Plan {
        listen: listen(file.get("listen"), folder, report),
        limits: limits(file.get("limits"), report),
        memory: default::MEMORY,
        sources: Vec::new(),
        redis: Vec::new(),
        stores: Vec::new(),
        databases: Vec::new(),
        modules: Vec::new(),
        tier: None,
        routes: Vec::new(),
        access_log: AccessLog::default(),
        cores: default::cores(),
        drain: default::DRAIN,
        drain_delay: default::DRAIN_DELAY,
        location: default::LOCATION.to_owned(),
        disk: None,
        hints: Hints::default(),
    };
    file.set("memory", &mut plan.memory, report, |node, report| value::size(node, "1KiB", "1024TiB", report));
    file.set("cores", &mut plan.cores, report, |node, report| {
        Some(value::number(node, 1..=1024, report)? as usize)
    });
    file.set("drain", &mut plan.drain, report, value::duration);
    file.set("drain_delay", &mut plan.drain_delay, report, value::duration);
    file.set("access_log", &mut plan.access_log, report, |node, report| {
        let words = [("off", AccessLog::Off), ("text", AccessLog::Text), ("json", AccessLog::Json)];
        value::choice(node, &words, report)
    });
    file.set("location", &mut plan.location, report, |node, report| value::parsed(node, report, location));
    plan.disk = file.get("disk").and_then(|node| disk(node, folder, report));
    let mut known = Known::default();
    sources(&file, root, folder, &mut plan, &mut known, report);
    if let Some(node) = file.get("policies") {
        for node in named(node, "policies: { live: { cache: { ttl: 5s } } }", report) {
            let policy = policy(node, folder, report);
            plan.tier = shared_tier(plan.tier, &policy, &known, report);
            known.policies.add(node.key(), policy);
        }
    }
    known.tier = plan.tier.and_then(|index| {
        // Its names are `shop:{…}`, see `cache::tier::shared`.
        Some((ReadFrom::Redis(index), format!("{}:{{", plan.redis.get(index)?.tier.prefix)))
    });
    match file.get("routes") {
        Some(node) => plan.routes = routes(node, &known, report),
        None => missing_routes(root, &known, report),
    }
    if let Some(sources) = file.get("sources").filter(|_| report.is_empty()) {
        tracked::uncovered(sources, &plan, report);
    }
    Some(plan)
}

/// What stands in `Cache-ID`.
fn location(text: &str) -> Result<String, Reason> {
    if (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(text.to_owned());
    }
    Err(Reason::new(
        format!("{} is not a location", quoted(text)),
        "write 1 to 16 letters and digits, like `KUL`",
    ))
}

/// The sources and their indexes by name. One with a fault keeps its name, so that it is not called unknown.
fn sources<'t>(
    file: &Section<'t>,
    root: Node<'t>,
    folder: &Path,
    plan: &mut Plan,
    known: &mut Known<'t>,
    report: &mut Report,
) {
    const EXAMPLE: &str = "sources: { api: http://127.0.0.1:3000 }";
    let Some(node) = file.get("sources") else {
        return report.at(root, "there are no sources", format!("add one: `{EXAMPLE}`"));
    };
    for node in named(node, EXAMPLE, report) {
        match kind(node) {
            SourceKind::Http => {
                known.sources.add(node.key(), plan.sources.len());
                plan.sources.extend(source(node, folder, report).map(Arc::new));
            }
            SourceKind::Redis => {
                let from = ReadFrom::Redis(plan.redis.len());
                known.readable.add(node.key(), from);
                let redis = redis::redis(node, folder, report);
                known.public.extend(redis.as_ref().filter(|redis| redis.public).map(|_| from));
                plan.redis.extend(redis.map(Arc::new));
            }
            SourceKind::Sql => {
                known.databases.add(node.key(), plan.databases.len());
                plan.databases.extend(database::database(node, folder, report).map(Arc::new));
            }
            SourceKind::Wasm => {
                known.modules.add(node.key(), plan.modules.len());
                plan.modules.extend(module::module(node, folder, report).map(Arc::new));
            }
            SourceKind::Store => {
                let from = ReadFrom::Store(plan.stores.len());
                known.readable.add(node.key(), from);
                let store = redis::store(node, folder, report);
                known.public.extend(store.as_ref().filter(|store| store.public).map(|_| from));
                plan.stores.extend(store.map(Arc::new));
            }
        }
    }
}

enum SourceKind {
    Http,
    Redis,
    Store,
    Sql,
    Wasm,
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

/// The one Redis that policies share their answers through.
fn shared_tier(
    before: Option<usize>,
    policy: &Policy<'_>,
    known: &Known<'_>,
    report: &mut Report,
) -> Option<usize> {
    let Some(node) = policy.tier else { return before };
    let Some(ReadFrom::Redis(index)) = known.readable.find(node, "Redis", report) else {
        if value::is_word(node, |name| known.readable.knows(name)) {
            report.at(node, "a store cannot be a tier", "write the name of a source at a Redis");
        }
        return before;
    };
    if known.public.contains(&ReadFrom::Redis(*index)) {
        report.at(
            node,
            "this Redis is `public`, so that everybody could read what the cache keeps there",
            "name another one, or take `public` out",
        );
    }
    if before.is_some_and(|before| before != *index) {
        report.at(
            node,
            "two policies name different tiers",
            "write the same for all: there is one tier behind the memory",
        );
    }
    before.or(Some(*index))
}

/// No route is guessed: whether answers may be cached is for the file to say.
fn missing_routes(root: Node<'_>, known: &Known<'_>, report: &mut Report) {
    let source = known.sources.order().first().copied().unwrap_or("api");
    let remedy = match known.policies.order().first() {
        Some(policy) => format!(
            "add `routes: [{{ match: /**, proxy: {source}, use: {policy} }}]`; without `use` nothing is cached"
        ),
        None => format!(
            "add `routes: [{{ match: /**, proxy: {source} }}]` to send every request to {}",
            quoted(source)
        ),
    };
    report.at(root, "there are no routes", remedy);
}
