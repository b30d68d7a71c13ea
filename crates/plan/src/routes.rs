//! Routes: the list `routes` → [`Route`]s. Called by `check` once sources and policies are known by name.

mod answer;
pub(crate) mod compose;
mod escape;
mod invalidate;
mod pattern;
pub(crate) mod read;
mod segments;
mod statement;
pub(crate) mod tracked;

use std::collections::HashMap;
use std::sync::Arc;

use expression::Reads;
use http::Method;

use crate::known::{Known, KnownSource, SourceKind};
use crate::meant::{Asker, CachePolicy, Layer, Layers, Pattern, Route, RouteEnd, SourceId};
use crate::routes::answer::{answer, without_source};
use crate::routes::compose::{compose, of_request};
use crate::routes::escape::escapes;
use crate::routes::invalidate::invalidate;
use crate::routes::read::read;
use crate::routes::segments::segments;
use crate::schema;
use crate::uses::{Used, onto, uses, without_credentials};
use crate::yaml::fault::{Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;

/// Reads every route.
pub(crate) fn routes(node: Node<'_>, known: &Known<'_>, report: &mut Report) -> Vec<Route> {
    let items = match node.shape() {
        Shape::List(items) if !items.is_empty() => items,
        Shape::Broken => return Vec::new(),
        Shape::List(_) | Shape::Nothing => {
            report.at(
                node,
                "there are no routes",
                format!("write at least one: `{}`", schema::ROUTE.example),
            );
            return Vec::new();
        }
        Shape::Text(_) | Shape::Map(_) => {
            report.at(
                node,
                "`routes` must be a list",
                format!("begin each route with a dash: `{}`", schema::ROUTE.example),
            );
            return Vec::new();
        }
    };
    let mut patterns = HashMap::new();
    let routes: Vec<_> =
        items.into_iter().filter_map(|item| route(item, known, &mut patterns, report)).collect();
    escapes(&routes, report);
    segments(&routes, known, report);
    routes.into_iter().map(|(_, route)| route).collect()
}

/// A route, and where its `match` stands.
fn route<'t>(
    node: Node<'t>,
    known: &Known<'_>,
    patterns: &mut HashMap<String, usize>,
    report: &mut Report,
) -> Option<(Node<'t>, Route)> {
    let section = Section::open(node, &schema::ROUTE, report)?;
    let place = section.need("match", report);
    let pattern = place.and_then(|node| pattern(node, patterns, report));
    let end = end(&section, pattern.as_ref(), known, report);
    let Used { mut layers, signed, auth } =
        section.get("use").map(|node| uses(node, known, report)).unwrap_or_default();
    if let (Some(node), Some(pattern), Some(cache)) = (section.get("use"), &pattern, layers.cache())
        && cache.body_keys.post
        && is_graphql(pattern)
    {
        report.hint_at_key(
            node,
            format!(
                "this policy answers any POST from the cache, and {} looks like GraphQL",
                quoted(&pattern.text)
            ),
            "write `body_keys: { graphql: true }` in a policy of its own, which takes queries alone",
        );
    }
    let invalidate =
        section.get("invalidate").map(|node| invalidate(node, pattern.as_ref(), report)).unwrap_or_default();
    let (end, answer) = end?;
    let used = section.get("use").unwrap_or(node);
    match &end {
        RouteEnd::Proxy(_) => {}
        RouteEnd::Read(_) => without_credentials(&layers, "a read", used, report),
        RouteEnd::Compose(_) => without_credentials(&layers, "a compose", used, report),
        RouteEnd::Respond => without_source(&layers, used, report),
    }
    let none = Layers::default();
    let around = match &end {
        RouteEnd::Proxy(source) => known.around(*source),
        RouteEnd::Read(read) => known.around(read.from),
        RouteEnd::Compose(_) | RouteEnd::Respond => &none,
    };
    onto(&mut layers, around, Asker::Client, used, report);
    layers.push_some(answer);
    if let Some(cache) = layers.cache()
        && let Some(word) = unkeyed(&end, cache, known)
    {
        let cause = format!(
            "what this route makes depends on the {word}, and the key of {} leaves that out",
            quoted(&cache.name)
        );
        report.at(used, cause, format!("take `{word}: false` out of `key`"));
    }
    if let (RouteEnd::Compose(_) | RouteEnd::Read(_) | RouteEnd::Respond, Some(rewrite)) =
        (&end, layers.rewrite())
    {
        let cause = format!(
            "{} rewrites the path for a source, and this route asks none with it",
            quoted(&rewrite.name)
        );
        report.at(
            used,
            cause,
            "use that policy on a route with `proxy`, on a step, or on a source over HTTP",
        );
    }
    if let RouteEnd::Compose(compose) = &end
        && let Some((word, policy)) = layers.repeating().next()
    {
        if compose.graph.writes() {
            let cause = format!("{} would carry out a step that writes again", quoted(policy));
            report.at(used, cause, format!("put `{word}` on the steps that read"));
        } else if let Some((word, policy, inner)) = layers.repeating().find_map(|(word, policy)| {
            Some((word, policy, known.wrappings.repeating_within(&compose.graph, word)?))
        }) {
            let cause = format!(
                "{} has `{word}`, and so has {} around a step: their tries multiply",
                quoted(policy),
                quoted(&inner)
            );
            report.at(used, cause, "take one of them out");
        }
    }
    if !auth.iter().any(|auth| auth.jwt.is_some())
        && let Some(limit) = layers.limits().find(|limit| limit.by.reads_claims())
    {
        report.hint_at_key(
            used,
            format!(
                "{} counts by a claim that nobody verifies: clients may write any into a token",
                quoted(&limit.name)
            ),
            "name a policy with `auth: { jwt: … }` here, too",
        );
    }
    if let RouteEnd::Proxy(_) = &end {
        // Steps send nothing of the client's unless they are told to, and reads send nothing.
        for headers in auth.iter().filter_map(|auth| auth.hidden()) {
            layers.push_before_changes(Layer::Headers(Arc::new(headers)));
        }
    }
    if signed.is_some() || auth.iter().any(|auth| !auth.is_optional) {
        layers = layers.with_caches(|cache| cache.is_gated = true);
    }
    Some((place?, Route { pattern: pattern?, end, layers, signed, auth, invalidate }))
}

