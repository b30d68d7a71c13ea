//! Breaker: `breaker` of a policy → [`Breaker`]: `true`, or its section.

use std::time::Duration;

use bytes::Bytes;
use guard::Opens;

use crate::meant::Breaker;
use crate::policy::failures::failures;
use crate::routes::compose::constant;
use crate::yaml::fault::{Reason, Report};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::{unit, value};
use crate::{default, schema};

/// Reads when calls are not made. `name` is the policy's.
pub(super) fn breaker(name: &str, node: Node<'_>, report: &mut Report) -> Option<Breaker> {
    let mut breaker = Breaker {
        name: name.to_owned(),
        rule: default::BREAKER,
        failures: Breaker::failures(),
        instead: None,
    };
    if let Shape::Text("true") = node.shape() {
        return Some(breaker);
    }
    let section = Section::open(node, &schema::BREAKER, report)?;
    breaker.rule.opens = opens(&section, report);
    let mut rests = (breaker.rule.first_rest, breaker.rule.longest_rest);
    section.set("probe", &mut rests, report, |node, report| value::parsed(node, report, rest));
    (breaker.rule.first_rest, breaker.rule.longest_rest) = rests;
    section.set("successes", &mut breaker.rule.probes, report, |node, report| {
        Some(value::number(node, 1..=1000, report)? as u32)
    });
    section.set("on", &mut breaker.failures, report, |node, report| Some(failures(node, report)));
    section.set("instead", &mut breaker.instead, report, |node, report| {
        Some(Some(Bytes::from(constant(node, report)?)))
    });
    Some(breaker)
}

/// By a share of failures, or by failures in a row.
fn opens(section: &Section<'_>, report: &mut Report) -> Opens {
    let Opens::Share { mut share, mut window, mut fewest } = default::BREAKER.opens else {
        unreachable!("the default is a share")
    };
    if let Some(node) = section.get("in_a_row") {
        for word in ["errors", "window", "calls"] {
            if let Some(other) = section.get(word) {
                let cause =
                    format!("`{word}` is for a share of failures, and `in_a_row` for failures in a row");
                report.at_key(other, cause, "take one of them out");
            }
        }
        return Opens::InARow(value::number(node, 1..=1_000_000, report).unwrap_or(1) as u32);
    }
    section
        .set("errors", &mut share, report, |node, report| value::parsed(node, report, unit::some_fraction));
    section.set("window", &mut window, report, value::timeout);
    section.set("calls", &mut fewest, report, |node, report| {
        Some(value::number(node, 1..=1_000_000, report)? as u32)
    });
    Opens::Share { share, window, fewest }
}

/// `5s`, or `1s..30s`.
fn rest(text: &str) -> Result<(Duration, Duration), Reason> {
    let Some((first, longest)) = text.split_once("..") else {
        return rest(&format!("{text}..{text}"));
    };
    let (first, longest) = (unit::duration(first)?, unit::duration(longest)?);
    if first.is_zero() {
        return Err(Reason::new(
            "the first rest is no time at all",
            "write a duration above zero, like `1s..30s`",
        ));
    }
    if first > longest {
        return Err(Reason::new("the first rest is longer than the longest", "write it like `1s..30s`"));
    }
    Ok((first, longest))
}
