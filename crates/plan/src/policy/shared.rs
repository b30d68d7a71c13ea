//! Shared: `shared` of a limit → [`SharedLimit`]: the name of a source, or its section.

use std::sync::Arc;
use std::time::Duration;

use guard::JointQuota;

use crate::known::{KnownSource, NamedSources, SourceKind};
use crate::meant::{Limit, LimitBy, RedisSource, SharedLimit, WhenGone};
use crate::source::redis_prefix;
use crate::yaml::fault::Report;
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;
use crate::{default, schema};

/// With these, everything that scripts reckon with is exact in Lua, whose numbers are so up to 2^53: microseconds since 1970 for
/// two centuries, and sums of two calls' parts.
const MOST: u64 = 1_000_000_000_000;
const LONGEST: Duration = Duration::from_hours(366 * 24);

/// Reads where instances count together; `limit` is what they count.
pub(super) fn shared(
    node: Node<'_>,
    limit: &Limit,
    sources: NamedSources<'_, '_>,
    report: &mut Report,
) -> Option<SharedLimit> {
    if matches!(limit.by, LimitBy::Shares(_)) {
        report.at_key(
            node,
            "`shares` are counted by each instance for itself, so `shared` and `shares` do not go together",
            "take one of them out; or write a policy with a `shared` limit for each group",
        );
    }
    if Duration::from_micros(JointQuota::new(&limit.allowance()).window()) > LONGEST {
        let cause = "it takes more than a year until the whole quota is there again";
        report.at_key(node, cause, "write a shorter time in `rate`, or a smaller `burst`");
    }
    if limit.amount.max(limit.burst) > MOST {
        report.at_key(
            node,
            "that is more than can be counted in Redis",
            "write a `rate` of at most 1000000000000",
        );
    }
    if let Shape::Text(_) = node.shape() {
        let redis = redis(node, sources, report)?;
        return Some(SharedLimit {
            redis,
            prefix: default::PREFIX.to_owned(),
            when_gone: WhenGone::default(),
        });
    }
    let section = Section::open(node, &schema::SHARED, report)?;
    let redis = section.need("redis", report).and_then(|node| redis(node, sources, report))?;
    let mut shared =
        SharedLimit { redis, prefix: default::PREFIX.to_owned(), when_gone: WhenGone::default() };
    section.set("when_gone", &mut shared.when_gone, report, |node, report| {
        let words = [("local", WhenGone::Local), ("refuse", WhenGone::Refuse), ("allow", WhenGone::Allow)];
        value::choice(node, &words, report)
    });
    section
        .set("prefix", &mut shared.prefix, report, |node, report| value::parsed(node, report, redis_prefix));
    Some(shared)
}

fn redis(node: Node<'_>, sources: NamedSources<'_, '_>, report: &mut Report) -> Option<Arc<RedisSource>> {
    let named = value::word(node).and_then(|name| sources.known.get(name));
    if named.is_some_and(|source| source.kind == SourceKind::Store) {
        report.at(node, "a store cannot count", "write the name of a source at a Redis");
        return None;
    }
    sources.known.find(node, "Redis", KnownSource::is_redis, report)?;
    // One with a fault of its own is not in the plan, which nobody gets then.
    let name = value::word(node)?;
    sources.meant.iter().find(|source| source.name() == name)?.redis().cloned()
}
