//! Redis: a source at a Redis → [`RedisSource`]; a store → [`StoreSource`]. Called by `check` for each.

use std::path::Path;
use std::time::Duration;

use crate::meant::{Login, ReadMode, RedisServer, RedisSource, RedisTier, StoreSource, Token, Topology};
use crate::source::redis_url;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;
use crate::{default, schema, secret};

/// Reads a Redis: a URL alone, or its section. `None` when a fault left no server.
pub(crate) fn redis(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<RedisSource> {
    if let Shape::Text(_) = node.shape() {
        let server = value::parsed(node, report, redis_url::server)?;
        return Some(default::redis(node.key(), Topology::Standalone(server)));
    }
    let section = Section::open(node, &schema::SOURCE_REDIS, report)?;
    let servers = section.need("redis", report).map(|node| {
        value::distinct(node, report, |node, report| value::parsed(node, report, redis_url::server))
    })?;
    let topology = topology(&section, servers, report)?;
    let mut redis = default::redis(node.key(), topology);
    section.set("user", &mut redis.login.user, report, |node, report| {
        Some(Some(value::text(node, report)?.to_owned()))
    });
    if let Some(node) = section.get("password") {
        redis.login.password = secret::secret(node, folder, report).map(Token::new);
    }
    login(&section, &redis.login, report);
    section.set("database", &mut redis.database, report, |node, report| {
        Some(value::number(node, 0..=1023, report)? as u32)
    });
    if let Some(node) = section.get("tls") {
        tls(node, &mut redis, folder, report);
    }
    section.set("timeout", &mut redis.timeout, report, value::timeout);
    section.set("connect_timeout", &mut redis.connect_timeout, report, value::timeout);
    section.set("rest", &mut redis.rest, report, value::timeout);
    section
        .set("memory", &mut redis.memory, report, |node, report| value::size(node, "1MiB", "1TiB", report));
    section.set("max_stale", &mut redis.max_stale, report, value::duration);
    section.set("public", &mut redis.public, report, value::switch);
    if let Some(mode) = mode(&section, report) {
        redis.mode = mode;
    }
    if let Some(node) = section.get("tier") {
        tier(node, &mut redis.tier, report);
    }
    contradictions(&section, &redis, report);
    Some(redis)
}

/// Reads a store.
pub(crate) fn store(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<StoreSource> {
    let section = Section::open(node, &schema::SOURCE_STORE, report)?;
    let file = section.need("store", report).and_then(|node| value::file(node, folder, report))?;
    let mut store = StoreSource { name: node.key().to_owned(), file, public: false };
    section.set("public", &mut store.public, report, value::switch);
    Some(store)
}

fn topology(section: &Section<'_>, servers: Vec<RedisServer>, report: &mut Report) -> Option<Topology> {
    #[derive(Clone, Copy, PartialEq)]
    enum Word {
        Standalone,
        Sentinel,
        Cluster,
    }
    let mut word = Word::Standalone;
    section.set("topology", &mut word, report, |node, report| {
        let words =
            [("standalone", Word::Standalone), ("sentinel", Word::Sentinel), ("cluster", Word::Cluster)];
        value::choice(node, &words, report)
    });
    let master = section.get("master");
    if let Some(node) = master.filter(|_| word != Word::Sentinel) {
        report.at_key(node, "`master` is what Sentinels know", "write `topology: sentinel`, or take it out");
    }
    match word {
        _ if servers.is_empty() => None,
        Word::Cluster => Some(Topology::Cluster(servers)),
        Word::Sentinel => {
            let Some(node) = master else {
                let node = section.get("topology")?;
                report.at(
                    node,
                    "`master` is missing",
                    "add what the Sentinels call it, like `master: mymaster`",
                );
                return None;
            };
            let master = value::text(node, report)?.to_owned();
            Some(Topology::Sentinel { sentinels: servers, master })
        }
        Word::Standalone if servers.len() > 1 => {
            if let Some(node) = section.get("redis") {
                report.at(
                    node,
                    format!("{} servers are named, and it is not said what they are", servers.len()),
                    "write `topology: cluster` or `topology: sentinel`, or one server",
                );
            }
            None
        }
        Word::Standalone => servers.into_iter().next().map(Topology::Standalone),
    }
}

fn login(section: &Section<'_>, login: &Login, report: &mut Report) {
    if let Some(node) = section.get("user")
        && login.password.is_none()
        && section.get("password").is_none()
    {
        report.at_key(node, "`user` has no `password`", "add it: `password: { file: redis.password }`");
    }
}

fn tls(node: Node<'_>, redis: &mut RedisSource, folder: &Path, report: &mut Report) {
    let Some(section) = Section::open(node, &schema::SOURCE_TLS, report) else { return };
    section.set("verify", &mut redis.verify, report, value::switch);
    redis.authorities = section.get("authorities").and_then(|node| value::file(node, folder, report));
    let uses_tls = |server: &RedisServer| matches!(server, RedisServer::Tcp { tls: true, .. });
    if !redis.topology.servers().iter().any(uses_tls) {
        report.at_key(
            node,
            "`tls` has no effect: every server is at `redis`",
            "write `rediss://` in the URLs, or take `tls` out",
        );
    }
}

fn mode(section: &Section<'_>, report: &mut Report) -> Option<ReadMode> {
    #[derive(Clone, Copy, PartialEq)]
    enum Word {
        Central,
        Replica,
        Tracked,
    }
    let mut word = Word::Central;
    section.set("mode", &mut word, report, |node, report| {
        let words = [("central", Word::Central), ("replica", Word::Replica), ("tracked", Word::Tracked)];
        value::choice(node, &words, report)
    });
    let mut unused = |names: &[&str], mode: &str| {
        for node in names.iter().filter_map(|name| section.get(name)) {
            let cause = format!("{} is for `mode: {mode}`", quoted(node.key()));
            report.at_key(node, cause, "write that mode, or take it out");
        }
    };
    if word != Word::Replica {
        unused(&["replica", "max_lag"], "replica");
    }
    if word != Word::Tracked {
        unused(&["track", "silence"], "tracked");
    }
    match word {
        Word::Central => Some(ReadMode::Central),
        Word::Replica => {
            let Some(node) = section.get("replica") else {
                if let Some(node) = section.get("mode") {
                    report.at(
                        node,
                        "`replica` is missing",
                        "add it: `replica: unix:/run/redis/replica.sock`",
                    );
                }
                return None;
            };
            let server = value::parsed(node, report, redis_url::server)?;
            let mut max_lag = default::MAX_LAG;
            section.set("max_lag", &mut max_lag, report, value::timeout);
            Some(ReadMode::Replica { server, max_lag })
        }
        Word::Tracked => {
            let mut prefixes = Vec::new();
            let mut silence = default::SILENCE;
            section.set("track", &mut prefixes, report, |node, report| {
                Some(value::distinct(node, report, |node, report| {
                    Some(value::text(node, report)?.to_owned())
                }))
            });
            overlapping(section, &prefixes, report);
            section.set("silence", &mut silence, report, |node, report| {
                value::parsed(node, report, |text| match crate::yaml::unit::duration(text)? {
                    short if short < LEAST_SILENCE => Err(Reason::new(
                        format!("{} is shorter than a network's hiccup", quoted(text)),
                        "write at least `200ms`",
                    )),
                    silence => Ok(silence),
                })
            });
            Some(ReadMode::Tracked { prefixes, silence })
        }
    }
}

/// Below it every pause of a scheduler would drop all values.
const LEAST_SILENCE: Duration = Duration::from_millis(200);

/// Redis refuses prefixes of which one covers another.
fn overlapping(section: &Section<'_>, prefixes: &[String], report: &mut Report) {
    for (index, one) in prefixes.iter().enumerate() {
        let other =
            prefixes.iter().enumerate().find(|(at, other)| *at != index && one.starts_with(other.as_str()));
        if let (Some((_, other)), Some(node)) = (other, section.get("track")) {
            let cause = format!("{} is covered by {}", quoted(one), quoted(other));
            return report.at(node, cause, "take the longer one out");
        }
    }
}

fn tier(node: Node<'_>, tier: &mut RedisTier, report: &mut Report) {
    let Some(section) = Section::open(node, &schema::SOURCE_REDIS_TIER, report) else { return };
    section.set("prefix", &mut tier.prefix, report, |node, report| value::parsed(node, report, prefix));
    section.set("lock", &mut tier.lock, report, |node, report| {
        value::parsed(node, report, |text| match crate::yaml::unit::duration(text)? {
            lock if (Duration::from_millis(50)..=Duration::from_mins(5)).contains(&lock) => Ok(lock),
            _ => Err(Reason::new(format!("{} is out of range", quoted(text)), "write from `50ms` to `5m`")),
        })
    });
    section
        .set("largest", &mut tier.largest, report, |node, report| value::size(node, "1KiB", "64MiB", report));
    section.set("unheard", &mut tier.unheard, report, value::timeout);
}

/// Braces would decide the slot of a cluster, and the key's own must.
pub(crate) fn prefix(text: &str) -> Result<String, Reason> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':');
    if (1..=64).contains(&text.len()) && text.bytes().all(fits) {
        return Ok(text.to_owned());
    }
    Err(Reason::new(
        format!("{} is not a prefix", quoted(text)),
        "write 1 to 64 letters, digits, `_`, `-`, `.` and `:`",
    ))
}

/// What is right by itself and makes no sense together.
fn contradictions(section: &Section<'_>, redis: &RedisSource, report: &mut Report) {
    let is_cluster = matches!(redis.topology, Topology::Cluster(_));
    if let Some(node) = section.get("mode")
        && is_cluster
        && redis.mode != ReadMode::Central
    {
        report.at(node, "a cluster is read with `mode: central`", "write `mode: central`, or take it out");
    }
    if let Some(node) = section.get("database")
        && is_cluster
        && redis.database != 0
    {
        report.at(node, "a cluster has only database 0", "take it out");
    }
    if let Some(node) = section.get("memory")
        && !matches!(redis.mode, ReadMode::Tracked { .. })
        && redis.max_stale.is_zero()
    {
        report.at_key(
            node,
            "`memory` is for `mode: tracked` and `max_stale`",
            "write one of them, or take it out",
        );
    }
}