/// What a route that makes its responses itself makes them of, though the key of its cache leaves it out. Fields are told in `Vary`.
fn unkeyed(end: &RouteEnd, cache: &CachePolicy, known: &Known<'_>) -> Option<&'static str> {
    let (mut host, mut scheme) = (false, false);
    let mut each = |reads: &Reads<'_>| {
        host |= reads.host();
        scheme |= reads.scheme();
    };
    match end {
        RouteEnd::Read(read) => read.arguments.iter().for_each(|argument| each(&argument.reads())),
        RouteEnd::Compose(compose) => of_request(&compose.graph, known, &mut each),
        RouteEnd::Proxy(_) | RouteEnd::Respond => {}
    }
    if host && !cache.key.host {
        return Some("host");
    }
    (scheme && !cache.key.scheme).then_some("scheme")
}

/// Whether its path is one that GraphQL is served at, by common consent.
fn is_graphql(pattern: &Pattern) -> bool {
    let path = pattern.text.trim_end_matches("/**").trim_end_matches('/');
    path.to_ascii_lowercase().ends_with("/graphql")
}

/// Words that say something about `compose`, and nothing without it.
const COMPOSING: [&str; 4] = ["timeout", "run", "save", "server_timing"];

/// Where its answers come from: `proxy`, `read`, `compose`, or the route itself, by a layer of its own.
fn end(
    section: &Section<'_>,
    pattern: Option<&Pattern>,
    known: &Known<'_>,
    report: &mut Report,
) -> Option<(RouteEnd, Option<Layer>)> {
    if let Some(node) = section.get("compose") {
        alone(node, &["proxy", "read", "redirect"], section, report);
        let compose = compose(section, node, pattern, known, report)?;
        return Some((RouteEnd::Compose(Arc::new(compose)), None));
    }
    for word in COMPOSING.iter().filter_map(|word| section.get(word)) {
        let cause = format!("{} is for a route with `compose`", quoted(word.key()));
        report.at_key(word, cause, "take it out");
    }
    if let Some(node) = section.get("redirect").or_else(|| section.get("respond")) {
        if !alone(node, &["proxy", "read", "respond"], section, report) {
            // Which of them is meant, nobody knows.
            return None;
        }
        return answer(node, pattern, known, report).map(|answer| (RouteEnd::Respond, Some(answer)));
    }
    let Some(node) = section.get("read") else {
        let node = section.need("proxy", report)?;
        return proxied(node, known, report).map(|source| (RouteEnd::Proxy(source), None));
    };
    alone(node, &["proxy"], section, report);
    if let Some(method) = pattern.and_then(|pattern| pattern.method.as_ref())
        && *method != Method::GET
        && *method != Method::HEAD
    {
        report.at_key(node, format!("`read` answers GET, not {method}"), "write `match: GET …`");
    }
    read(node, pattern, known, report).map(|read| (RouteEnd::Read(Arc::new(read)), None))
}

/// Refuses other words that say where answers come from. Given back: whether there are none.
fn alone(node: Node<'_>, others: &[&str], section: &Section<'_>, report: &mut Report) -> bool {
    let others = others.iter().filter(|word| **word != node.key());
    let others: Vec<_> = others.filter_map(|word| section.get(word)).collect();
    for other in &others {
        let cause = format!("{} and {} stand in one route", quoted(other.key()), quoted(node.key()));
        report.at_key(*other, cause, "take one of them out");
    }
    others.is_empty()
}

/// The origin that a route passes requests on to.
fn proxied(node: Node<'_>, known: &Known<'_>, report: &mut Report) -> Option<SourceId> {
    let kind = value::word(node).and_then(|name| known.source(name)).map(|source| source.kind);
    match kind {
        Some(SourceKind::Sql | SourceKind::Wasm) => {
            let name = value::text(node, report)?;
            report.at(
                node,
                format!("{} is asked by steps, not proxied to", quoted(name)),
                format!("write `compose: {{ STEP: {{ {name}: … }} }}` instead of `proxy`"),
            );
            None
        }
        Some(SourceKind::Redis | SourceKind::Store) => {
            let name = value::text(node, report)?;
            report.at(
                node,
                format!("{} is read from, not proxied to", quoted(name)),
                format!("write `read: {{ {name}: \"GET …\" }}` instead of `proxy`"),
            );
            None
        }
        Some(SourceKind::Http) | None => {
            Some(known.sources.find(node, "source", KnownSource::is_http, report)?.id)
        }
    }
}

fn pattern(node: Node<'_>, patterns: &mut HashMap<String, usize>, report: &mut Report) -> Option<Pattern> {
    let pattern: Pattern = value::parsed(node, report, str::parse)?;
    let line = node.place().line;
    match patterns.insert(pattern.canonical(), line) {
        None => Some(pattern),
        Some(first) => {
            patterns.insert(pattern.canonical(), first);
            let cause =
                format!("{} is never reached: line {first} takes the same requests", quoted(&pattern.text));
            report.at(
                node,
                cause,
                "take one of the two routes out, or let them differ in method, host or path",
            );
            None
        }
    }
}
