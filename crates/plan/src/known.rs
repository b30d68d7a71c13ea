//! Known: what the file has named so far: sources and policies, by their names. Filled by `check`; asked by whatever
//! names one.

use std::cell::Cell;
use std::collections::HashMap;

use expression::nearest;

use crate::keys::Keys;
use crate::meant::{Layers, Source, SourceId};
use crate::policy::Policy;
use crate::wrappings::Wrappings;
use crate::yaml::fault::{Report, quoted};
use crate::yaml::tree::Node;
use crate::yaml::value;

/// See the module. A source or policy with a fault of its own is here too, so that it is not called unknown.
#[derive(Debug, Default)]
pub(crate) struct Known<'t> {
    pub(crate) sources: Called<'t, KnownSource>,
    /// The Redis where the cache keeps answers, and what their keys begin with.
    pub(crate) tier: Option<(SourceId, String)>,
    /// What wraps the calls to each source, in their order.
    pub(crate) around: Vec<Layers>,
    /// Shared by all that use it.
    pub(crate) policies: Called<'t, Policy<'t>>,
    /// Steps of the file so far.
    pub(crate) steps: Cell<usize>,
    /// What wraps their calls.
    pub(crate) wrappings: Wrappings,
    /// Where this instance is.
    pub(crate) location: String,
    /// Whether it has been said that there are too many.
    pub(crate) is_too_long: Cell<bool>,
}

/// The sources of a file, for policies that name one.
#[derive(Clone, Copy)]
pub(crate) struct NamedSources<'a, 't> {
    pub(crate) known: &'a Called<'t, KnownSource>,
    pub(crate) meant: &'a [Source],
}

/// A source, as far as those who name it have to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownSource {
    pub(crate) id: SourceId,
    pub(crate) kind: SourceKind,
    /// Whether requests may name any key of it.
    pub(crate) is_public: bool,
}

/// What a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceKind {
    Http,
    Redis,
    Store,
    Sql,
    Wasm,
}

impl KnownSource {
    /// Whether it can be proxied to.
    pub(crate) fn is_http(&self) -> bool {
        self.kind == SourceKind::Http
    }

    /// Whether it is a module, whose functions can be called.
    pub(crate) fn is_module(&self) -> bool {
        self.kind == SourceKind::Wasm
    }

    /// Whether it is a Redis, to read from or to share answers through.
    pub(crate) fn is_redis(&self) -> bool {
        self.kind == SourceKind::Redis
    }

    /// Whether `read` may name it.
    pub(crate) fn is_readable(&self) -> bool {
        matches!(self.kind, SourceKind::Redis | SourceKind::Store)
    }
}

impl<'t> Known<'t> {
    /// The source of this name.
    pub(crate) fn source(&self, name: &str) -> Option<KnownSource> {
        self.sources.get(name).copied()
    }

    /// The names of sources of which this holds, in the order of the file.
    pub(crate) fn sources_that(&self, holds: impl Fn(&KnownSource) -> bool) -> Vec<&'t str> {
        self.sources.names_that(holds)
    }

    /// Which keys of it requests may name.
    pub(crate) fn keys(&self, source: KnownSource) -> Keys<'_> {
        let tier = self.tier.as_ref().filter(|(tier, _)| *tier == source.id);
        Keys { is_public: source.is_public, tier: tier.map(|(_, prefix)| prefix.as_str()) }
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

    /// Those of what this holds of.
    pub(crate) fn names_that(&self, holds: impl Fn(&T) -> bool) -> Vec<&'t str> {
        self.order.iter().copied().filter(|name| self.get(name).is_some_and(&holds)).collect()
    }

    /// What is called so.
    pub(crate) fn get(&self, name: &str) -> Option<&T> {
        self.meant.get(name)
    }

    /// What the name in `node` stands for, if this holds of it; else it is said that there is no such thing.
    pub(crate) fn find(
        &self,
        node: Node<'_>,
        noun: &str,
        holds: impl Fn(&T) -> bool,
        report: &mut Report,
    ) -> Option<&T> {
        /// A message lists so many names.
        const LISTED: usize = 10;
        let name = value::text(node, report)?;
        let found = self.get(name).filter(|meant| holds(meant));
        if found.is_none() && !report.is_full() {
            let names = self.names_that(holds);
            let remedy = match nearest(name, names.iter().copied()) {
                Some(meant) => format!("write `{meant}`"),
                None if names.is_empty() => format!("there is no {noun} at all: add one"),
                None => {
                    let listed: Vec<String> = names.iter().take(LISTED).map(|name| quoted(name)).collect();
                    let more = if names.len() > LISTED { ", …" } else { "" };
                    format!("write one of {}{more}", listed.join(", "))
                }
            };
            report.at(node, format!("there is no {noun} {}", quoted(name)), remedy);
        }
        found
    }
}
