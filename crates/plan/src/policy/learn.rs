//! Learn: `learn` of a policy → [`Learn`]: `true`, or its section.

use crate::meant::Learn;
use crate::policy::queue::queue;
use crate::template::varying;
use crate::yaml::fault::Report;
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;
use crate::{default, schema};

/// Reads how calls keep to what a source says. `name` is the policy's.
pub(super) fn learn(name: &str, node: Node<'_>, report: &mut Report) -> Option<Learn> {
    let mut learn = Learn {
        name: name.to_owned(),
        by: None,
        owners: default::LEARN_OWNERS,
        longest: default::LEARN_LONGEST,
        queue: None,
    };
    if let Shape::Text("true") = node.shape() {
        return Some(learn);
    }
    let section = Section::open(node, &schema::LEARN, report)?;
    learn.by = section.get("per").and_then(|node| varying(node, report));
    section.set("values", &mut learn.owners, report, |node, report| {
        Some(value::number(node, 1..=1_000_000, report)? as usize)
    });
    section.set("longest", &mut learn.longest, report, value::timeout);
    learn.queue = section.get("queue").and_then(|node| queue(node, report));
    Some(learn)
}
