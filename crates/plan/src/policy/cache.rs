//! Cache: the section `cache` of a policy → [`CachePolicy`].

use std::time::Duration;

use rules::Mode;

use super::{compress, condition, field, key, negative};
use crate::meant::{BodyKeys, CachePolicy, Condition, Counted, StatusForm};
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::unit;
use crate::yaml::value;
use crate::{schema, template};

/// Reads how to cache. `name` is the policy's.
pub(super) fn cache(name: &str, node: Node<'_>, report: &mut Report) -> Option<CachePolicy> {
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
    lifetimes(&section, &mut policy, report);
    section
        .set("bypass", &mut policy.bypass, report, |node, report| Some(condition::conditions(node, report)));
    section.set("skip_for", &mut policy.skip_for, report, |node, report| {
        Some(condition::conditions(node, report))
    });
    policy.per = section.get("per").and_then(|node| template::varying(node, report));
    section.set("key", &mut policy.key, report, key::key);
    policy.rules.cookies_keyed = policy.key.cookies.is_some();
    section.set("body_keys", &mut policy.body_keys, report, body_keys);
    section.set("tags", &mut policy.tags, report, |node, report| {
        Some(value::distinct_or_none(node, report, |node, report| {
            value::parsed(node, report, field::for_tags)
        }))
    });
    policy.compress = section.get("compress").and_then(|node| compress::compress(node, report));
    section.set("cache_status", &mut policy.status_form, report, |node, report| {
        let words = [("field", StatusForm::Field), ("word", StatusForm::Word), ("off", StatusForm::Off)];
        value::choice(node, &words, report)
    });
    section.set("client_directives", &mut policy.rules.client_directives, report, |node, report| {
        value::choice(node, &[("honour", true), ("ignore", false)], report)
    });
    section.set("store_set_cookie", &mut policy.rules.store_set_cookie, report, value::switch);
    section.set("targeted", &mut policy.rules.targeted, report, |node, report| {
        Some(value::distinct_or_none(node, report, |node, report| {
            value::parsed(node, report, field::targeted)
        }))
    });
    section.set("max_body", &mut policy.max_body, report, |node, report| {
        value::size(node, "1B", "1TiB", report)
    });
    section.set("variants", &mut policy.max_variants, report, |node, report| {
        Some(value::number(node, 1..=1000, report)? as usize)
    });
    policy.shared = section.get("tier").is_some();
    section.set("coalesce", &mut policy.coalesce, report, value::switch);
    contradictions(&section, &policy, report);
    hints(&section, &policy, report);
    policy.counted = Counted::of(&policy);
    Some(policy)
}

