//! Call: what a step asks a source → [`StepCall`]. Called by `step`.

use std::sync::Arc;

use expression::{Content, Reads, Template};
use http::{HeaderName, Method, StatusCode};

use super::content::content;
use super::scope::Scope;
use crate::known::{Known, SourceKind};
use crate::meant::{HttpCall, HttpForm, Read, ReadForm, Rows, SourceId, SqlCall, StepCall, WasmCall};
use crate::routes::read::command;
use crate::routes::statement;
use crate::template::{literals, of_url};
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;

/// Reads what stands behind the name of a source.
pub(super) fn call(
    node: Node<'_>,
    section: &Section<'_>,
    scope: &Scope<'_>,
    known: &Known<'_>,
    report: &mut Report,
) -> Option<StepCall> {
    let source = known.source(node.key())?;
    only_for(section, source.kind, report);
    match source.kind {
        SourceKind::Http => http(node, source.id, section, scope, report).map(StepCall::Http),
        SourceKind::Redis | SourceKind::Store => {
            let text = scope.written(node, report)?;
            let read = command(&text, &scope.names()).and_then(|(command, arguments)| {
                known.keys(source).check(command, &arguments, &|place| scope.is_sent(place))?;
                Ok((command, arguments))
            });
            let (command, arguments) = read.map_err(|reason| report.because(node, reason)).ok()?;
            let mut form = ReadForm::Json;
            section.set("as", &mut form, report, |node, report| {
                value::choice(node, &[("json", ReadForm::Json), ("text", ReadForm::Text)], report)
            });
            let read = Read::new(source.id, (command, arguments), form, None, StatusCode::NOT_FOUND);
            Some(StepCall::Read(Arc::new(read)))
        }
        SourceKind::Sql => sql(node, source.id, section, scope, report).map(StepCall::Sql),
        SourceKind::Wasm => {
            let function = scope.plain(node, report)?.into_owned();
            let input = match section.get("args") {
                Some(node) => content(node, scope, report)?,
                None => Content::Literal("null".to_owned()),
            };
            Some(StepCall::Wasm(WasmCall { source: source.id, function, input }))
        }
    }
}

/// Words that mean something for another kind of source.
fn only_for(section: &Section<'_>, kind: SourceKind, report: &mut Report) {
    let words: [(&str, bool, &str); 4] = [
        ("headers", kind == SourceKind::Http, "a source over HTTP"),
        ("body", kind == SourceKind::Http, "a source over HTTP"),
        ("args", matches!(kind, SourceKind::Sql | SourceKind::Wasm), "a database or a module"),
        ("batch", kind == SourceKind::Sql, "a database"),
    ];
    for (word, fits, whose) in words {
        if let Some(node) = section.get(word).filter(|_| !fits) {
            report.at_key(node, format!("`{word}` is for {whose}"), "take it out");
        }
    }
    if let Some(node) = section.get("as").filter(|_| kind == SourceKind::Wasm) {
        report.at_key(node, "a module gives JSON", "take `as` out");
    }
}

fn http(
    node: Node<'_>,
    source: SourceId,
    section: &Section<'_>,
    scope: &Scope<'_>,
    report: &mut Report,
) -> Option<HttpCall> {
    let text = scope.written(node, report)?;
    let (method, target) = request(&text).map_err(|reason| report.because(node, reason)).ok()?;
    let target = Template::parse_in(target, &scope.names())
        .map_err(|fault| report.because(node, fault.into()))
        .ok()?;
    let mut fields = Vec::new();
    if let Some(node) = section.get("headers") {
        let Shape::Map(entries) = node.shape() else {
            report.at(
                node,
                "`headers` must be a mapping",
                "write it like `headers: { X-User: \"${path.id}\" }`",
            );
            return None;
        };
        fields.extend(entries.into_iter().filter_map(|entry| field(entry, scope, report)));
    }
    let body = section.get("body").and_then(|node| content(node, scope, report));
    let mut form = HttpForm::Json;
    section.set("as", &mut form, report, |node, report| {
        value::choice(node, &[("json", HttpForm::Json), ("text", HttpForm::Text)], report)
    });
    if let Some(node) = section.get("body")
        && matches!(method, Method::GET | Method::HEAD)
    {
        report.at_key(node, format!("{method} has no content"), "write `POST /path` before the path");
    }
    Some(HttpCall { source, method, target, fields, body, form })
}

