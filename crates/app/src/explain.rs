//! `explain GET URL`: what would happen to a request, and why: under a configuration, or in a running fleetfoot.
//! `explain --id ID`: what happened to one that was answered.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use message::Scheme;
use plan::{Faults, Plan};
use serde_json::Value;

use crate::admin_port::{AdminPort, Arguments, DEFAULT};
use crate::output;
use crate::waterfall;

/// The command line's words.
#[derive(clap::Args)]
pub(crate) struct ExplainArguments {
    /// The method, as in GET.
    #[arg(required_unless_present = "id")]
    method: Option<String>,
    /// The URL as a client would ask for it.
    #[arg(required_unless_present = "id")]
    url: Option<String>,
    /// The configuration; without one, as `up` would do it for the URL's own origin.
    #[arg(long, value_name = "FILE", conflicts_with = "admin")]
    config: Option<PathBuf>,
    /// A request field, as in 'Cookie: a=b'; may be repeated.
    #[arg(long = "header", short = 'H', value_name = "FIELD")]
    headers: Vec<String>,
    /// Do not ask the origin; tell only what is known beforehand.
    #[arg(long)]
    offline: bool,
    /// Run the steps of a `compose` once, and show how long each took.
    #[arg(long, conflicts_with = "offline")]
    live: bool,
    /// Ask the fleetfoot that runs with this admin port, which knows what is stored.
    #[arg(long, value_name = "ADDRESS", value_parser = plan::socket_address)]
    admin: Option<SocketAddr>,
    /// A file with the word of `listen.admin_token`; without one, the variable FLEETFOOT_ADMIN_TOKEN is looked at.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// With --admin: let it ask the origin too.
    #[arg(long, requires = "admin", conflicts_with = "offline")]
    ask: bool,
    /// What happened to the request whose answer said so in X-Request-Id; asks the admin port.
    #[arg(long, value_name = "ID", conflicts_with_all = ["method", "url", "config", "headers", "offline", "ask", "live"])]
    id: Option<String>,
}

