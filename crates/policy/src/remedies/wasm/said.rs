//! Said: what a function says of a request or a response → what is to be done. In: JSON of a module, which nobody has looked at. Out: changes
//! that any message may bear, or why there are none: a word that is not known, a field that is nobody's to change, a path that would be
//! read as another one.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, StatusCode};
use message::{Body, FieldEdit, FieldPattern, Response};
use rules::changeable::{Change, Whose, unchangeable};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Unfit;
use crate::remedies::rewrite::is_plain;

/// Bytes of names, values and target, and lines of fields, that a function may say: as much as clients may by default.
const LARGEST: usize = 32 * 1024;
const MOST_LINES: usize = 100;

/// How the source is asked at a place.
#[derive(Clone, Copy, Debug)]
pub struct AskedFor {
    /// By the path of the request, so that another one makes sense.
    pub by_path: bool,
    /// For JSON: content of any other kind is of no use.
    pub for_json: bool,
}

/// What is to become of a request.
pub(super) enum OfRequest {
    /// It goes on, with these changes.
    Changed {
        /// Of its fields.
        edits: Vec<FieldEdit>,
        /// Path and query, where they are others.
        target: Option<String>,
    },
    /// It is answered.
    Answered(Box<Response>),
}

/// What is to become of a response.
#[derive(Default)]
pub(super) struct OfResponse {
    status: Option<StatusCode>,
    edits: Vec<FieldEdit>,
    content: Option<Content>,
}

