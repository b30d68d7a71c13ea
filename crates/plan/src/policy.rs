//! Policy: one entry of `policies` → [`CachePolicy`]. Called by `check` for each.

use http::HeaderName;

use crate::fault::{Reason, Report, quoted};
use crate::meant::CachePolicy;
use crate::section::Section;
use crate::tree::{Node, Shape};
use crate::{schema, unit, value};

/// Reads a policy. `None` when a fault left nothing of it.
pub(crate) fn policy(node: Node<'_>, report: &mut Report) -> Option<CachePolicy> {
    let section = Section::open(node, &schema::POLICY, report)?;
    cache(node.key(), section.need("cache", report)?, report)
}

fn cache(name: &str, node: Node<'_>, report: &mut Report) -> Option<CachePolicy> {
    let mut policy = CachePolicy { name: name.to_owned(), ..CachePolicy::default() };
    if let Shape::Text(text) = node.shape() {
        if text == "true" {
            return Some(policy);
        }
        report.at(
            node,
            format!("{} is not a cache", quoted(text)),
            "write `true` for the defaults, or keys like `{ ttl: 5s }`",
        );
        return None;
    }
    let section = Section::open(node, &schema::CACHE, report)?;
    let rules = &mut policy.rules;
    section.set("ttl", &mut rules.default_ttl, report, |node, report| {
        value::parsed(node, report, |text| or_word(text, "origin", unit::duration))
    });
    section.set("heuristic", &mut rules.heuristic, report, |node, report| {
        value::parsed(node, report, |text| or_word(text, "off", unit::fraction))
    });
    section.set("stale", &mut rules.stale_while_revalidate, report, value::duration);
    section.set("if_error", &mut rules.stale_if_error, report, value::duration);
    section.set("client_directives", &mut rules.client_directives, report, |node, report| {
        value::choice(node, &[("honour", true), ("ignore", false)], report)
    });
    section.set("store_set_cookie", &mut rules.store_set_cookie, report, value::switch);
    section.set("targeted", &mut rules.targeted, report, |node, report| Some(targeted(node, report)));
    section.set("max_body", &mut policy.max_body, report, |node, report| {
        value::size(node, "1B", "1TiB", report)
    });
    section.set("variants", &mut policy.max_variants, report, |node, report| {
        Some(value::number(node, 1..=1000, report)? as usize)
    });
    section.set("coalesce", &mut policy.coalesce, report, value::switch);
    Some(policy)
}

/// `None` for the word, otherwise what `read` says.
fn or_word<T>(
    text: &str,
    word: &str,
    read: impl FnOnce(&str) -> Result<T, Reason>,
) -> Result<Option<T>, Reason> {
    if text == word {
        return Ok(None);
    }
    read(text)
        .map(Some)
        .map_err(|reason| Reason { remedy: format!("{}, or `{word}`", reason.remedy), ..reason })
}

/// Field names; an empty list obeys none.
fn targeted(node: Node<'_>, report: &mut Report) -> Vec<HeaderName> {
    match node.shape() {
        Shape::List(items) if items.is_empty() => Vec::new(),
        _ => value::distinct(node, report, |node, report| value::parsed(node, report, field_name)),
    }
}

fn field_name(text: &str) -> Result<HeaderName, Reason> {
    match HeaderName::from_bytes(text.as_bytes()) {
        Ok(http::header::CACHE_CONTROL) => Err(Reason::new(
            format!("{} is no targeted field", quoted(text)),
            "take it out: it is obeyed anyway, after these",
        )),
        Ok(name) => Ok(name),
        Err(_) => Err(Reason::new(
            format!("{} is not a field name", quoted(text)),
            "write a name like `CDN-Cache-Control`",
        )),
    }
}