pub(crate) fn explain(question: &ExplainArguments, json: bool) -> ExitCode {
    if question.admin.is_some() || question.id.is_some() {
        return explain_running(question, json);
    }
    let asked = match understand(question) {
        Ok(asked) => asked,
        Err(problem) => return output::fail(problem, output::USAGE),
    };
    let plan = match plan_for(question, &asked) {
        Ok(plan) => plan,
        Err(faults) => return output::faults(&faults, json),
    };
    match server::explain(plan, asked) {
        Ok(explanation) if json => {
            output::say_json(&explanation);
            if explanation.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
        Ok(explanation) => tell(&serde_json::to_value(&explanation).unwrap_or_default(), json),
        Err(error) => output::fail(error, 1),
    }
}

/// Asks the admin port.
fn explain_running(question: &ExplainArguments, json: bool) -> ExitCode {
    let default = || DEFAULT.parse().expect("the address above is valid");
    let arguments =
        Arguments { admin: question.admin.unwrap_or_else(default), token_file: question.token_file.clone() };
    let mut parameters = Vec::new();
    if let Some(id) = &question.id {
        parameters.push(("id", id.as_str()));
    } else {
        if let Err(problem) = understand(question) {
            return output::fail(problem, output::USAGE);
        }
        parameters.extend(question.url.as_deref().map(|url| ("url", url)));
        parameters.extend(question.headers.iter().map(|line| ("header", line.as_str())));
        if question.ask {
            parameters.push(("ask", "true"));
        }
        if question.live {
            parameters.push(("live", "true"));
        }
    }
    let method = question.method.as_deref().map(str::to_uppercase);
    parameters.extend(method.as_deref().map(|method| ("method", method)));
    let port = match AdminPort::new(&arguments) {
        Ok(port) => port,
        Err(problem) => return output::fail(problem, output::USAGE),
    };
    match port.get("/explain", &parameters, &["verdict"]) {
        Ok(explanation) => tell(&explanation, json),
        Err(problem) => output::fail(problem, 1),
    }
}

fn tell(explanation: &Value, json: bool) -> ExitCode {
    if json {
        output::say_json(explanation);
    } else {
        output::say(readable(explanation));
    }
    if explanation["failed"] == true { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// From the file, or as `up` would do it for the URL's own origin.
fn plan_for(question: &ExplainArguments, asked: &server::ExplainRequest) -> Result<Plan, Faults> {
    match &question.config {
        Some(file) => plan::load(file),
        None => plan::up(&format!("{}://{}", asked.scheme.as_str(), asked.authority)),
    }
}

fn understand(question: &ExplainArguments) -> Result<server::ExplainRequest, String> {
    // clap has them both, or an id.
    let method = question.method.as_deref().unwrap_or_default();
    let url = question.url.as_deref().unwrap_or_default();
    let method = Method::from_bytes(method.to_uppercase().as_bytes())
        .map_err(|_| format!("`{method}` is not a method; write GET, for one"))?;
    let complete = |problem| format!("{problem}; write it as in http://localhost:3000/path");
    let uri: Uri = url.parse().map_err(|_| complete(format!("`{url}` is not a URL")))?;
    let scheme = match uri.scheme_str() {
        Some("http") => Scheme::Http,
        Some("https") => Scheme::Https,
        Some(other) => return Err(complete(format!("`{other}` is not http or https"))),
        None => return Err(complete(format!("`{url}` has no scheme"))),
    };
    let authority = uri.authority().ok_or_else(|| complete(format!("`{url}` has no host")))?;
    let default_port = format!(":{}", scheme.default_port());
    let authority = authority.as_str().to_lowercase();
    Ok(server::ExplainRequest {
        method,
        scheme,
        authority: authority.strip_suffix(&default_port).unwrap_or(&authority).to_owned(),
        target: uri.path_and_query().map_or("/", |target| target.as_str()).to_owned(),
        fields: fields(&question.headers)?,
        ask: !question.offline,
        live: question.live,
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

/// Line by line, in the order of a request's way. Of either kind: what would happen, and what happened.
fn readable(explanation: &Value) -> String {
    let mut lines = Vec::new();
    let text = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(printable(text)),
        other => Some(other.to_string()),
    };
    let mut add = |name: &'static str, value: &Value| lines.extend(text(value).map(|text| (name, text)));
    for name in ["request", "id", "time", "method", "url"] {
        add(name, &explanation[name]);
    }
    for name in ["route", "source"] {
        add(name, &explanation[name]);
    }
    let read = &explanation["read"];
    add("read", &read["command"]);
    each(&read["arguments"], |argument| add("argument", argument));
    let compose = &explanation["compose"];
    add("run", &compose["run"]);
    each(&compose["steps"], |step| {
        let needs: Vec<_> = step["needs"].as_array().into_iter().flatten().map(word).collect();
        let waits =
            if needs.is_empty() { String::new() } else { format!(", waits for {}", needs.join(", ")) };
        let stack: Vec<_> = step["stack"].as_array().into_iter().flatten().map(word).collect();
        let within =
            if stack.is_empty() { String::new() } else { format!(", within {}", stack.join(" → ")) };
        let line = format!("{}: {}{waits}{within}", word(&step["name"]), word(&step["asks"]));
        add("step", &Value::String(line));
        each(&step["states"], |layer| {
            let state =
                format!("{} of {}: {}", word(&layer["name"]), word(&step["name"]), word(&layer["effect"]));
            add("layer", &Value::String(state));
        });
    });
    let path: Vec<_> = compose["critical_path"].as_array().into_iter().flatten().map(word).collect();
    if !path.is_empty() {
        add("longest", &Value::String(path.join(" → ")));
    }
    for line in waterfall::lines(compose) {
        add("", &Value::String(line));
    }
    for name in ["policy", "mode", "key"] {
        add(name, &explanation[name]);
    }
    add("status", &explanation["status"]);
    add("said", &explanation["cache_status"]);
    each(&explanation["key_parts"], |part| add("key has", part));
    each(&explanation["stack"], |layer| {
        let effect = format!("{}: {}", word(&layer["name"]), word(&layer["effect"]));
        add("layer", &Value::String(effect));
    });
    each(&explanation["controls"], |control| {
        let effect = format!("{}: {}", word(&control["name"]), word(&control["effect"]));
        add("control", &Value::String(effect));
    });
    let stored = &explanation["stored_answer"];
    if stored.is_object() {
        add("stored", &Value::String(format!("{}, {} bytes", stored["status"], stored["length"])));
        add_fields(&stored["variant"], "variant", &mut add);
        each(&stored["tags"], |tag| add("tag", tag));
        add_fields(&stored["fields"], "field", &mut add);
        add("freshness", &stored["arithmetic"]);
    }
    if explanation["other_variants"].as_u64().is_some_and(|others| others > 0) {
        add("variants", &Value::String(format!("{} others", explanation["other_variants"])));
    }
    let answer = &explanation["answer"];
    if answer.is_object() {
        add("status", &answer["status"]);
        add_fields(&answer["fields"], "field", &mut add);
        each(&answer["tags"], |tag| add("tag", tag));
    }
    add("error", &explanation["error"]);
    add("verdict", &explanation["verdict"]);
    lines.iter().map(|(name, value)| format!("{name:>9}  {value}")).collect::<Vec<_>>().join("\n")
}

fn add_fields(fields: &Value, name: &'static str, add: &mut impl FnMut(&'static str, &Value)) {
    each(fields, |field| {
        add(name, &Value::String(format!("{}: {}", word(&field[0]), word(&field[1]))));
    });
}

fn each(list: &Value, visit: impl FnMut(&Value)) {
    list.as_array().into_iter().flatten().for_each(visit);
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// What strangers sent must not drive a terminal.
fn printable(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { '\u{fffd}' } else { char }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_kinds_are_told_line_by_line() {
        let would = readable(&json!({
            "request": "GET http://a/", "route": "GET /**", "policy": "public", "key_parts": ["x-a: 1"],
            "controls": [{"name": "bypass", "effect": "does not hold"}], "other_variants": 1,
            "stored_answer": {"status": 200, "length": 3, "fields": [["etag", "\"1\""]], "arithmetic": "age 3 = 1 + 2"},
            "verdict": "a hit",
        }));
        for line in
            ["route  GET /**", "key has  x-a: 1", "control  bypass: does not hold", "stored  200, 3 bytes"]
        {
            assert!(would.contains(line), "{line} in {would}");
        }
        assert!(would.contains("freshness  age 3 = 1 + 2") && would.ends_with("verdict  a hit"), "{would}");
        let steps = readable(&json!({"compose": {"steps": [
            {"name": "a", "asks": "GET /x", "needs": [], "stack": ["cache", "limit"],
             "states": [{"name": "limit", "effect": "waits"}]},
        ]}}));
        assert!(steps.contains("step  a: GET /x, within cache → limit"), "{steps}");
        assert!(steps.contains("layer  limit of a: waits"), "{steps}");
        let did =
            readable(&json!({"id": "x\u{1b}", "status": 200, "cache_status": "fleetfoot; fwd=uri-miss"}));
        assert!(did.contains("id  x\u{fffd}") && did.contains("status  200"), "{did}");
    }
}
