//! Timeout: `timeout` of a policy → [`Timeout`]s: `2s`, or its section.

use std::sync::Arc;

use crate::meant::{Layer, Timeout};
use crate::schema;
use crate::yaml::fault::Report;
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;

/// What gives calls up.
#[derive(Default)]
pub(super) struct Timeouts {
    pub(super) overall: Option<Layer>,
    pub(super) per_try: Option<Layer>,
}

/// Reads how long a call may take.
pub(super) fn timeout(name: &str, node: Node<'_>, report: &mut Report) -> Option<Timeouts> {
    let timeout = |within| Arc::new(Timeout { name: name.to_owned(), within });
    if let Shape::Text(_) = node.shape() {
        let overall = value::timeout(node, report);
        return Some(Timeouts { overall: overall.map(timeout).map(Layer::Overall), per_try: None });
    }
    let section = Section::open(node, &schema::TIMEOUT, report)?;
    if section.is_empty() {
        report.at(node, "`timeout` says nothing", format!("write it like `{}`", schema::TIMEOUT.example));
    }
    let overall = section.get("overall").and_then(|node| value::timeout(node, report));
    let per_try = section.get("per_try").and_then(|node| value::timeout(node, report));
    if let (Some(overall), Some(per_try), Some(node)) = (overall, per_try, section.get("per_try"))
        && per_try > overall
    {
        report.at(node, "one try may take longer than all of them together", "write less than `overall`");
    }
    Some(Timeouts {
        overall: overall.map(timeout).map(Layer::Overall),
        per_try: per_try.map(timeout).map(Layer::PerTry),
    })
}
