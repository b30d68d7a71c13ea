//! How the stories of this folder talk to the admin port, and what they begin with.

use serde_json::Value;
use testkit::{Answer, Fleetfoot, Origin, RawClient, Script, ok};

/// Asks the admin port, which wants to be called by its address.
pub(crate) fn ask(fleetfoot: &Fleetfoot, method: &str, target: &str, fields: &str, content: &str) -> Answer {
    let admin = fleetfoot.admin();
    let mut request =
        format!("{method} {target} HTTP/1.1\r\nHost: {admin}\r\nContent-Length: {}\r\n", content.len());
    for line in fields.lines().map(str::trim).filter(|line| !line.is_empty()) {
        request.push_str(line);
        request.push_str("\r\n");
    }
    RawClient::connect(admin).ask(request + "\r\n" + content)
}

/// `GET`; what it says, which must be JSON.
pub(crate) fn get(fleetfoot: &Fleetfoot, target: &str) -> Value {
    read(&ask(fleetfoot, "GET", target, "", ""), 200)
}

/// `POST` of JSON.
pub(crate) fn post(fleetfoot: &Fleetfoot, target: &str, content: &Value) -> Answer {
    ask(fleetfoot, "POST", target, "Content-Type: application/json", &content.to_string())
}

/// `POST /cache/purge`, which must succeed.
pub(crate) fn purge(fleetfoot: &Fleetfoot, call: &Value) -> Value {
    read(&post(fleetfoot, "/cache/purge", call), 200)
}

/// An answer's JSON.
pub(crate) fn read(answer: &Answer, status: u16) -> Value {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(answer.field("Content-Type"), Some("application/json"), "{answer:?}");
    let read = serde_json::from_slice(&answer.body);
    assert!(read.is_ok(), "no JSON: {}", answer.text());
    read.unwrap_or_default()
}

/// Answers with the number of the request for this target, good for ten minutes, with these fields besides.
pub(crate) fn counting(fields: &'static str) -> Origin {
    let origin = Origin::start();
    let asked = std::sync::Mutex::new(std::collections::HashMap::new());
    origin.on("*").answer(move |request| {
        let mut asked = asked.lock().expect("no answer panics");
        let count: &mut u32 = asked.entry(request.target.clone()).or_default();
        *count += 1;
        numbered(fields, *count)
    });
    origin
}

fn numbered(fields: &str, count: u32) -> Script {
    ok(&format!("Cache-Control: max-age=600\n{fields}"), count.to_string())
}

/// The answer to this URL, `http://host/path`, by a client of its own.
pub(crate) fn visit(fleetfoot: &Fleetfoot, url: &str, fields: &str) -> Answer {
    let rest = url.strip_prefix("http://").expect("stories write whole URLs");
    let (host, path) = rest.split_at(rest.find('/').expect("a URL has a path"));
    let mut request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n");
    for line in fields.lines().map(str::trim).filter(|line| !line.is_empty()) {
        request.push_str(line);
        request.push_str("\r\n");
    }
    fleetfoot.connect().ask(request + "\r\n")
}
