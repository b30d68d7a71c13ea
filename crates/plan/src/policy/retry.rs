//! Retry: `retry` of a policy → [`Retry`]: `true`, or its section.

use std::time::Duration;

use crate::meant::Retry;
use crate::policy::failures::failures;
use crate::schema;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::{unit, value};

/// Reads when calls are made again. `name` is the policy's.
pub(super) fn retry(name: &str, node: Node<'_>, report: &mut Report) -> Option<Retry> {
    let mut retry = Retry { name: name.to_owned(), ..Retry::default() };
    if let Shape::Text("true") = node.shape() {
        return Some(retry);
    }
    let section = Section::open(node, &schema::RETRY, report)?;
    section.set("attempts", &mut retry.attempts, report, |node, report| {
        Some(value::number(node, 2..=10, report)? as u32)
    });
    let mut backoff = (retry.first, retry.longest);
    section.set("backoff", &mut backoff, report, |node, report| value::parsed(node, report, pauses));
    (retry.first, retry.longest) = backoff;
    section
        .set("budget", &mut retry.share, report, |node, report| value::parsed(node, report, unit::fraction));
    section.set("floor", &mut retry.floor, report, |node, report| {
        let rate = value::parsed(node, report, unit::rate)?;
        Some(rate.count as f64 / rate.per.as_secs_f64())
    });
    section.set("on", &mut retry.on, report, |node, report| Some(failures(node, report)));
    section.set("methods", &mut retry.any_method, report, |node, report| {
        value::choice(node, &[("idempotent", false), ("all", true)], report)
    });
    section.set("replay", &mut retry.replay, report, |node, report| value::size(node, "0B", "64MiB", report));
    Some(retry)
}

/// `50ms..2s`.
fn pauses(text: &str) -> Result<(Duration, Duration), Reason> {
    let remedy = "write the first pause and the longest, like `50ms..2s`";
    let Some((first, longest)) = text.split_once("..") else {
        return Err(Reason::new(format!("{} is no range of pauses", quoted(text)), remedy));
    };
    let (first, longest) = (unit::duration(first)?, unit::duration(longest)?);
    if first > longest {
        return Err(Reason::new("the first pause is longer than the longest", remedy));
    }
    Ok((first, longest))
}
