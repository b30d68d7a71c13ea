//! Tracked: whether what a Redis is to tell about (`track`) is read at all. In: the plan, once its routes are known. Out:
//! faults of prefixes that no read begins with. Called by `check`.

use crate::meant::{Plan, Read, ReadCommand, ReadMode, Source, SourceId};
use crate::yaml::fault::{Report, quoted};
use crate::yaml::tree::{Node, Shape};

/// Looks at a file without other faults. A source that nothing reads from is left alone.
pub(crate) fn uncovered(sources: Node<'_>, plan: &Plan, report: &mut Report) {
    let reads = plan.reads();
    for (place, source) in plan.sources.iter().enumerate() {
        let Source::Redis(redis) = source else { continue };
        let ReadMode::Tracked { prefixes, .. } = &redis.mode else { continue };
        let own = reads.iter().filter(|read| read.from == SourceId::at(place));
        let beginnings: Vec<String> = own.flat_map(|read| beginnings(read)).collect();
        if beginnings.is_empty() {
            continue;
        }
        let covers = |prefix: &str, key: &str| key.starts_with(prefix) || prefix.starts_with(key);
        let is_idle = |prefix: &&String| !beginnings.iter().any(|key| covers(prefix, key));
        let Some(idle) = prefixes.iter().find(is_idle) else { continue };
        let Some(node) = track(sources, &redis.name) else { continue };
        let cause = format!("no read of {} has keys that begin with {}", quoted(&redis.name), quoted(idle));
        let remedy = match beginnings.iter().find(|beginning| !beginning.is_empty()) {
            Some(beginning) => format!("write what its reads begin with, like `{beginning}`, or take it out"),
            None => "take it out".to_owned(),
        };
        report.at(node, cause, remedy);
    }
}

/// Where it is written what this source is to tell about.
fn track<'t>(sources: Node<'t>, name: &str) -> Option<Node<'t>> {
    let entry = |node: Node<'t>, key: &str| match node.shape() {
        Shape::Map(entries) => entries.into_iter().find(|entry| entry.key() == key),
        _ => None,
    };
    entry(entry(sources, name)?, "track")
}

/// What its keys begin with, as far as it is written and not computed.
fn beginnings(read: &Read) -> Vec<String> {
    let most = if read.command == ReadCommand::Mget { usize::MAX } else { 1 };
    let written = |text: String| text.split("${").next().unwrap_or_default().to_owned();
    read.arguments.iter().take(most).map(|argument| written(argument.text())).collect()
}

#[cfg(test)]
mod tests {
    fn faults(track: &str, routes: &str) -> Vec<String> {
        let text = format!(
            "sources: {{ r: {{ redis: redis://127.0.0.1, mode: tracked, public: true, track: {track} }} }}\nroutes:\n{routes}"
        );
        let Err(faults) = crate::compile(&text, "f.yaml") else { return Vec::new() };
        faults.iter().map(|fault| format!("{}: {}", fault.path, fault.cause)).collect()
    }

    #[test]
    fn each_prefix_must_begin_a_key_that_is_read() {
        const USERS: &str = "- { match: \"GET /users/{id}\", read: { r: \"GET user:${path.id}\" } }";
        for covered in ["[\"user:\"]", "[user]", "[\"user:7\"]"] {
            assert_eq!(faults(covered, USERS), [""; 0], "{covered}");
        }
        let cause = "sources.r.track: no read of `r` has keys that begin with `usr:`";
        assert_eq!(faults("[\"user:\", \"usr:\"]", USERS), [cause]);
        let any = "- { match: \"GET /any/{key}\", read: { r: \"GET ${path.key}\" } }";
        assert_eq!(faults("[\"usr:\"]", any), [""; 0], "it may begin with anything");
        let step =
            "- { match: GET /page, compose: { user: { r: \"HGETALL user:1\" } }, respond: \"${user}\" }";
        assert_eq!(faults("[\"usr:\"]", step).len(), 1);
    }
}
