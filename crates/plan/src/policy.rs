//! Policy: one entry of `policies` → what it says about caching and signing. Called by `check` for each.

mod cache;
mod compress;
mod condition;
mod field;
mod key;
mod negative;
mod signed;

use std::path::Path;
use std::sync::Arc;

use crate::meant::{CachePolicy, Signed};
use crate::schema;
use crate::yaml::fault::{Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::Node;

/// What a route that uses it gets. A part with a fault is missing.
#[derive(Debug, Default)]
pub(crate) struct Policy<'t> {
    /// How to cache.
    pub(crate) cache: Option<Arc<CachePolicy>>,
    /// How requests must be signed.
    pub(crate) signed: Option<Arc<Signed>>,
    /// The name of the tier that `cache` shares its answers through.
    pub(crate) tier: Option<Node<'t>>,
}

/// Reads a policy. Relative paths in it start at `folder`.
pub(crate) fn policy<'t>(node: Node<'t>, folder: &Path, report: &mut Report) -> Policy<'t> {
    let Some(section) = Section::open(node, &schema::POLICY, report) else {
        return Policy::default();
    };
    if section.is_empty() {
        let cause = format!("{} says nothing", quoted(node.key()));
        report.at(node, cause, format!("write it like `{}`", schema::POLICY.example));
    }
    let name = node.key();
    Policy {
        cache: section.get("cache").and_then(|node| cache::cache(name, node, report)).map(Arc::new),
        signed: section
            .get("signed")
            .and_then(|node| signed::signed(name, node, folder, report))
            .map(Arc::new),
        tier: section.get("cache").and_then(cache::tier),
    }
}
