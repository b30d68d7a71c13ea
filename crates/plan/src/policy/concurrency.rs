//! Concurrency: `concurrency` of a policy → [`Concurrency`]: `64`, or its section.

use std::ops::RangeInclusive;

use crate::meant::Concurrency;
use crate::policy::queue::queue;
use crate::yaml::fault::Report;
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;
use crate::{default, schema};

const CALLS: RangeInclusive<u64> = 1..=1_000_000;

/// Reads how many calls may be under way. `name` is the policy's.
pub(super) fn concurrency(name: &str, node: Node<'_>, report: &mut Report) -> Option<Concurrency> {
    let fixed = |most: u64| guard::Concurrency::Fixed(most as u32);
    if let Shape::Text(_) = node.shape() {
        let most = fixed(value::number(node, CALLS, report)?);
        return Some(Concurrency { name: name.to_owned(), most, queue: None });
    }
    let section = Section::open(node, &schema::CONCURRENCY, report)?;
    let most = match (section.get("max"), section.get("adaptive")) {
        (_, Some(node)) => {
            if let Some(max) = section.get("max") {
                report.at_key(max, "`adaptive` has a `most` of its own", "take one of them out");
            }
            adaptive(node, report)?
        }
        (Some(node), None) => fixed(value::number(node, CALLS, report)?),
        (None, None) => {
            section.need("max", report);
            return None;
        }
    };
    Some(Concurrency {
        name: name.to_owned(),
        most,
        queue: section.get("queue").and_then(|node| queue(node, report)),
    })
}

/// `true`, or its section.
fn adaptive(node: Node<'_>, report: &mut Report) -> Option<guard::Concurrency> {
    let (mut least, mut most) = (1, default::CONCURRENCY_MOST);
    if let Shape::Text("true") = node.shape() {
        return Some(guard::Concurrency::Adaptive { least, most, first: default::CONCURRENCY_FIRST });
    }
    let section = Section::open(node, &schema::ADAPTIVE, report)?;
    let calls = |node: Node<'_>, report: &mut Report| Some(value::number(node, CALLS, report)? as u32);
    section.set("least", &mut least, report, calls);
    section.set("most", &mut most, report, calls);
    if least > most {
        report.at(
            section.get("least").unwrap_or(node),
            "`least` is more than `most`",
            "write less than `most`",
        );
    }
    let mut first = default::CONCURRENCY_FIRST.clamp(least, most.max(least));
    section.set("first", &mut first, report, calls);
    if let Some(node) = section.get("first")
        && least <= most
        && !(least..=most).contains(&first)
    {
        let cause = format!("`first` is not between `least` ({least}) and `most` ({most})");
        report.at(node, cause, "write a number between the two, or move them");
    }
    Some(guard::Concurrency::Adaptive { least, most: most.max(least), first })
}
