//! Routes: the list `routes` → [`Route`]s that name sources by index. Called by `check` once sources and policies are
//! known by name.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use http::Method;

use crate::compose::{Wrappings, compose};
use crate::escape::escapes;
use crate::fault::{Report, quoted};
use crate::invalidate::invalidate;
use crate::meant::{CachePolicy, Pattern, ReadFrom, Route, RouteEnd};
use crate::policy::Policy;
use crate::read::{Keys, read};
use crate::section::Section;
use crate::tree::{Node, Shape};
use crate::{schema, value};
use expression::nearest;

/// What routes may name. A source or policy with a fault of its own is here too, so that it is not called unknown.
#[derive(Debug, Default)]
pub(crate) struct Known<'t> {
    /// Index into the plan's sources.
    pub(crate) sources: Called<'t, usize>,
    /// What `read` may name.
    pub(crate) readable: Called<'t, ReadFrom>,
    /// Of those, the ones whose keys requests may name.
    pub(crate) public: Vec<ReadFrom>,
    /// The Redis where the cache keeps answers, and what their keys begin with.
    pub(crate) tier: Option<(ReadFrom, String)>,
    /// Index into the plan's databases.
    pub(crate) databases: Called<'t, usize>,
    /// Index into the plan's modules.
    pub(crate) modules: Called<'t, usize>,
    /// Shared by every route that uses it.
    pub(crate) policies: Called<'t, Policy<'t>>,
    /// Steps of the file so far.
    pub(crate) steps: Cell<usize>,
    /// What wraps their calls.
    pub(crate) wrappings: Wrappings,
    /// Whether it has been said that there are too many.
    pub(crate) is_too_long: Cell<bool>,
}

/// Whom a step asks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked {
    Http(usize),
    Read(ReadFrom),
    Sql(usize),
    Wasm(usize),
}

impl<'t> Known<'t> {
    /// What a step with this word asks.
    pub(crate) fn asked(&self, name: &str) -> Option<Asked> {
        let http = self.sources.get(name).map(|source| Asked::Http(*source));
        let read = self.readable.get(name).map(|from| Asked::Read(*from));
        let sql = self.databases.get(name).map(|source| Asked::Sql(*source));
        let wasm = self.modules.get(name).map(|source| Asked::Wasm(*source));
        http.or(read).or(sql).or(wasm)
    }

    /// Which keys of it requests may name.
    pub(crate) fn keys(&self, from: ReadFrom) -> Keys<'_> {
        let tier = self.tier.as_ref().filter(|(tier, _)| *tier == from);
        Keys { is_public: self.public.contains(&from), tier: tier.map(|(_, prefix)| prefix.as_str()) }
    }

    /// The names of all that a step may ask.
    pub(crate) fn askable(&self) -> Vec<&'t str> {
        let (http, read) = (self.sources.order(), self.readable.order());
        [http, read, self.databases.order(), self.modules.order()].concat()
    }
}

/// Names in the order of the file, for messages, and what they stand for.
#[derive(Debug)]
pub(crate) struct Called<'t, T> {
    order: Vec<&'t str>,
    meant: HashMap<&'t str, T>,
}

impl<T> Default for Called<'_, T> {
    fn default() -> Self {
        Called { order: Vec::new(), meant: HashMap::new() }
    }
}

impl<'t, T> Called<'t, T> {
    /// Adds a name.
    pub(crate) fn add(&mut self, name: &'t str, meant: T) {
        self.order.push(name);
        self.meant.insert(name, meant);
    }

    /// The names, first to last.
    pub(crate) fn order(&self) -> &[&'t str] {
        &self.order
    }

    /// Whether something is called so.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.meant.contains_key(name)
    }

    /// What is called so.
    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.meant.get(name)
    }

    /// What the name in `node` stands for.
    pub(crate) fn find(&self, node: Node<'_>, kind: &str, report: &mut Report) -> Option<&T> {
        /// A message lists so many names.
        const LISTED: usize = 10;
        let name = value::text(node, report)?;
        let found = self.meant.get(name);
        if found.is_none() && !report.is_full() {
            let remedy = match nearest(name, self.order.iter().copied()) {
                Some(meant) => format!("write `{meant}`"),
                None if self.order.is_empty() => format!("there is no {kind} at all: add one"),
                None => {
                    let names: Vec<String> =
                        self.order.iter().take(LISTED).map(|name| quoted(name)).collect();
                    let more = if self.order.len() > LISTED { ", …" } else { "" };
                    format!("write one of {}{more}", names.join(", "))
                }
            };
            report.at(node, format!("there is no {kind} {}", quoted(name)), remedy);
        }
        found
    }
}

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
    let Policy { cache, signed, .. } =
        section.get("use").map(|node| policies(node, known, report)).unwrap_or_default();
    if let (Some(node), Some(pattern), Some(cache)) = (section.get("use"), &pattern, &cache)
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
    let cache = match (cache, &signed) {
        (Some(cache), Some(_)) => Some(Arc::new(CachePolicy { is_signed: true, ..(*cache).clone() })),
        (cache, _) => cache,
    };
    Some((place?, Route { pattern: pattern?, end: end?, cache, signed, invalidate }))
}

