//! Negative: lifetimes by status → the pairs of [`rules::Policy::by_status`], sorted.

use std::time::Duration;

use http::StatusCode;
use rules::status;

use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::tree::{Node, Shape};
use crate::yaml::unit;
use crate::yaml::value;

/// Reads `true`, `false`, or a mapping of statuses to durations.
pub(super) fn negative(node: Node<'_>, report: &mut Report) -> Option<Vec<(StatusCode, Duration)>> {
    match node.shape() {
        Shape::Map(entries) if entries.is_empty() => {
            report.at(node, "`negative` names no status", "write one like `{ 404: 10s }`, or take it out");
            None
        }
        Shape::Map(entries) => {
            let mut lifetimes: Vec<_> =
                entries.into_iter().filter_map(|entry| lifetime(entry, report)).collect();
            lifetimes.sort_by_key(|(status, _)| status.as_u16());
            Some(lifetimes)
        }
        Shape::Text("true") => Some(rules::policy::by_status_defaults()),
        Shape::Text("false") => Some(Vec::new()),
        Shape::Broken => None,
        Shape::Nothing | Shape::Text(_) | Shape::List(_) => {
            report.at(
                node,
                "`negative` must be `true`, `false`, or lifetimes by status",
                "write it like `negative: { 404: 10s, 301: 1h }`",
            );
            None
        }
    }
}

fn lifetime(entry: Node<'_>, report: &mut Report) -> Option<(StatusCode, Duration)> {
    let status = match status(entry.key()) {
        Ok(status) => Some(status),
        Err(Reason { cause, remedy }) => {
            report.at_key(entry, cause, remedy);
            None
        }
    };
    let lifetime = value::parsed(entry, report, |text| {
        let lifetime = unit::duration(text)?;
        if status.is_some_and(status::can_be_provoked) && lifetime > status::LONGEST_FAILURE {
            return Err(Reason::new(
                format!("{} is too long: a client can bring {} about", quoted(text), entry.key()),
                "write at most `1m`, or one strange request could close a page for everybody",
            ));
        }
        Ok(lifetime)
    });
    Some((status?, lifetime?))
}

/// A status that an answer can be stored with.
fn status(text: &str) -> Result<StatusCode, Reason> {
    let wrong = |cause: &str, remedy: &str| Err(Reason::new(format!("{} {cause}", quoted(text)), remedy));
    let code = unit::number(text).filter(|_| text.len() == 3).and_then(|code| u16::try_from(code).ok());
    match code {
        Some(428 | 429 | 431 | 511) => {
            wrong("is never stored: it is about one client or one moment (RFC 6585)", "take it out")
        }
        Some(code @ (200 | 203 | 204 | 300..=303 | 305..=599)) => match StatusCode::from_u16(code) {
            Ok(status) => Ok(status),
            Err(_) => wrong("is not a status", "write three digits, like `404`"),
        },
        Some(206) => wrong("is never stored by itself", "write `200`: parts are made from the whole answer"),
        Some(304) => wrong("is never stored", "take it out: it renews the answer that is stored"),
        Some(100..=199) => wrong("is no final answer", "take it out"),
        Some(201..=299) => wrong(
            "answers a request that writes",
            "take it out; 200, 203, 204 and those from 300 to 599 may be named",
        ),
        _ => wrong("is not a status", "write three digits from 200 to 599, like `404`"),
    }
}
