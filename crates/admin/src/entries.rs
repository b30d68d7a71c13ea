//! `GET /cache/entries` and `GET /cache/entry`: what is stored.

use std::sync::Arc;

use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use cache::{Listed, Scope};
use message::Clock;
use serde::Serialize;
use serde_json::Value;

use crate::control::{Control, answer};
use crate::query::Query;
use crate::refusal::AdminRefusal;
use crate::scope::Words;

/// Entries where nobody says how many.
const USUAL: usize = 100;

/// Entries of one answer at most.
const MOST: usize = 10_000;

/// Variants of one URL at most.
const VARIANTS: usize = 1_000;

/// Fields whose values are somebody's alone.
const SECRET: [&str; 4] = ["authorization", "cookie", "proxy-authorization", "set-cookie"];

#[derive(Serialize)]
struct Entries {
    entries: Vec<Value>,
    /// Whether there may be more than were listed.
    more: bool,
}

/// The most used first; without a scope, of everything.
pub(crate) async fn entries(State(control): State<Control>, uri: Uri) -> Result<Response, AdminRefusal> {
    let mut query = Query::of(&uri)?;
    let limit = match query.take("limit")? {
        None => USUAL,
        Some(text) => text
            .parse()
            .ok()
            .filter(|limit| (1..=MOST).contains(limit))
            .ok_or_else(|| AdminRefusal::request(format!("`limit` is a number from 1 to {MOST}")))?,
    };
    let mut words = Words {
        url: query.take("url")?,
        exact: query.take("exact")?.is_some_and(|exact| exact != "false"),
        prefix: query.take("prefix")?,
        host: query.take("host")?,
        tags: query.take("tag")?.map(|tag| vec![tag]),
        everything: query.take("everything")?.is_some_and(|everything| everything != "false"),
    };
    query.end()?;
    words.everything |= words.said_nothing();
    let scope = words.scopes(&*control.0.backstage)?.into_iter().next().unwrap_or(Scope::Everything);
    let listed = list(&control, scope, limit).await?;
    let more = listed.len() == limit;
    let without_fields = |listed| {
        let mut row = row(listed);
        if let Value::Object(row) = &mut row {
            row.remove("fields");
        }
        row
    };
    Ok(answer(Entries { entries: listed.into_iter().map(without_fields).collect(), more }))
}

/// All variants of one URL, with their fields.
pub(crate) async fn entry(State(control): State<Control>, uri: Uri) -> Result<Response, AdminRefusal> {
    let mut query = Query::of(&uri)?;
    let url = query.take("url")?;
    query.end()?;
    let words = Words { url: Some(url.ok_or_else(no_url)?), exact: true, ..Words::default() };
    let scope = words.scopes(&*control.0.backstage)?.into_iter().next().unwrap_or(Scope::Everything);
    let listed = list(&control, scope, VARIANTS).await?;
    if listed.is_empty() {
        return Err(AdminRefusal::not_found(
            "nothing is stored under this URL in memory; `fleetfoot explain GET URL --admin …`, or GET /explain?url=…, may tell why",
        ));
    }
    let more = listed.len() == VARIANTS;
    Ok(answer(Entries { entries: listed.into_iter().map(row).collect(), more }))
}

pub(crate) fn no_url() -> AdminRefusal {
    AdminRefusal::request("say which: `url=http://example.com/path`, percent-encoded")
}

async fn list(control: &Control, scope: Scope, most: usize) -> Result<Vec<Listed>, AdminRefusal> {
    let store = Arc::clone(&control.0.store);
    control.0.walks.run(move || store.list(&scope, most, Clock::now())).await
}

/// As JSON, without what is a client's secret.
fn row(mut listed: Listed) -> Value {
    for (name, value) in listed.vary.iter_mut().chain(&mut listed.fields) {
        if SECRET.iter().any(|secret| name.eq_ignore_ascii_case(secret)) && !value.is_empty() {
            "…".clone_into(value);
        }
    }
    for piece in &mut listed.also {
        // As the cache writes what is in a key: `authorization: …`, `lines of cookie: …`, `cookie id: …`.
        if let Some((name, _)) = piece.split_once(": ")
            && cache::is_secret(name)
        {
            *piece = format!("{name}: …");
        }
    }
    listed.tags.retain(|tag| rules::tags::is_plain(tag));
    serde_json::to_value(listed).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_clients_secret_is_not_shown() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let listed = Listed {
            url: "http://a.test/".to_owned(),
            also: ["authorization: Bearer 5EC4E7", "cookie id: 5EC4E7", "lines of cookie: 5EC4E7", "x-a: 1"]
                .map(str::to_owned)
                .to_vec(),
            vary: vec![pair("Cookie", "5EC4E7"), pair("accept", "*/*")],
            status: 200,
            length: 0,
            age: 0,
            fresh_for: 0,
            hits: 0,
            tags: vec!["news".to_owned(), "\u{1}a.test\u{1}news".to_owned()],
            fields: vec![pair("set-cookie", "id=5EC4E7"), pair("etag", "\"1\"")],
        };
        let shown = row(listed).to_string();
        assert!(!shown.contains("5EC4E7"), "{shown}");
        assert!(shown.contains("*/*") && shown.contains("etag") && shown.contains("x-a: 1"), "{shown}");
        assert!(shown.contains(r#""tags":["news"]"#), "{shown}");
    }
}