/// `GET /path`, `POST /path`, or the path alone.
fn request(text: &str) -> Result<(Method, &str), Reason> {
    const METHODS: [Method; 6] =
        [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    let (method, target) = match text.split_once(' ') {
        Some((method, target)) if !method.starts_with('/') => {
            let known = METHODS.iter().find(|known| known.as_str() == method);
            let known = known.cloned().ok_or_else(|| {
                let upper = method.to_ascii_uppercase();
                let meant = METHODS.iter().map(Method::as_str).find(|known| *known == upper).unwrap_or("GET");
                Reason::new(format!("{} is no method", quoted(method)), format!("write `{meant} {target}`"))
            })?;
            (known, target)
        }
        _ => (Method::GET, text),
    };
    if method == Method::HEAD {
        return Err(Reason::new("HEAD gives no value", "write `GET`"));
    }
    if target.contains("://") && !target.starts_with('/') {
        return Err(Reason::new(
            format!("{} names a host", quoted(text)),
            "write the path alone, like `GET /users`: the source says where that is",
        ));
    }
    if !target.starts_with('/') {
        return Err(Reason::new(
            format!("{} has no path", quoted(text)),
            format!("write one behind the method, like `{method} /users/${{path.id}}`"),
        ));
    }
    let literal = literals(target);
    if literal.contains("{each}") {
        return Err(Reason::new(
            "`{each}` stands in a step without `each`",
            "add it, like `each: [1, 2, 3]`, or write what is meant",
        ));
    }
    if literal.contains(['{', '}']) {
        return Err(Reason::new(
            format!("{} has braces without `$`", quoted(text)),
            "write `${path.id}` for a segment of the request's path",
        ));
    }
    of_url(target, b"#")?;
    let path = target.split('?').next().unwrap_or(target);
    let is_written_out = |segment: &&str| !segment.contains("${");
    if path.split('/').filter(is_written_out).any(|segment| rules::path::misleads(segment.as_bytes())) {
        return Err(Reason::new(
            format!("{} climbs", quoted(text)),
            "write the path that is meant, without `.` and `..`, also encoded",
        ));
    }
    Ok((method, target))
}

fn field(entry: Node<'_>, scope: &Scope<'_>, report: &mut Report) -> Option<(HeaderName, Template)> {
    /// What frames a message, or says who carries it, is for the connection to say, in whatever spelling.
    const OURS: [&str; 10] = [
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "proxy-connection",
        "te",
        "trailer",
        "upgrade",
        "keep-alive",
        "expect",
    ];
    let Ok(name) = HeaderName::try_from(entry.key()) else {
        report.at_key(
            entry,
            format!("{} is no name of a field", quoted(entry.key())),
            "write letters, digits and `-`",
        );
        return None;
    };
    if OURS.iter().any(|ours| rules::alike::field(name.as_str().as_bytes(), ours)) {
        report.at_key(entry, format!("`{name}` is set by the connection"), "take it out");
        return None;
    }
    Some((name, scope.template(entry, report)?))
}

fn sql(
    node: Node<'_>,
    source: SourceId,
    section: &Section<'_>,
    scope: &Scope<'_>,
    report: &mut Report,
) -> Option<SqlCall> {
    let text = scope.written(node, report)?;
    let mut statement = statement::statement(&text).map_err(|reason| report.because(node, reason)).ok()?;
    section.set("as", &mut statement.rows, report, |node, report| {
        let words =
            [("rows", Rows::All), ("row", Rows::First), ("value", Rows::Value), ("column", Rows::Column)];
        value::choice(node, &words, report)
    });
    let arguments = match section.get("args") {
        Some(node) => value::one_or_more(node, report)
            .into_iter()
            .map(|item| content(item, scope, report))
            .collect::<Option<Vec<_>>>()?,
        None => Vec::new(),
    };
    let placeholders = statement.pieces.len() - 1;
    if placeholders != arguments.len() {
        let values = if arguments.len() == 1 { "value stands" } else { "values stand" };
        let remedy = if placeholders == 0 && text.contains("$1") {
            "write `?` in place of `$1`, for every database"
        } else if placeholders == 0 {
            "write `?` where the value belongs, or take `args` out"
        } else {
            "write one value for each `?`, like `args: [\"${path.id}\"]`"
        };
        report.at(
            section.get("args").unwrap_or(node),
            format!("the statement has {placeholders} `?`, and {} {values} in `args`", arguments.len()),
            remedy,
        );
        return None;
    }
    let mut is_batched = false;
    section.set("batch", &mut is_batched, report, value::switch);
    if is_batched && let Some(node) = section.get("batch") {
        let batch = statement::batch(&text, &statement).map_err(|reason| {
            let cause = format!("look-ups by this statement cannot be put together: {}", reason.cause);
            report.because(node, Reason::new(cause, reason.remedy));
        });
        statement.batch = batch.ok();
    }
    Some(SqlCall { source, statement: Arc::new(statement), arguments })
}

/// The places of the values that a call reads.
pub(super) fn values(call: &StepCall) -> Vec<usize> {
    match call {
        StepCall::Http(call) => {
            let fields = call.fields.iter().flat_map(|(_, text)| text.values());
            let body = call.body.iter().flat_map(Content::values);
            call.target.values().chain(fields).chain(body).collect()
        }
        StepCall::Read(read) => read.arguments.iter().flat_map(expression::Argument::values).collect(),
        StepCall::Sql(call) => call.arguments.iter().flat_map(Content::values).collect(),
        StepCall::Wasm(call) => call.input.values(),
    }
}

/// All that a call reads of a request.
pub(super) fn reads(call: &StepCall) -> Reads<'_> {
    match call {
        StepCall::Http(call) => {
            let fields = call.fields.iter().map(|(_, text)| text.reads());
            let body = call.body.iter().map(Content::reads);
            Reads::of_all([call.target.reads()].into_iter().chain(fields).chain(body))
        }
        StepCall::Read(read) => Reads::of_all(read.arguments.iter().map(expression::Argument::reads)),
        StepCall::Sql(call) => Reads::of_all(call.arguments.iter().map(Content::reads)),
        StepCall::Wasm(call) => call.input.reads(),
    }
}
