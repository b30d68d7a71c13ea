//! Failures: `on` of a retry or a breaker → [`Failures`]: `[503, connect]`.

use expression::nearest;
use http::StatusCode;
use message::Kind;

use crate::meant::Failures;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::tree::Node;
use crate::yaml::value;

/// Reads statuses and errors. Whoever lists some means these alone.
pub(super) fn failures(node: Node<'_>, report: &mut Report) -> Failures {
    let mut failures = Failures::default();
    for rule in value::distinct(node, report, |node, report| value::parsed(node, report, rule)) {
        match rule {
            Rule::Status(status) => failures.statuses.push(status),
            Rule::Error(kind) => failures.errors.push(kind),
        }
    }
    failures
}

#[derive(PartialEq)]
enum Rule {
    Status(StatusCode),
    Error(Kind),
}

fn rule(text: &str) -> Result<Rule, Reason> {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        let status = text.parse::<u16>().ok().filter(|status| (400..600).contains(status));
        let status = status.and_then(|status| StatusCode::from_u16(status).ok());
        let remedy = "write one of 400 to 599, like `503`";
        return status
            .map(Rule::Status)
            .ok_or_else(|| Reason::new(format!("{} is no status of an error", quoted(text)), remedy));
    }
    let words = Kind::of_sources;
    if let Some(kind) = words().find(|kind| kind.word() == text) {
        return Ok(Rule::Error(kind));
    }
    let remedy = if let Some(meant) = nearest(text, words().map(Kind::word)) {
        format!("write `{meant}`")
    } else {
        let words: Vec<_> = words().map(|kind| format!("`{}`", kind.word())).collect();
        format!("write a status, or one of {}", words.join(", "))
    };
    Err(Reason::new(format!("{} is no error of a source", quoted(text)), remedy))
}
