//! Value: one node → a word, switch, number, duration, size, choice, path. In comes a node, out goes what it means, or
//! `None` and a fault. Called by the check of every section.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::tree::{Node, Shape};
use crate::yaml::unit;
use expression::nearest;

/// A single word, without expressions.
pub(crate) fn text<'t>(node: Node<'t>, report: &mut Report) -> Option<&'t str> {
    let text = written(node, report)?;
    if text.contains("${") {
        report.at(node, "an expression cannot stand here", "write the value itself");
        return None;
    }
    Some(text)
}

/// A single word as it is written, perhaps with expressions in it.
pub(crate) fn written<'t>(node: Node<'t>, report: &mut Report) -> Option<&'t str> {
    let subject = || if node.key().is_empty() { "the item".to_owned() } else { quoted(node.key()) };
    match node.shape() {
        Shape::Text(text) => Some(text),
        Shape::Nothing => {
            report.at(
                node,
                format!("{} has no value", subject()),
                "write one behind the colon, or take the line out",
            );
            None
        }
        Shape::List(_) => {
            report.at(
                node,
                format!("{} must be one value, not a list", subject()),
                "write one value without `[ ]` and dashes",
            );
            None
        }
        Shape::Map(_) => {
            report.at(
                node,
                format!("{} must be one value, not a mapping", subject()),
                "write one value without keys",
            );
            None
        }
        Shape::Broken => None,
    }
}

/// Whether it is a single word of which this holds.
pub(crate) fn is_word(node: Node<'_>, holds: impl FnOnce(&str) -> bool) -> bool {
    matches!(node.shape(), Shape::Text(text) if holds(text))
}

/// The single word that stands there, if one does.
pub(crate) fn word(node: Node<'_>) -> Option<&str> {
    match node.shape() {
        Shape::Text(text) => Some(text),
        _ => None,
    }
}

/// A word that `read` understands.
pub(crate) fn parsed<T>(
    node: Node<'_>,
    report: &mut Report,
    read: impl FnOnce(&str) -> Result<T, Reason>,
) -> Option<T> {
    match read(text(node, report)?) {
        Ok(value) => Some(value),
        Err(reason) => {
            report.because(node, reason);
            None
        }
    }
}

/// One of a few words.
pub(crate) fn choice<T: Clone>(node: Node<'_>, words: &[(&str, T)], report: &mut Report) -> Option<T> {
    parsed(node, report, |text| {
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Ok(value.clone());
        }
        let all = words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let remedy = match nearest(text, words.iter().map(|(word, _)| *word)) {
            Some(meant) => format!("write `{meant}`; known here: {all}"),
            None => format!("write one of {all}"),
        };
        Err(Reason::new(format!("{} is not known here", quoted(text)), remedy))
    })
}

/// `true` or `false`, and no third way to write them.
pub(crate) fn switch(node: Node<'_>, report: &mut Report) -> Option<bool> {
    parsed(node, report, |text| match text {
        "true" => Ok(true),
        "false" => Ok(false),
        other => {
            let remedy = match other.to_ascii_lowercase().as_str() {
                "on" | "yes" | "true" | "1" => "write `true`",
                "off" | "no" | "false" | "0" => "write `false`",
                _ => "write `true` or `false`",
            };
            Err(Reason::new(format!("{} is neither `true` nor `false`", quoted(other)), remedy))
        }
    })
}

/// A whole number within a range.
pub(crate) fn number(node: Node<'_>, range: RangeInclusive<u64>, report: &mut Report) -> Option<u64> {
    parsed(node, report, |text| {
        let within = format!("write a whole number from {} to {}", range.start(), range.end());
        match unit::number(text) {
            Some(number) if range.contains(&number) => Ok(number),
            Some(_) => Err(Reason::new(format!("{} is out of range", quoted(text)), within)),
            None => Err(Reason::new(format!("{} is not a whole number", quoted(text)), within)),
        }
    })
}

