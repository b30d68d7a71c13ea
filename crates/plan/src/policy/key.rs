//! Key: the section `key` of a cache → [`KeyPolicy`].

use http::HeaderValue;
use rules::{NamePattern, QueryNames};

use super::field;
use crate::meant::KeyPolicy;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;
use crate::{schema, template};

/// Stars in one pattern: no name needs more.
const MOST_STARS: usize = 4;

/// Reads what a stored answer is found by.
pub(super) fn key(node: Node<'_>, report: &mut Report) -> Option<KeyPolicy> {
    let mut key = KeyPolicy::default();
    let section = Section::open(node, &schema::KEY, report)?;
    section.set("scheme", &mut key.scheme, report, value::switch);
    section.set("host", &mut key.host, report, value::switch);
    section.set("query", &mut key.query.names, report, query);
    section.set("sort", &mut key.query.sort, report, value::switch);
    section.set("headers", &mut key.headers, report, |node, report| {
        Some(value::distinct(node, report, |node, report| value::parsed(node, report, field::for_key)))
    });
    key.cookies = section.get("cookies").map(|node| {
        value::distinct_or_none(node, report, |node, report| value::parsed(node, report, field::cookie))
    });
    key.by = section.get("by").and_then(|node| template::varying(node, report));
    section.set("encodings", &mut key.fold_encodings, report, |node, report| {
        value::choice(node, &[("as_sent", false), ("fold", true)], report)
    });
    key.fold_languages = section.get("languages").and_then(|node| languages(node, report));
    section.set("no_vary_search", &mut key.no_vary_search, report, |node, report| {
        value::choice(node, &[("honour", true), ("ignore", false)], report)
    });
    section.set("reflected", &mut key.reflected, report, |node, report| {
        value::choice(node, &[("key", true), ("ignore", false)], report)
    });
    if key.query.sort
        && key.query.names == QueryNames::None
        && let Some(node) = section.get("sort")
    {
        report.at_key(
            node,
            "`sort` has nothing to sort: no parameter counts",
            "take `sort` out, or `query: false`",
        );
    }
    Some(key)
}

/// `true`, `false`, `{ only: [...] }`, `{ except: [...] }`.
fn query(node: Node<'_>, report: &mut Report) -> Option<QueryNames> {
    if let Shape::Text(_) = node.shape() {
        return Some(if value::switch(node, report)? { QueryNames::All } else { QueryNames::None });
    }
    let section = Section::open(node, &schema::KEY_QUERY, report)?;
    match (section.get("only"), section.get("except")) {
        (Some(node), None) => Some(QueryNames::Only(patterns(node, "true", report))),
        (None, Some(node)) => Some(QueryNames::Except(patterns(node, "false", report))),
        (Some(_), Some(except)) => {
            report.at_key(
                except,
                "`only` and `except` both stand here",
                "keep one: what `only` leaves out is out already",
            );
            None
        }
        (None, None) => {
            if section.is_empty() {
                report.at(
                    node,
                    "`query` names no parameter",
                    "write `{ except: [utm_*] }`, `true` or `false`",
                );
            }
            None
        }
    }
}

/// `all`: what one would write to have every name taken.
fn patterns(node: Node<'_>, all: &str, report: &mut Report) -> Vec<NamePattern> {
    value::distinct(node, report, |node, report| value::parsed(node, report, |text| pattern(text, all)))
}

fn pattern(text: &str, all: &str) -> Result<NamePattern, Reason> {
    let wrong = |cause: &str, remedy: String| Err(Reason::new(format!("{} {cause}", quoted(text)), remedy));
    if text.is_empty()
        || text.len() > 256
        || !text.bytes().all(|b| b.is_ascii_graphic() && !b"&=?#".contains(&b))
    {
        return wrong(
            "is not a parameter's name",
            "write the name alone, as it stands in a query (`%20` for a space), like `utm_*`".to_owned(),
        );
    }
    if text.bytes().all(|byte| byte == b'*') {
        return wrong("takes every parameter", format!("write `query: {all}`"));
    }
    if text.bytes().filter(|byte| *byte == b'*').count() > MOST_STARS {
        return wrong("has too many `*`", format!("write at most {MOST_STARS}"));
    }
    Ok(NamePattern::new(text))
}

/// `as_sent`, or the languages there are.
fn languages(node: Node<'_>, report: &mut Report) -> Option<Vec<HeaderValue>> {
    if let Shape::Text("as_sent") = node.shape() {
        return None;
    }
    Some(value::distinct(node, report, |node, report| value::parsed(node, report, language)))
}

/// A language tag (RFC 5646 §2.1), put into lower case: it is compared so.
fn language(text: &str) -> Result<HeaderValue, Reason> {
    let is_part =
        |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_alphanumeric());
    let is_tag = text.split('-').all(is_part)
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.len() <= 64;
    match HeaderValue::from_str(&text.to_ascii_lowercase()) {
        Ok(tag) if is_tag => Ok(tag),
        _ => Err(Reason::new(
            format!("{} is not a language", quoted(text)),
            "write one like `en` or `pt-BR`, or `as_sent` instead of the list",
        )),
    }
}
