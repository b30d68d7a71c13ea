//! `cache ls` and `cache get`: what is stored, as a table or variant by variant.

use std::process::ExitCode;

use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Map, Value};

use super::{bytes, refused};
use crate::admin_port::AdminPort;
use crate::output;

pub(super) fn list(
    port: &AdminPort,
    words: &Map<String, Value>,
    exact: bool,
    limit: u32,
    json: bool,
) -> ExitCode {
    let limit = limit.to_string();
    let mut parameters = vec![("limit", limit.as_str())];
    parameters.extend(words.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))));
    if exact {
        parameters.push(("exact", "true"));
    }
    match port.get("/cache/entries", &parameters, &["entries"]) {
        Ok(answer) if json => output::say_json(&answer),
        Ok(answer) => show(&answer),
        Err(problem) => return refused(&problem),
    }
    ExitCode::SUCCESS
}

pub(super) fn get(port: &AdminPort, url: &str, json: bool) -> ExitCode {
    match port.get("/cache/entry", &[("url", url)], &["entries"]) {
        Ok(answer) if json => output::say_json(&answer),
        Ok(answer) => {
            let variants: Vec<_> = rows(&answer).iter().map(readable).collect();
            output::say(variants.join("\n\n"));
        }
        Err(problem) => return refused(&problem),
    }
    ExitCode::SUCCESS
}

fn rows(answer: &Value) -> &[Value] {
    answer["entries"].as_array().map_or(&[], Vec::as_slice)
}

fn show(answer: &Value) {
    let rows = rows(answer);
    if rows.is_empty() {
        return output::note("nothing is stored there, in memory");
    }
    output::say(table(rows));
    if answer["more"] == true {
        output::note("there may be more: see --limit");
    }
}

fn table(rows: &[Value]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["hits", "status", "size", "age", "fresh for", "url", "also", "tags"]);
    for row in rows {
        let number = |name: &str| row[name].as_i64().unwrap_or_default();
        table.add_row([
            number("hits").to_string(),
            number("status").to_string(),
            bytes(number("length").unsigned_abs()),
            format!("{} s", number("age")),
            format!("{} s", number("fresh_for")),
            shown(&row["url"]),
            also(row),
            words(&row["tags"]).join(" "),
        ]);
    }
    for index in 0..5 {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// What tells it from other answers to the same URL.
fn also(row: &Value) -> String {
    let mut all: Vec<String> = words(&row["also"]).into_iter().map(|word| printable(&word)).collect();
    all.extend(pairs(&row["vary"]));
    all.join("; ")
}

fn words(list: &Value) -> Vec<String> {
    list.as_array().map_or_else(Vec::new, |list| list.iter().map(shown).collect())
}

fn pairs(list: &Value) -> Vec<String> {
    let pair = |pair: &Value| format!("{}: {}", shown(&pair[0]), shown(&pair[1]));
    list.as_array().map_or_else(Vec::new, |list| list.iter().map(pair).collect())
}

fn shown(value: &Value) -> String {
    printable(value.as_str().unwrap_or_default())
}

/// What strangers sent must not drive a terminal.
fn printable(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { '\u{fffd}' } else { char }).collect()
}

fn readable(row: &Value) -> String {
    let number = |name: &str| row[name].as_i64().unwrap_or_default();
    let fresh = match number("fresh_for") {
        left if left > 0 => format!("fresh for {left} s"),
        left => format!("stale for {} s", left.unsigned_abs()),
    };
    let mut lines = vec![
        ("url", shown(&row["url"])),
        ("status", format!("{}, {}", number("status"), bytes(number("length").unsigned_abs()))),
        ("age", format!("{} s, {fresh}", number("age"))),
        ("hits", number("hits").to_string()),
    ];
    lines.extend(words(&row["also"]).into_iter().map(|also| ("key", also)));
    lines.extend(pairs(&row["vary"]).into_iter().map(|vary| ("variant", vary)));
    lines.extend(words(&row["tags"]).into_iter().map(|tag| ("tag", tag)));
    lines.extend(pairs(&row["fields"]).into_iter().map(|field| ("field", field)));
    lines.iter().map(|(name, value)| format!("{name:>8}  {value}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_is_shown_and_cannot_drive_a_terminal() {
        let row = json!({
            "url": "http://a/\u{1b}[2J", "also": ["user: 7"], "vary": [["accept", "*/*"]], "status": 200,
            "length": 20_480, "age": 3, "fresh_for": -2, "hits": 9, "tags": ["t"], "fields": [["etag", "\"1\""]],
        });
        let text = readable(&row);
        for part in [
            "200, 20 KiB",
            "3 s, stale for 2 s",
            "key  user: 7",
            "variant  accept: */*",
            "field  etag: \"1\"",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains('\u{1b}'));
        let table = table(&[row]).to_string();
        assert!(table.contains("user: 7; accept: */*") && !table.contains('\u{1b}'), "{table}");
    }
}
