//! Timeout: `timeout` of a policy → [`Timeout`]: `2s`, or its section.

use crate::meant::Timeout;
use crate::schema;
use crate::yaml::fault::Report;
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;

/// Reads how long a call may take.
pub(super) fn timeout(node: Node<'_>, report: &mut Report) -> Option<Timeout> {
    let mut timeout = Timeout::default();
    if let Shape::Text(_) = node.shape() {
        timeout.overall = value::timeout(node, report);
        return Some(timeout);
    }
    let section = Section::open(node, &schema::TIMEOUT, report)?;
    if section.is_empty() {
        report.at(node, "`timeout` says nothing", format!("write it like `{}`", schema::TIMEOUT.example));
    }
    timeout.overall = section.get("overall").and_then(|node| value::timeout(node, report));
    timeout.per_try = section.get("per_try").and_then(|node| value::timeout(node, report));
    if let (Some(overall), Some(per_try), Some(node)) =
        (timeout.overall, timeout.per_try, section.get("per_try"))
        && per_try > overall
    {
        report.at(node, "one try may take longer than all of them together", "write less than `overall`");
    }
    Some(timeout)
}
