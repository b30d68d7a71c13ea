//! Faults: `faults` of a policy → [`FaultInjection`].

use std::time::Duration;

use http::StatusCode;

use super::respond;
use crate::meant::{Abort, Delay, FaultInjection};
use crate::schema;
use crate::yaml::fault::{Reason, Report};
use crate::yaml::section::Section;
use crate::yaml::tree::Node;
use crate::yaml::{unit, value};

/// Reads what goes wrong on purpose. `name` is the policy's.
pub(super) fn faults(name: &str, node: Node<'_>, report: &mut Report) -> Option<FaultInjection> {
    let section = Section::open(node, &schema::FAULTS, report)?;
    if ["delay", "abort", "cut"].iter().all(|word| section.get(word).is_none()) && !section.has_unknown() {
        let remedy = format!("write it like `{}`", schema::FAULTS.example);
        report.at(node, "`faults` does not say what goes wrong", remedy);
    }
    Some(FaultInjection {
        name: name.to_owned(),
        when: respond::when(&section, report),
        delay: section.get("delay").and_then(|node| delay(node, report)),
        abort: section.get("abort").and_then(|node| abort(node, report)),
        cut: section.get("cut").and_then(|node| cut(node, report)).unwrap_or_default(),
    })
}

fn delay(node: Node<'_>, report: &mut Report) -> Option<Delay> {
    let section = Section::open(node, &schema::FAULTS_DELAY, report)?;
    let share = share(&section, report);
    let (least, most) = value::parsed(section.need("for", report)?, report, times)?;
    Some(Delay { share: share?, least, most })
}

fn abort(node: Node<'_>, report: &mut Report) -> Option<Abort> {
    let section = Section::open(node, &schema::FAULTS_ABORT, report)?;
    let mut abort = Abort { share: share(&section, report)?, status: StatusCode::SERVICE_UNAVAILABLE };
    section.set("status", &mut abort.status, report, |node, report| {
        value::parsed(node, report, respond::status)
    });
    Some(abort)
}

fn cut(node: Node<'_>, report: &mut Report) -> Option<f64> {
    share(&Section::open(node, &schema::FAULTS_CUT, report)?, report)
}

fn share(section: &Section<'_>, report: &mut Report) -> Option<f64> {
    value::parsed(section.need("share", report)?, report, unit::fraction)
}

/// `200ms..1s`, `1s`.
fn times(text: &str) -> Result<(Duration, Duration), Reason> {
    let (least, most) = text.split_once("..").unwrap_or((text, text));
    let (least, most) = (unit::duration(least)?, unit::duration(most)?);
    if least > most {
        return Err(Reason::new(
            "the shortest delay is longer than the longest",
            "write it like `200ms..1s`",
        ));
    }
    Ok((least, most))
}
