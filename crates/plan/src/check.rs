//! Check: a whole file → a [`Plan`], or everything that is wrong with it. Opens the file's sections in the order in
//! which they need each other; called by `load` and `compile`.

use std::path::Path;

use crate::default;
use crate::disk::disk;
use crate::known::{Known, KnownSource, NamedSources, SourceKind};
use crate::listen::{limits, listen};
use crate::meant::{AccessLog, Plan, SourceId};
use crate::policy::{Policy, policy};
use crate::routes::routes;
use crate::routes::tracked;
use crate::schema;
use crate::source::sources;
use crate::uses::of_sources;
use crate::yaml::fault::{Faults, Hints, Place, Reason, Report, quoted};
use crate::yaml::file;
use crate::yaml::section::{Section, named};
use crate::yaml::tree::{Node, Tree};
use crate::yaml::value;

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
        tier: None,
        routes: Vec::new(),
        wrappings: Vec::new(),
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
    let mut known = Known { location: plan.location.clone(), ..Known::default() };
    let source_nodes = sources(&file, root, folder, &mut plan, &mut known, report);
    if let Some(node) = file.get("policies") {
        for node in named(node, "policies: { live: { cache: { ttl: 5s } } }", report) {
            let sources = NamedSources { known: &known.sources, meant: &plan.sources };
            let policy = policy(node, folder, &plan.location, sources, report);
            plan.tier = shared_tier(plan.tier, &policy, &known, report);
            known.policies.add(node.key(), policy);
        }
    }
    known.tier = plan.tier.and_then(|tier| {
        // Its names are `shop:{…}`, see `cache::tier::shared`.
        let name = known.sources.order().get(tier.place())?;
        // A source with a fault has a place and a name, and is not in the plan, which nobody gets then.
        let redis = plan.sources.iter().find(|source| source.name() == *name)?.redis()?;
        Some((tier, format!("{}:{{", redis.tier.prefix)))
    });
    known.around = of_sources(&source_nodes, &known, report);
    match file.get("routes") {
        Some(node) => plan.routes = routes(node, &known, report),
        None => missing_routes(root, &known, report),
    }
    plan.wrappings = known.wrappings.take();
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

/// The one Redis that policies share their answers through.
fn shared_tier(
    before: Option<SourceId>,
    policy: &Policy<'_>,
    known: &Known<'_>,
    report: &mut Report,
) -> Option<SourceId> {
    let Some(node) = policy.tier else { return before };
    let named = value::word(node).and_then(|name| known.source(name));
    if named.is_some_and(|source| source.kind == SourceKind::Store) {
        report.at(node, "a store cannot be a tier", "write the name of a source at a Redis");
        return before;
    }
    let Some(redis) = known.sources.find(node, "Redis", KnownSource::is_redis, report) else { return before };
    if redis.is_public {
        report.at(
            node,
            "this Redis is `public`, so that everybody could read what the cache keeps there",
            "name another one, or take `public` out",
        );
    }
    if before.is_some_and(|before| before != redis.id) {
        report.at(
            node,
            "two policies name different tiers",
            "write the same for all: there is one tier behind the memory",
        );
    }
    before.or(Some(redis.id))
}

/// No route is guessed: whether answers may be cached is for the file to say.
fn missing_routes(root: Node<'_>, known: &Known<'_>, report: &mut Report) {
    let source = known.sources_that(KnownSource::is_http).first().copied().unwrap_or("api");
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