/// Whether its path is one that GraphQL is served at, by common consent.
fn is_graphql(pattern: &Pattern) -> bool {
    let path = pattern.text.trim_end_matches("/**").trim_end_matches('/');
    path.to_ascii_lowercase().ends_with("/graphql")
}

/// Words that say something about `compose`.
const COMPOSING: [&str; 5] = ["respond", "timeout", "run", "save", "server_timing"];

/// Where its answers come from: `proxy`, `read` or `compose`.
fn end(
    section: &Section<'_>,
    pattern: Option<&Pattern>,
    known: &Known<'_>,
    report: &mut Report,
) -> Option<RouteEnd> {
    if let Some(node) = section.get("compose") {
        for word in ["proxy", "read"].iter().filter_map(|word| section.get(word)) {
            let cause = format!("{} and `compose` stand in one route", quoted(word.key()));
            report.at_key(word, cause, "take one of them out");
        }
        return compose(section, node, pattern, known, report)
            .map(|compose| RouteEnd::Compose(Arc::new(compose)));
    }
    for word in COMPOSING.iter().filter_map(|word| section.get(word)) {
        let cause = format!("{} is for a route with `compose`", quoted(word.key()));
        report.at_key(word, cause, "take it out");
    }
    let Some(node) = section.get("read") else {
        let node = section.need("proxy", report)?;
        if value::is_word(node, |name| known.databases.knows(name) || known.modules.knows(name)) {
            let name = value::text(node, report)?;
            report.at(
                node,
                format!("{} is asked by steps, not proxied to", quoted(name)),
                format!("write `compose: {{ STEP: {{ {name}: … }} }}` instead of `proxy`"),
            );
            return None;
        }
        if value::is_word(node, |name| known.readable.knows(name)) {
            let name = quoted(value::text(node, report)?);
            report.at(
                node,
                format!("{name} is read from, not proxied to"),
                format!("write `read: {{ {}: \"GET …\" }}` instead of `proxy`", name.trim_matches('`')),
            );
            return None;
        }
        return known.sources.find(node, "source", report).copied().map(RouteEnd::Proxy);
    };
    if let Some(proxy) = section.get("proxy") {
        report.at_key(proxy, "`proxy` and `read` stand in one route", "take one of them out");
    }
    if let Some(method) = pattern.and_then(|pattern| pattern.method.as_ref())
        && *method != Method::GET
        && *method != Method::HEAD
    {
        report.at_key(node, format!("`read` answers GET, not {method}"), "write `match: GET …`");
    }
    read(node, pattern, known, report).map(|read| RouteEnd::Read(Arc::new(read)))
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

/// What the policies that a route names say together: at most one about each thing.
pub(crate) fn policies<'t>(node: Node<'_>, known: &Known<'t>, report: &mut Report) -> Policy<'t> {
    let mut chosen = Policy::default();
    for item in value::one_or_more(node, report) {
        let Some(policy) = known.policies.find(item, "policy", report) else { continue };
        add(item, &mut chosen.cache, policy.cache.as_ref(), ("cache", |cache| &cache.name), report);
        add(item, &mut chosen.signed, policy.signed.as_ref(), ("sign", |signed| &signed.name), report);
    }
    chosen
}

/// Takes a part of a policy, unless another policy has said it already.
fn add<T>(
    item: Node<'_>,
    place: &mut Option<Arc<T>>,
    part: Option<&Arc<T>>,
    (verb, name): (&str, fn(&T) -> &String),
    report: &mut Report,
) {
    let Some(part) = part else { return };
    match place {
        None => *place = Some(Arc::clone(part)),
        Some(first) => {
            let cause = format!("{} and {} both say how to {verb}", quoted(name(first)), quoted(name(part)));
            report.at(item, cause, "use one of them");
        }
    }
}
