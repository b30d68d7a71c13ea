//! Condition: `bypass` and `skip_for` → [`Conditions`].

use super::field;
use crate::meant::{Condition, Conditions};
use crate::yaml::fault::Report;
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;
use crate::{schema, template};

/// Reads one condition or a list.
pub(super) fn conditions(node: Node<'_>, report: &mut Report) -> Conditions {
    Conditions::new(value::distinct(node, report, condition))
}

/// `Bypass-Cache`, `{ header: Bypass-Cache }`, `{ cookie: preview }`, `${query.nocache == '1'}`.
fn condition(node: Node<'_>, report: &mut Report) -> Option<Condition> {
    match node.shape() {
        Shape::Text(text) if text.contains("${") => template::condition(node, report).map(Condition::Holds),
        Shape::Map(_) => named(node, report),
        _ => value::parsed(node, report, field::for_condition).map(Condition::Header),
    }
}

fn named(node: Node<'_>, report: &mut Report) -> Option<Condition> {
    let section = Section::open(node, &schema::CONDITION, report)?;
    match (section.get("header"), section.get("cookie")) {
        (Some(node), None) => value::parsed(node, report, field::for_condition).map(Condition::Header),
        (None, Some(node)) => value::parsed(node, report, field::cookie).map(Condition::Cookie),
        (Some(_), Some(cookie)) => {
            report.at_key(
                cookie,
                "`header` and `cookie` stand in one condition",
                "write two, one of which is enough: `[{ header: … }, { cookie: … }]`",
            );
            None
        }
        (None, None) => {
            if section.is_empty() {
                report.at(node, "the condition is empty", "write `{ header: … }` or `{ cookie: … }`");
            }
            None
        }
    }
}
