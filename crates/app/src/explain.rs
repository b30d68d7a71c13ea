//! `explain GET URL`: what would happen to a request, and why.

use std::path::PathBuf;
use std::process::ExitCode;

use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use message::Scheme;
use plan::{Faults, Plan};
use server::Explanation;

use crate::output;

/// The command line's words.
pub(crate) struct Question {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) config: Option<PathBuf>,
    pub(crate) headers: Vec<String>,
    pub(crate) offline: bool,
}

pub(crate) fn explain(question: &Question, json: bool) -> ExitCode {
    let asked = match understand(question) {
        Ok(asked) => asked,
        Err(problem) => return output::fail(problem, output::USAGE),
    };
    let plan = match plan_for(question, &asked) {
        Ok(plan) => plan,
        Err(faults) => return output::faults(&faults, json),
    };
    match server::explain(plan, asked) {
        Ok(explanation) => {
            if json {
                output::say_json(&explanation);
            } else {
                output::say(readable(&explanation));
            }
            if explanation.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
        Err(error) => output::fail(error, 1),
    }
}

/// From the file, or as `up` would do it for the URL's own origin.
fn plan_for(question: &Question, asked: &server::Question) -> Result<Plan, Faults> {
    match &question.config {
        Some(file) => plan::load(file),
        None => plan::up(&format!("{}://{}", asked.scheme.as_str(), asked.authority)),
    }
}

fn understand(question: &Question) -> Result<server::Question, String> {
    let method = Method::from_bytes(question.method.to_uppercase().as_bytes())
        .map_err(|_| format!("`{}` is not a method; write GET, for one", question.method))?;
    let complete = |problem| format!("{problem}; write it as in http://localhost:3000/path");
    let uri: Uri = question.url.parse().map_err(|_| complete(format!("`{}` is not a URL", question.url)))?;
    let scheme = match uri.scheme_str() {
        Some("http") => Scheme::Http,
        Some("https") => Scheme::Https,
        Some(other) => return Err(complete(format!("`{other}` is not http or https"))),
        None => return Err(complete(format!("`{}` has no scheme", question.url))),
    };
    let authority = uri.authority().ok_or_else(|| complete(format!("`{}` has no host", question.url)))?;
    let default_port = format!(":{}", scheme.default_port());
    let authority = authority.as_str().to_lowercase();
    Ok(server::Question {
        method,
        scheme,
        authority: authority.strip_suffix(&default_port).unwrap_or(&authority).to_owned(),
        target: uri.path_and_query().map_or("/", |target| target.as_str()).to_owned(),
        fields: fields(&question.headers)?,
        ask: !question.offline,
    })
}

fn fields(lines: &[String]) -> Result<HeaderMap, String> {
    lines
        .iter()
        .map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((HeaderName::try_from(name.trim()).ok()?, HeaderValue::try_from(value.trim()).ok()?))
        })
        .zip(lines)
        .map(|(field, line)| {
            field.ok_or_else(|| format!("`{line}` is not a field; write it as in 'Cookie: a=b'"))
        })
        .collect()
}

fn readable(explanation: &Explanation) -> String {
    let mut lines = vec![("request", explanation.request.clone())];
    let mut add = |name, value: &Option<String>| lines.extend(value.clone().map(|value| (name, value)));
    add("route", &explanation.route);
    add("source", &explanation.source);
    add("policy", &explanation.policy);
    add("key", &explanation.key);
    if let Some(answer) = &explanation.answer {
        lines.push(("status", answer.status.to_string()));
        lines.extend(answer.fields.iter().map(|(name, value)| ("field", format!("{name}: {value}"))));
    }
    lines.push(("verdict", explanation.verdict.clone()));
    lines.iter().map(|(name, value)| format!("{name:>8}  {value}")).collect::<Vec<_>>().join("\n")
}
