//! `cache warm FILE`: has every URL fetched, a second's worth at a time, so that there is progress to show.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use comfy_table::{Table, presets};
use http::Uri;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::{bytes, count, refused};
use crate::admin_port::AdminPort;
use crate::output;

/// How long one call may take; the admin port gives up before.
const LONGEST: Duration = Duration::from_mins(25);

/// URLs of one call at most: they must fit into its content.
const MOST: usize = 200;

/// Bytes of a URL at most, for the same reason.
const LONGEST_URL: usize = 4096;

/// Failures that are shown one by one.
const SHOWN: usize = 10;

pub(super) fn warm(port: &AdminPort, file: &Path, rate: u32, json: bool) -> ExitCode {
    let wrong = |problem| output::fail(format!("{}: {problem}", file.display()), output::USAGE);
    let text = match read(file) {
        Ok(text) => text,
        Err(problem) => return wrong(problem),
    };
    let urls = match urls(&text) {
        Ok(urls) => urls,
        Err(problem) => return wrong(problem),
    };
    let bar = if json { ProgressBar::hidden() } else { bar(urls.len()) };
    let mut warmed = Vec::with_capacity(urls.len());
    for some in urls.chunks((rate as usize).clamp(1, MOST)) {
        match port.post("/cache/warm", &json!({"urls": some, "rate": rate}), LONGEST, &["warmed"]) {
            Ok(mut answer) => {
                bar.inc(some.len() as u64);
                if let Value::Array(more) = answer["warmed"].take() {
                    warmed.extend(more);
                }
            }
            Err(problem) => {
                bar.abandon();
                return refused(&format!("after {} of {}: {problem}", warmed.len(), urls.len()));
            }
        }
    }
    bar.finish_and_clear();
    let failed = warmed.iter().filter(|fetched| has_failed(fetched)).count();
    if json {
        output::say_json(&json!({ "warmed": warmed }));
    } else {
        show(&warmed);
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn read(file: &Path) -> Result<String, String> {
    if file != Path::new("-") {
        return std::fs::read_to_string(file).map_err(|error| format!("cannot be read: {error}"));
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| format!("cannot be read: {error}"))?;
    Ok(text)
}

/// One URL a line, without comments.
fn urls(text: &str) -> Result<Vec<&str>, String> {
    let lines = text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let urls = lines.map(|(index, line)| {
        let is_url = line.len() <= LONGEST_URL
            && line.parse::<Uri>().is_ok_and(|uri| matches!(uri.scheme_str(), Some("http" | "https")));
        let wrong = || format!("line {} is not a URL; write it as in http://example.com/path", index + 1);
        is_url.then_some(line).ok_or_else(wrong)
    });
    let urls = urls.collect::<Result<Vec<_>, _>>()?;
    if urls.is_empty() { Err("has no URL; write one a line".to_owned()) } else { Ok(urls) }
}

fn bar(length: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len}").expect("the template is valid");
    ProgressBar::new(length as u64).with_style(style)
}

fn has_failed(fetched: &Value) -> bool {
    fetched["error"].is_string() || fetched["status"].as_u64().is_none_or(|status| status >= 500)
}

fn show(warmed: &[Value]) {
    output::say(table(warmed));
    let failed: Vec<_> = warmed.iter().filter(|fetched| has_failed(fetched)).collect();
    for fetched in failed.iter().take(SHOWN) {
        let text = |name: &str| fetched[name].as_str().unwrap_or("no reason given");
        output::note(format!("{}: {}", text("url"), text("error")));
    }
    if failed.len() > SHOWN {
        output::note(format!("and {} more", count((failed.len() - SHOWN) as u64, "failure")));
    }
}

/// How many came to what.
fn table(warmed: &[Value]) -> Table {
    let mut sums: BTreeMap<(u64, &str, bool), (u64, u64)> = BTreeMap::new();
    for fetched in warmed {
        let status = fetched["status"].as_u64().unwrap_or_default();
        let key = (status, fetched["cache"].as_str().unwrap_or_default(), fetched["stored"] == true);
        let (number, length) = sums.entry(key).or_default();
        *number += 1;
        *length += fetched["bytes"].as_u64().unwrap_or_default();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["status", "cache", "stored", "answers", "content"]);
    for ((status, cache, stored), (number, length)) in sums {
        let status = if status == 0 { "none".to_owned() } else { status.to_string() };
        let stored = if stored { "yes" } else { "no" };
        table.add_row([status, cache.to_owned(), stored.to_owned(), number.to_string(), bytes(length)]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_one_url_a_line() {
        let text = "# first\nhttp://a/x\n\n  https://b/y?z  \n";
        assert_eq!(urls(text).unwrap(), ["http://a/x", "https://b/y?z"]);
        assert!(urls("http://a/\n/path\n").unwrap_err().contains("line 2"));
        assert!(urls("# nothing\n").unwrap_err().contains("no URL"));
        assert!(urls(&format!("http://a/{}", "x".repeat(LONGEST_URL))).is_err());
    }

    #[test]
    fn statuses_are_summed_up() {
        let fetched = |status: u64, cache: &str| json!({"url": "u", "status": status, "cache": cache, "stored": true, "bytes": 5});
        let text = table(&[fetched(200, "miss"), fetched(200, "miss"), fetched(404, "miss")]).to_string();
        let rows: Vec<Vec<_>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[1], ["200", "miss", "yes", "2", "10", "B"], "{text}");
        assert!(has_failed(&fetched(503, "miss")) && !has_failed(&fetched(404, "miss")));
        assert!(has_failed(&json!({"status": null, "error": "gone"})));
    }
}
