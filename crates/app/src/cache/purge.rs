//! `cache purge`: forgets, or tells how much it would be.

use std::process::ExitCode;

use serde_json::Value;

use super::{bytes, count, refused};
use crate::admin_port::{AdminPort, USUAL};
use crate::output;

pub(super) fn purge(port: &AdminPort, call: &Value, json: bool) -> ExitCode {
    match port.post("/cache/purge", call, USUAL, &["in_force", "would_purge"]) {
        Ok(answer) if json => output::say_json(&answer),
        Ok(answer) => output::say(readable(&answer)),
        Err(problem) => return refused(&problem),
    }
    ExitCode::SUCCESS
}

fn readable(answer: &Value) -> String {
    if let Some(would) = answer.get("would_purge") {
        let figure = |name| would[name].as_u64().unwrap_or_default();
        return format!(
            "would forget {}, {} of memory; nothing was changed",
            count(figure("answers"), "answer"),
            bytes(figure("bytes"))
        );
    }
    let what = if answer["soft"] == true { "made stale" } else { "forgotten" };
    let mut purged = format!("{what}, in force: {}", scope(&answer["purged"]));
    if let Some(others) = answer["other_instances"].as_str() {
        purged = format!("{purged}\nother instances: {others}");
    }
    if let Some(after) = answer["after_restart"].as_str().filter(|after| *after != "in force") {
        purged = format!("{purged}\nafter a restart: {after}");
    }
    match answer["refreshing"].as_u64().unwrap_or_default() {
        0 => purged,
        several => format!("{purged}\n{} fetched again in the background", count(several, "answer")),
    }
}

fn scope(purged: &Value) -> String {
    let text = |name: &str| purged[name].as_str().unwrap_or_default();
    let host = text("host");
    if purged["everything"] == true {
        return "everything".to_owned();
    }
    if let Some(tags) = purged["tags"].as_array() {
        let tags: Vec<_> = tags.iter().filter_map(Value::as_str).collect();
        return format!("tag {}", tags.join(", "));
    }
    if purged["prefix"].is_string() {
        let host = if host.is_empty() { "any host, " } else { host };
        return format!("{host}{}…", text("prefix"));
    }
    if purged["path"].is_string() {
        return format!("{host}{} with all queries", text("path"));
    }
    if purged["target"].is_string() { format!("{host}{}", text("target")) } else { format!("host {host}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_purged_is_said() {
        for (answer, said) in [
            (
                json!({"would_purge": {"answers": 1, "bytes": 20}}),
                "would forget 1 answer, 20 B of memory; nothing was changed",
            ),
            (
                json!({"purged": {"host": "a", "path": "/x"}, "soft": false, "in_force": true, "refreshing": 0}),
                "forgotten, in force: a/x with all queries",
            ),
            (
                json!({"purged": {"prefix": "/x/"}, "soft": true, "in_force": true, "refreshing": 2}),
                "made stale, in force: any host, /x/…\n2 answers fetched again in the background",
            ),
            (json!({"purged": {"tags": ["a", "b"]}, "soft": false}), "forgotten, in force: tag a, b"),
            (json!({"purged": {"everything": true}}), "forgotten, in force: everything"),
            (
                json!({"purged": {"host": "a"}, "other_instances": "told"}),
                "forgotten, in force: host a\nother instances: told",
            ),
        ] {
            assert_eq!(readable(&answer), said);
        }
    }
}
