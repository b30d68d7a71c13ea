//! Queue: `queue` of a limit or of `concurrency` → [`Queue`].

use crate::meant::Queue;
use crate::template::varying;
use crate::yaml::fault::Report;
use crate::yaml::section::Section;
use crate::yaml::tree::Node;
use crate::yaml::value;
use crate::{default, schema};

/// Reads how calls wait.
pub(super) fn queue(node: Node<'_>, report: &mut Report) -> Option<Queue> {
    let section = Section::open(node, &schema::QUEUE, report)?;
    let mut queue = Queue {
        wait: section.need("wait", report).and_then(|node| value::timeout(node, report))?,
        size: default::QUEUE_SIZE,
        priority: None,
        fair: None,
    };
    section.set("size", &mut queue.size, report, |node, report| {
        Some(value::number(node, 1..=1_000_000, report)? as usize)
    });
    queue.priority = section.get("priority").and_then(|node| varying(node, report));
    queue.fair = section.get("fair").and_then(|node| varying(node, report));
    Some(queue)
}
