//! Field: names of fields, and of cookies, that a policy may look at. In comes a name as written, out goes it or the
//! reason it makes no sense in that place, with what to write instead.

use http::HeaderName;
use rules::claim::is_claim;

use crate::yaml::fault::{Reason, quoted};

/// Fields about the connection: they are gone before a policy looks (RFC 9110 §7.6.1).
const OF_THE_CONNECTION: [&str; 10] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
    "proxy-authorization",
    "proxy-authenticate",
];

/// Fields that ask for part of an answer, or whether it changed: answered from what is stored.
const OF_THE_CACHE: [&str; 6] =
    ["range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since"];

/// Fields of an answer that mean something to clients, so that they cannot be taken out as tags are.
const OF_ANSWERS: [&str; 16] = [
    "age",
    "cache-control",
    "content-encoding",
    "content-language",
    "content-length",
    "content-location",
    "content-range",
    "content-type",
    "date",
    "etag",
    "expires",
    "last-modified",
    "location",
    "set-cookie",
    "vary",
    "www-authenticate",
];

/// A field that is part of the key.
pub(super) fn for_key(text: &str) -> Result<HeaderName, Reason> {
    let name = name(text, "X-Tenant")?;
    let remedy = match name.as_str() {
        "cookie" => "name the cookies that count: `cookies: [currency]`",
        "authorization" => {
            "write `per: \"${claim('sub')}\"` for answers of one user, or `skip_for: [{ header: Authorization }]`"
        }
        "host" => "take it out: `host: true` does it, and is the default",
        "set-cookie" => "take it out: it stands in answers only",
        _ => return of_requests(text, name),
    };
    Err(Reason::new(format!("{} cannot be part of the key in this way", quoted(text)), remedy))
}

/// A field whose presence sends a request past the cache.
pub(super) fn for_condition(text: &str) -> Result<HeaderName, Reason> {
    let name = name(text, "Bypass-Cache")?;
    match name.as_str() {
        "host" => Err(Reason::new(
            format!("{} is in every request", quoted(text)),
            "write a route for that host, without this policy: `match: preview.example.com/**`",
        )),
        _ => of_requests(text, name),
    }
}

/// A field by which we tell a source who we are.
pub(super) fn for_credentials(text: &str) -> Result<HeaderName, Reason> {
    let name = name(text, "X-Api-Key")?;
    match name.as_str() {
        "host" | "content-length" | "content-type" | "date" | "expect" | "via" | "forwarded"
        | "user-agent" => Err(Reason::new(
            format!("{} is no place for a secret", quoted(text)),
            "write the field that the source looks at, like `X-Api-Key`",
        )),
        // Only a proxy that the config trusts could say it, and it is ours to say.
        other if is_claim(other) => Err(Reason::new(
            format!("{} says who asks, and never gets to the source", quoted(text)),
            "write the field that the source looks at, like `X-Api-Key`",
        )),
        _ => of_requests(text, name),
    }
}

/// A field of answers that holds tags.
pub(super) fn for_tags(text: &str) -> Result<HeaderName, Reason> {
    let name = name(text, "Cache-Tag")?;
    match name.as_str() {
        "cache-groups" => Err(Reason::new(
            format!("{} is looked at anyway", quoted(text)),
            "take it out: its groups are tags, and it stays in answers",
        )),
        other if OF_ANSWERS.contains(&other) => Err(Reason::new(
            format!("{} would be missing in answers", quoted(text)),
            "write a field of its own, like `Cache-Tag`: it is taken out before clients see it",
        )),
        _ => Ok(name),
    }
}

/// A field that carries an API key. It is taken out before the source sees it.
pub(super) fn for_api_key(text: &str) -> Result<HeaderName, Reason> {
    let name = name(text, "X-Api-Key")?;
    match name.as_str() {
        "authorization" | "cookie" | "host" => Err(Reason::new(
            format!("{} carries something else", quoted(text)),
            "write a field of its own, like `X-Api-Key`; bearer tokens are checked by `jwt`",
        )),
        _ => of_requests(text, name),
    }
}

/// A field that is obeyed before `Cache-Control`.
pub(super) fn targeted(text: &str) -> Result<HeaderName, Reason> {
    match name(text, "CDN-Cache-Control")? {
        http::header::CACHE_CONTROL => Err(Reason::new(
            format!("{} is no targeted field", quoted(text)),
            "take it out: it is obeyed anyway, after these",
        )),
        name => Ok(name),
    }
}

/// A cookie's name (RFC 6265 §4.1.1: a token).
pub(super) fn cookie(text: &str) -> Result<String, Reason> {
    if text.len() <= 256 && HeaderName::from_bytes(text.as_bytes()).is_ok() {
        return Ok(text.to_owned());
    }
    let remedy = match text.split_once('=') {
        Some((name, _)) if HeaderName::from_bytes(name.as_bytes()).is_ok() => {
            format!("write the name alone: {}", quoted(name))
        }
        _ => "write a name like `session`, without spaces, `=`, `;` and commas".to_owned(),
    };
    Err(Reason::new(format!("{} is not a cookie's name", quoted(text)), remedy))
}

fn of_requests(text: &str, name: HeaderName) -> Result<HeaderName, Reason> {
    if OF_THE_CONNECTION.contains(&name.as_str()) {
        return Err(Reason::new(
            format!("{} is about one connection and never gets here", quoted(text)),
            "take it out, or name a field that goes from end to end",
        ));
    }
    if OF_THE_CACHE.contains(&name.as_str()) {
        return Err(Reason::new(
            format!("{} is answered from the stored answer", quoted(text)),
            "take it out: parts and `304`s are made from the whole answer",
        ));
    }
    Ok(name)
}

/// A field's name; `like`: one that would do.
pub(super) fn name(text: &str, like: &str) -> Result<HeaderName, Reason> {
    HeaderName::from_bytes(text.as_bytes()).map_err(|_| {
        let remedy = match text.split_once(':') {
            Some((name, _)) if HeaderName::from_bytes(name.as_bytes()).is_ok() => {
                format!("write the name alone: {}", quoted(name))
            }
            _ => format!("write a name like `{like}`"),
        };
        Reason::new(format!("{} is not a field name", quoted(text)), remedy)
    })
}
