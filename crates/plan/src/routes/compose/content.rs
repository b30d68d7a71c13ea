//! Content: what stands in the file as a value → literal JSON with expressions in it.

use expression::{Content, Output, Template};

use super::scope::Scope;
use crate::routes::read::expression_end;
use crate::yaml::fault::Report;
use crate::yaml::tree::{Node, Shape};

/// Reads a value. A word without quotes that is a number, `true` or `false` is one; any other is a text.
pub(super) fn content(node: Node<'_>, scope: &Scope<'_>, report: &mut Report) -> Option<Content> {
    match node.shape() {
        Shape::Nothing => Some(Content::Literal("null".to_owned())),
        Shape::Text(_) => word(node, scope, report),
        Shape::List(items) => {
            let items: Vec<_> =
                items.into_iter().map(|item| content(item, scope, report)).collect::<Option<_>>()?;
            Some(
                literal(&items.iter().collect::<Vec<_>>())
                    .map_or(Content::List(items), |items| Content::Literal(format!("[{}]", items.join(",")))),
            )
        }
        Shape::Map(entries) => {
            let members: Vec<_> = entries
                .into_iter()
                .map(|entry| Some((entry.key().to_owned(), content(entry, scope, report)?)))
                .collect::<Option<_>>()?;
            let values: Vec<_> = members.iter().map(|(_, value)| value).collect();
            let Some(values) = literal(&values) else { return Some(Content::Map(members)) };
            let written =
                members.iter().zip(values).map(|((name, _), value)| format!("{}:{value}", string(name)));
            Some(Content::Literal(format!("{{{}}}", written.collect::<Vec<_>>().join(","))))
        }
        Shape::Broken => None,
    }
}

/// A value that depends on nothing, as JSON.
pub(crate) fn constant(node: Node<'_>, report: &mut Report) -> Option<String> {
    if let Content::Literal(json) = content(node, &Scope::outermost(None), report)? {
        return Some(json);
    }
    report.at(node, "an expression cannot stand here", "write the value itself");
    None
}

fn word(node: Node<'_>, scope: &Scope<'_>, report: &mut Report) -> Option<Content> {
    let text = scope.written(node, report)?;
    if !text.contains("${") {
        let is_json = !node.is_quoted() && (matches!(&*text, "true" | "false") || is_number(&text));
        return Some(Content::Literal(if is_json { text.into_owned() } else { string(&text) }));
    }
    let is_alone = text.starts_with("${") && expression_end(&text) == Some(text.len());
    if is_alone && let Ok(output) = Output::parse_braced(&text, &scope.names()) {
        return Some(Content::Value(output));
    }
    match Template::parse_in(&text, &scope.names()) {
        Ok(template) => Some(match template.constant() {
            Some(constant) => Content::Literal(string(constant)),
            None => Content::Text(template),
        }),
        Err(fault) => {
            // What stands alone is told what it lacks as a value.
            let fault = match Output::parse_braced(&text, &scope.names()) {
                Err(other) if is_alone => other,
                _ => fault,
            };
            report.because(node, fault.into());
            None
        }
    }
}

/// The JSON of all of them, where none depends on anything.
fn literal(values: &[&Content]) -> Option<Vec<String>> {
    let one = |value: &&Content| match value {
        Content::Literal(json) => Some(json.clone()),
        _ => None,
    };
    values.iter().map(one).collect()
}

/// A text as JSON.
pub(super) fn string(text: &str) -> String {
    let mut out = Vec::new();
    json::write_string(text, &mut out);
    String::from_utf8(out).expect("a text is written as a text")
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || c == '-') && json::is_valid(text.as_bytes())
}
