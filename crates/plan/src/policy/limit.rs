//! Limit: `limit` of a policy → [`Limit`]: `100/s`, or its section.

use crate::known::NamedSources;
use crate::meant::{Algorithm, Limit, LimitBy};
use crate::policy::queue::queue;
use crate::policy::shared::shared;
use crate::policy::shares::shares;
use crate::yaml::fault::Report;
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::unit::{self, Rate};
use crate::yaml::value;
use crate::{default, schema, template};

/// Reads how often calls may be made. `name` is the policy's.
pub(super) fn limit(
    name: &str,
    node: Node<'_>,
    sources: NamedSources<'_, '_>,
    report: &mut Report,
) -> Option<Limit> {
    if let Shape::Text(_) = node.shape() {
        return Some(of(name, value::parsed(node, report, unit::rate)?));
    }
    let section = Section::open(node, &schema::LIMIT, report)?;
    let mut limit = of(name, value::parsed(section.need("rate", report)?, report, unit::rate)?);
    section.set("algorithm", &mut limit.algorithm, report, |node, report| {
        let words = [("gcra", Algorithm::Gcra), ("fixed", Algorithm::Fixed), ("sliding", Algorithm::Sliding)];
        value::choice(node, &words, report)
    });
    section.set("burst", &mut limit.burst, report, |node, report| {
        value::number(node, 1..=1_000_000_000, report)
    });
    if let Some(node) = section.get("burst")
        && limit.algorithm != Algorithm::Gcra
    {
        report.at_key(
            node,
            "`burst` is for `algorithm: gcra`",
            "take it out: a window lets all of `rate` come at once",
        );
    }
    section.set("per", &mut limit.by, report, by);
    if let Some(node) = section.get("shares") {
        for (word, is_in_the_way) in
            [("per", section.get("per").is_some()), ("algorithm", limit.algorithm != Algorithm::Gcra)]
        {
            if is_in_the_way {
                let cause = format!(
                    "`shares` and `{word}` do not go together: all groups are within one limit, counted by `gcra`"
                );
                report.at_key(node, cause, format!("take `{word}` out"));
            }
        }
        limit.by = shares(node, report).map_or(LimitBy::All, LimitBy::Shares);
        if let LimitBy::Shares(shares) = &limit.by
            && limit.burst <= shares.of.len() as u64
        {
            report.at_key(
                node,
                "each group needs room for a call of its own",
                "write a `burst` above the number of groups",
            );
        }
    }
    limit.queue = section.get("queue").and_then(|node| queue(node, report));
    section.set("values", &mut limit.keys, report, |node, report| {
        Some(value::number(node, 1..=10_000_000, report)? as usize)
    });
    limit.shared = section.get("shared").and_then(|node| shared(node, &limit, sources, report));
    Some(limit)
}

fn of(name: &str, rate: Rate) -> Limit {
    Limit {
        name: name.to_owned(),
        algorithm: Algorithm::default(),
        amount: rate.count,
        per: rate.per,
        burst: rate.count,
        by: LimitBy::All,
        keys: default::LIMIT_KEYS,
        queue: None,
        shared: None,
    }
}

/// `provider`, or an expression.
fn by(node: Node<'_>, report: &mut Report) -> Option<LimitBy> {
    if value::is_word(node, |text| text == "provider") {
        return Some(LimitBy::Source);
    }
    if value::word(node).is_some_and(|text| !text.contains("${")) {
        let cause = "this is the same for every call".to_owned();
        report.at(
            node,
            cause,
            "write an expression, like `\"${client.network}\"`, or `provider` for each source",
        );
        return None;
    }
    template::varying(node, report).map(LimitBy::Value)
}