/// What stands behind `tier`: the name of a source, which is looked for where those are known.
pub(super) fn tier(node: Node<'_>) -> Option<Node<'_>> {
    match node.shape() {
        Shape::Map(entries) => entries.into_iter().find(|entry| entry.key() == "tier"),
        _ => None,
    }
}

/// The words that say for how long.
fn lifetimes(section: &Section<'_>, policy: &mut CachePolicy, report: &mut Report) {
    let rules = &mut policy.rules;
    section.set("mode", &mut rules.mode, report, |node, report| {
        let words = [("origin", Mode::Origin), ("static", Mode::Static), ("force", Mode::Force)];
        value::choice(node, &words, report)
    });
    section.set("ttl", &mut rules.default_ttl, report, |node, report| {
        value::parsed(node, report, |text| or_word(text, "origin", unit::duration))
    });
    section.set("max_ttl", &mut rules.max_ttl, report, |node, report| {
        value::parsed(node, report, |text| or_word(text, "off", above_zero))
    });
    section.set("client_ttl", &mut rules.client_ttl, report, |node, report| {
        value::parsed(node, report, |text| or_word(text, "off", unit::duration))
    });
    section.set("negative", &mut rules.by_status, report, negative::negative);
    section.set("heuristic", &mut rules.heuristic, report, |node, report| {
        value::parsed(node, report, |text| or_word(text, "off", unit::fraction))
    });
    section.set("stale", &mut rules.stale_while_revalidate, report, value::duration);
    section.set("if_error", &mut rules.stale_if_error, report, |node, report| {
        value::duration(node, report).map(Some)
    });
    section.set("jitter", &mut policy.jitter, report, |node, report| {
        value::parsed(node, report, |text| or_word(text, "off", part))
    });
    section.set("early", &mut policy.early, report, |node, report| {
        value::parsed(node, report, |text| or_word(text, "off", part))
    });
}

/// What is right, and probably not meant.
fn hints(section: &Section<'_>, policy: &CachePolicy, report: &mut Report) {
    let names_cookies =
        policy.skip_for.all().iter().any(|condition| matches!(condition, Condition::Cookie(_)));
    if let Some(node) = section.get("skip_for")
        && names_cookies
        && policy.key.cookies.is_none()
        && policy.per.is_none()
        && policy.rules.mode != Mode::Force
    {
        report.hint_at_key(
            node,
            "`skip_for` names cookies, yet a request with any other cookie (`_ga`, a banner's) shares nothing either",
            "write `key: { cookies: [] }`: the source then sees no cookie of requests that share, and they do share; \
             list the cookies that its answers depend on",
        );
    }
}

/// What is right by itself and makes no sense together.
fn contradictions(section: &Section<'_>, policy: &CachePolicy, report: &mut Report) {
    let rules = &policy.rules;
    if let Some(node) = section.get("mode")
        && rules.mode != Mode::Origin
        && rules.default_ttl.is_none()
        && !has_lifetimes(section)
    {
        let cause = format!("{} has no lifetime to give", quoted(written(node)));
        report.at(node, cause, "add a `ttl`, like `ttl: 10s`, or `negative`");
    }
    if let Some(most) = rules.max_ttl {
        let limit = section.get("max_ttl").map_or("", written);
        let below = |name: &str, duration: Option<Duration>, report: &mut Report| {
            if let Some(node) = section.get(name)
                && duration.is_some_and(|duration| duration > most)
            {
                let remedy = format!("write at most `{limit}`, or raise `max_ttl`");
                report.at(node, format!("{} is above `max_ttl`", quoted(name)), remedy);
            }
        };
        below("ttl", rules.default_ttl, report);
        below("client_ttl", rules.client_ttl, report);
        // `true` means what is usual, within what the file allows otherwise.
        if section.get("negative").is_some_and(|node| matches!(node.shape(), Shape::Map(_))) {
            below("negative", rules.by_status.iter().map(|(_, duration)| *duration).max(), report);
        }
    }
    let ignored =
        [("client_directives", rules.client_directives), ("store_set_cookie", rules.store_set_cookie)];
    for (word, is_set) in ignored {
        if let Some(node) = section.get(word)
            && is_set
            && rules.mode == Mode::Force
        {
            let cause = format!("{} has no effect with `mode: force`", quoted(word));
            report.at_key(node, cause, "take one of them out");
        }
    }
    if let Some(node) = section.get("per")
        && rules.mode == Mode::Force
    {
        report.at_key(
            node,
            "`per` is for answers of one user, and `mode: force` for those of everybody",
            "take one of them out: with `mode: origin`, `per` keeps answers that say they are fresh",
        );
    }
}

/// Whether a lifetime is written, even a wrong one.
fn has_lifetimes(section: &Section<'_>) -> bool {
    let is_written = |name: &str, none: &str| {
        section.get(name).is_some_and(|node| !matches!(node.shape(), Shape::Text(text) if text == none))
    };
    is_written("ttl", "origin") || is_written("negative", "false")
}

/// The word in a node that was read as one.
fn written(node: Node<'_>) -> &str {
    match node.shape() {
        Shape::Text(text) => text,
        _ => "",
    }
}

/// Requests with content that are answered from the cache.
fn body_keys(node: Node<'_>, report: &mut Report) -> Option<BodyKeys> {
    let mut keys = BodyKeys::default();
    let section = Section::open(node, &schema::BODY_KEYS, report)?;
    if let Some(node) = section.get("methods") {
        let methods = value::distinct_or_none(node, report, |node, report| {
            value::parsed(node, report, |text| match text {
                "QUERY" | "POST" => Ok(text.to_owned()),
                "GET" | "HEAD" => Err(Reason::new(
                    format!("{} has no content", quoted(text)),
                    "take it out: it is answered from the cache anyway",
                )),
                _ => Err(Reason::new(
                    format!("{} is never answered from the cache", quoted(text)),
                    "write `QUERY`, or `POST` where it only reads",
                )),
            })
        });
        keys.query = methods.iter().any(|method| method == "QUERY");
        keys.post = methods.iter().any(|method| method == "POST");
    }
    section.set("graphql", &mut keys.graphql, report, value::switch);
    if let Some(node) = section.get("graphql")
        && keys.graphql
        && keys.post
    {
        report.at_key(
            node,
            "`graphql` is for POST whose content is a query, and `methods` takes any POST",
            "take `POST` out of `methods`",
        );
    }
    section.set("max", &mut keys.max, report, |node, report| value::size(node, "1B", "1MiB", report));
    Some(keys)
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

/// A share that leaves something and takes something.
fn part(text: &str) -> Result<f64, Reason> {
    match unit::fraction(text)? {
        share if (0.01..=0.9).contains(&share) => Ok(share),
        _ => {
            Err(Reason::new(format!("{} is out of range", quoted(text)), "write a share from `1%` to `90%`"))
        }
    }
}

fn above_zero(text: &str) -> Result<Duration, Reason> {
    match unit::duration(text)? {
        Duration::ZERO => Err(Reason::new(
            format!("{} would keep nothing fresh", quoted(text)),
            "write a duration above zero, or a route without a cache",
        )),
        duration => Ok(duration),
    }
}