/// Content that a function has made.
struct Content {
    bytes: Bytes,
    /// What it is, where nobody says.
    kind: &'static str,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SaidOfRequest<'s> {
    #[serde(default)]
    set: BTreeMap<String, Lines>,
    #[serde(default)]
    add: BTreeMap<String, Lines>,
    #[serde(default)]
    remove: Vec<String>,
    path: Option<String>,
    query: Option<String>,
    #[serde(borrow)]
    respond: Option<SaidAnswer<'s>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SaidAnswer<'s> {
    status: u16,
    #[serde(default)]
    headers: BTreeMap<String, Lines>,
    #[serde(borrow)]
    body: Option<&'s RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SaidOfResponse<'s> {
    status: Option<u16>,
    #[serde(default)]
    set: BTreeMap<String, Lines>,
    #[serde(default)]
    add: BTreeMap<String, Lines>,
    #[serde(default)]
    remove: Vec<String>,
    #[serde(borrow)]
    body: Option<&'s RawValue>,
}

/// The value of a field, or those of its lines.
#[derive(Deserialize)]
#[serde(untagged)]
enum Lines {
    One(String),
    Each(Vec<String>),
}

impl Default for OfRequest {
    fn default() -> Self {
        OfRequest::Changed { edits: Vec::new(), target: None }
    }
}

impl OfRequest {
    /// Of a request for this target.
    pub(super) fn read(said: &[u8], sent: &str, asked: AskedFor) -> Result<Self, Unfit> {
        let said: SaidOfRequest<'_> = read(said)?;
        let edits = edits(Whose::Request, &said.remove, said.set, said.add)?;
        let changes = !edits.is_empty() || said.path.is_some() || said.query.is_some();
        if let Some(answer) = said.respond {
            if changes {
                return Err("answers a request and changes it, too".into());
            }
            return Ok(OfRequest::Answered(Box::new(answer.response(asked)?)));
        }
        if said.path.is_some() && !asked.by_path {
            return Err("changes the path, and what this route asks does not go by it".into());
        }
        let target = target(sent, said.path.as_deref(), said.query.as_deref())?;
        Ok(OfRequest::Changed { edits, target })
    }
}

impl OfResponse {
    /// Of this response, whose content it may change or not.
    pub(super) fn read(
        said: &[u8],
        response: &Response,
        may_change_content: bool,
        asked: AskedFor,
    ) -> Result<Self, Unfit> {
        let said: SaidOfResponse<'_> = read(said)?;
        let edits = edits(Whose::Response, &said.remove, said.set, said.add)?;
        let said_status = said.status.filter(|said| *said != response.status.as_u16());
        let status = said_status.map(status).transpose()?;
        if status.is_some() && answers_condition(response.status) {
            return Err(format!("gives a {} another status", response.status.as_str()).into());
        }
        if said.body.is_some() && !may_change_content {
            return Err("changes content that it was not given: write `body` in the policy".into());
        }
        let content = said.body.map(Content::read).transpose()?;
        let status_then = status.unwrap_or(response.status);
        if has_no_content(status_then) && content.as_ref().is_some_and(|content| !content.bytes.is_empty()) {
            return Err(format!("gives content to a {}", status_then.as_str()).into());
        }
        if let Some(content) = &content {
            content.check(status_then, asked)?;
        }
        Ok(OfResponse { status, edits, content })
    }

    /// Whether the response stays as it is.
    pub(super) fn is_nothing(&self) -> bool {
        self.status.is_none() && self.edits.is_empty() && self.content.is_none()
    }

    /// Changes a response. `is_of_head`: what is said of its content is said of one that is not sent, and that nobody has been given.
    pub(super) fn apply(self, response: &mut Response, is_of_head: bool) {
        if let Some(status) = self.status {
            response.status = status;
            if has_no_content(status) {
                response.body = Body::Empty;
                response.fields.remove(CONTENT_LENGTH);
            }
        }
        if is_of_head || self.content.is_some() {
            response::forget_content(&mut response.fields);
        }
        if let Some(Content { bytes, kind }) = self.content.filter(|_| !is_of_head) {
            if !bytes.is_empty() && !is_told(&response.fields, kind) {
                response.fields.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
            }
            response.body = bytes.into();
        }
        for edit in self.edits {
            edit.apply(&mut response.fields);
        }
    }
}

impl SaidAnswer<'_> {
    fn response(self, asked: AskedFor) -> Result<Response, Unfit> {
        let mut response = Response::new(status(self.status)?);
        if let Some(content) = self.body.map(Content::read).transpose()? {
            content.check(response.status, asked)?;
            let Content { bytes, kind } = content;
            if !bytes.is_empty() {
                if has_no_content(response.status) {
                    return Err(format!("gives content to a {}", response.status.as_str()).into());
                }
                response.fields.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
            }
            response.body = bytes.into();
        }
        let edits = edits(Whose::Response, &[], self.headers, BTreeMap::new())?;
        for edit in edits {
            edit.apply(&mut response.fields);
        }
        Ok(response)
    }
}

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

impl Content {
    /// A string is text; any other value is JSON, byte for byte as it was written.
    fn read(said: &RawValue) -> Result<Self, Unfit> {
        match serde_json::from_str::<Option<String>>(said.get()) {
            Ok(text) => Ok(Content { bytes: text.unwrap_or_default().into(), kind: TEXT }),
            Err(_) if said.get().starts_with('"') => Err("gives a text that is no Unicode".into()),
            Err(_) => Ok(Content { bytes: Bytes::copy_from_slice(said.get().as_bytes()), kind: JSON }),
        }
    }

    /// What no step can use is neither kept nor given. Of what failed no step reads the content.
    fn check(&self, status: StatusCode, asked: AskedFor) -> Result<(), Unfit> {
        let is_usable = !asked.for_json || !status.is_success() || self.bytes.is_empty();
        if is_usable || self.kind == JSON || json::is_valid(&self.bytes) {
            return Ok(());
        }
        Err("gives a text that is no JSON to a step that reads JSON".into())
    }
}

/// Whether the fields say well enough that content is of this kind: any type will do for text, and one of JSON for JSON.
fn is_told(fields: &http::HeaderMap, kind: &str) -> bool {
    let told = fields.get(CONTENT_TYPE).and_then(|told| told.to_str().ok());
    told.is_some_and(|told| {
        let essence = told.split(';').next().unwrap_or(told).trim().to_ascii_lowercase();
        kind == TEXT || essence == JSON || essence.ends_with("+json")
    })
}

/// `null` says nothing, as `{}` does.
fn read<'s, T: Default + Deserialize<'s>>(said: &'s [u8]) -> Result<T, Unfit> {
    let said = serde_json::from_slice::<Option<T>>(said);
    said.map(Option::unwrap_or_default)
        .map_err(|error| format!("says something that is not known: {error}").into())
}

/// A final status that says nothing of conditions or parts, which only who has the whole can answer.
fn status(said: u16) -> Result<StatusCode, Unfit> {
    let status = StatusCode::from_u16(said).ok();
    let fits = |status: &StatusCode| (200..=599).contains(&status.as_u16()) && !answers_condition(*status);
    status.filter(fits).ok_or_else(|| format!("gives {said}, which is no status to give").into())
}

fn answers_condition(status: StatusCode) -> bool {
    matches!(status, StatusCode::PARTIAL_CONTENT | StatusCode::NOT_MODIFIED)
}

fn has_no_content(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::NOT_MODIFIED)
}

/// First those that are taken out, then those that are set, then those that are added.
fn edits(
    whose: Whose,
    remove: &[String],
    set: BTreeMap<String, Lines>,
    add: BTreeMap<String, Lines>,
) -> Result<Vec<FieldEdit>, Unfit> {
    let mut edits = Vec::new();
    let (mut size, mut count) = (0, remove.len());
    for text in remove {
        size += text.len();
        edits.push(FieldEdit::Remove(pattern(text, whose)?));
    }
    for (text, lines, replaces) in set
        .into_iter()
        .map(|(text, lines)| (text, lines, true))
        .chain(add.into_iter().map(|(text, lines)| (text, lines, false)))
    {
        let name = name(&text)?;
        may(&name, whose, Change::Write)?;
        if replaces {
            edits.push(FieldEdit::Remove(FieldPattern::Name(name.clone())));
        }
        let lines = match lines {
            Lines::One(line) => vec![line],
            Lines::Each(lines) => lines,
        };
        // What is set to no line is taken out.
        count += lines.len().max(usize::from(replaces));
        for line in lines {
            size += text.len() + line.len();
            let value = HeaderValue::from_bytes(line.as_bytes());
            let value = value.map_err(|_| format!("gives `{name}` a value that is no line of text"))?;
            edits.push(FieldEdit::Add(name.clone(), value));
        }
    }
    if size > LARGEST || count > MOST_LINES {
        return Err(
            format!("changes more than {MOST_LINES} lines of header fields, or {LARGEST} bytes").into()
        );
    }
    Ok(edits)
}

/// `X-Internal`, `X-Internal-*`.
fn pattern(text: &str, whose: Whose) -> Result<FieldPattern, Unfit> {
    if let Some(prefix) = text.strip_suffix('*') {
        return Ok(FieldPattern::Prefix(name(prefix)?.as_str().into()));
    }
    let name = name(text)?;
    may(&name, whose, Change::Remove)?;
    Ok(FieldPattern::Name(name))
}

fn name(text: &str) -> Result<HeaderName, Unfit> {
    HeaderName::from_bytes(text.as_bytes()).map_err(|_| "names a header field that has no such name".into())
}

fn may(name: &HeaderName, whose: Whose, change: Change) -> Result<(), Unfit> {
    match unchangeable(name.as_str(), whose, change) {
        Some(why) => Err(format!("changes `{name}`, which {}", why.why()).into()),
        None => Ok(()),
    }
}

/// Path and query that are asked for; `None`: those that came. An empty query is none.
fn target(sent: &str, path: Option<&str>, query: Option<&str>) -> Result<Option<String>, Unfit> {
    if path.is_none() && query.is_none() {
        return Ok(None);
    }
    let (sent_path, sent_query) =
        sent.split_once('?').map_or((sent, None), |(path, query)| (path, Some(query)));
    let (path, query) = (path.unwrap_or(sent_path), query.or(sent_query).filter(|query| !query.is_empty()));
    let is_written =
        |text: &str, but: &[u8]| text.bytes().all(|byte| byte.is_ascii_graphic() && !but.contains(&byte));
    if !path.starts_with('/')
        || !is_written(path, b"?#")
        || !query.is_none_or(|query| is_written(query, b"#"))
    {
        return Err("gives a path or a query that is none: the path begins with a slash, and both are percent-encoded".into());
    }
    let mut target = path.to_owned();
    if let Some(query) = query {
        target.extend(["?", query]);
    }
    if target.len() > LARGEST {
        return Err(format!("gives a path and a query of more than {LARGEST} bytes").into());
    }
    if !is_plain(&target) {
        return Err("gives a path that servers may take for another one".into());
    }
    Ok(Some(target))
}

#[cfg(test)]
mod tests;