/// A duration, perhaps zero.
pub(crate) fn duration(node: Node<'_>, report: &mut Report) -> Option<Duration> {
    parsed(node, report, unit::duration)
}

/// A duration to wait for something: never zero.
pub(crate) fn timeout(node: Node<'_>, report: &mut Report) -> Option<Duration> {
    parsed(node, report, |text| match unit::duration(text)? {
        Duration::ZERO => {
            Err(Reason::new(format!("{} is no time at all", quoted(text)), "write a duration above zero"))
        }
        duration => Ok(duration),
    })
}

/// A size in bytes within a range; the bounds are written as people would.
pub(crate) fn size(node: Node<'_>, least: &str, most: &str, report: &mut Report) -> Option<u64> {
    parsed(node, report, |text| {
        let size = unit::size(text)?;
        if (unit::size(least)?..=unit::size(most)?).contains(&size) {
            Ok(size)
        } else {
            let remedy = format!("write a size from `{least}` to `{most}`");
            Err(Reason::new(format!("{} is out of range", quoted(text)), remedy))
        }
    })
}

const UNREADABLE: &str = "cannot be read";

/// A file that exists. Relative paths start at `folder`.
pub(crate) fn file(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<PathBuf> {
    parsed(node, report, |text| {
        let path = folder.join(text);
        let wrong = |what: &str| {
            let remedy = if what == UNREADABLE {
                "give this user the right to read it".to_owned()
            } else if Path::new(text).is_absolute() {
                "write the path of a file that can be read".to_owned()
            } else {
                format!("write the path as seen from {}", quoted(&folder_name(folder)))
            };
            Err(Reason::new(format!("{} {what}", quoted(text)), remedy))
        };
        match std::fs::metadata(&path) {
            _ if text.is_empty() => wrong("is not a path"),
            Ok(found) if found.is_dir() => wrong("is a folder"),
            Ok(_) => match std::fs::File::open(&path) {
                Ok(_) => Ok(path),
                Err(_) => wrong(UNREADABLE),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => wrong("does not exist"),
            Err(_) => wrong(UNREADABLE),
        }
    })
}

fn folder_name(folder: &Path) -> String {
    if folder.as_os_str().is_empty() { ".".to_owned() } else { folder.display().to_string() }
}

/// One value, or a list of values: the nodes to read one by one.
pub(crate) fn one_or_more<'t>(node: Node<'t>, report: &mut Report) -> Vec<Node<'t>> {
    match node.shape() {
        Shape::List(items) if items.is_empty() => {
            report.at(node, format!("{} is an empty list", quoted(node.key())), "write at least one item");
            Vec::new()
        }
        Shape::List(items) => items,
        _ => vec![node],
    }
}

/// The same, where an empty list says something too: none.
pub(crate) fn distinct_or_none<T: PartialEq>(
    node: Node<'_>,
    report: &mut Report,
    read: impl Fn(Node<'_>, &mut Report) -> Option<T>,
) -> Vec<T> {
    match node.shape() {
        Shape::List(items) if items.is_empty() => Vec::new(),
        _ => distinct(node, report, read),
    }
}

/// Reads one value or each of a list, and refuses the same twice.
pub(crate) fn distinct<T: PartialEq>(
    node: Node<'_>,
    report: &mut Report,
    read: impl Fn(Node<'_>, &mut Report) -> Option<T>,
) -> Vec<T> {
    /// Comparing all pairs stays cheap, and no list of the language is longer.
    const MOST: usize = 1000;
    let items = one_or_more(node, report);
    if items.len() > MOST {
        report.at(
            node,
            format!("{} has {} items", quoted(node.key()), items.len()),
            format!("write at most {MOST}"),
        );
    }
    let mut values = Vec::new();
    for item in items.into_iter().take(MOST) {
        match read(item, report) {
            Some(value) if values.contains(&value) => {
                report.at(item, "the same stands in the list twice", "take one out");
            }
            Some(value) => values.push(value),
            None => {}
        }
    }
    values
}
