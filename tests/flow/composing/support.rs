//! What the stories of this folder begin with: a fleetfoot with sources and routes of the story's own, databases that
//! a file shares, and what an answer of a compose says besides its content.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use testkit::{Answer, Fleetfoot, MariaDb, Postgres};

/// A configuration with these sources, one a line, and these routes, each a flow mapping without its braces.
pub(crate) fn config(sources: &[&str], routes: &[&str]) -> String {
    config_with("cores: 1", sources, routes)
}

/// The same with more on top.
pub(crate) fn config_with(top: &str, sources: &[&str], routes: &[&str]) -> String {
    let sources: Vec<_> = sources.iter().map(|source| format!("  {source}\n")).collect();
    let routes: Vec<_> = routes.iter().map(|route| format!("  - {{ {route} }}\n")).collect();
    let (sources, routes) = (sources.concat(), routes.concat());
    format!(
        "listen: {{ http: 127.0.0.1:0, admin: 127.0.0.1:0 }}\n{top}\nsources:\n{sources}routes:\n{routes}"
    )
}

/// A fleetfoot with these.
pub(crate) fn composing(sources: &[&str], routes: &[&str]) -> Fleetfoot {
    Fleetfoot::start(&config(sources, routes))
}

/// A source that is this database; `more` stands behind a comma.
pub(crate) fn sql(url: &str, more: &str) -> String {
    // The test kit's databases have this one; in a URL it is refused.
    let (url, password) =
        (url.replace(":secret@", "@"), if url.contains(":secret@") { ", password: secret" } else { "" });
    format!(r#"{{ sql: "{url}"{password}{more} }}"#)
}

/// A MariaDB that stories share which neither stop it nor look at what it does; each has tables of its own.
pub(crate) fn mariadb() -> Arc<MariaDb> {
    static RUNNING: Mutex<Weak<MariaDb>> = Mutex::new(Weak::new());
    shared(&RUNNING, MariaDb::start)
}

/// The same of PostgreSQL.
pub(crate) fn postgres() -> Arc<Postgres> {
    static RUNNING: Mutex<Weak<Postgres>> = Mutex::new(Weak::new());
    shared(&RUNNING, Postgres::start)
}

/// The one that a story running just now uses, or a new one.
fn shared<T>(running: &Mutex<Weak<T>>, start: fn() -> T) -> Arc<T> {
    let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
    running.upgrade().unwrap_or_else(|| {
        let started = Arc::new(start());
        *running = Arc::downgrade(&started);
        started
    })
}

pub(crate) fn refs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

/// `X-Fleetfoot-Completed` and `X-Fleetfoot-Failed`.
pub(crate) fn told(answer: &Answer) -> (&str, &str) {
    (
        answer.field("x-fleetfoot-completed").unwrap_or_default(),
        answer.field("x-fleetfoot-failed").unwrap_or_default(),
    )
}

/// A whole answer of this content.
#[track_caller]
pub(crate) fn assert_complete(answer: &Answer, content: &str) {
    assert_eq!((answer.status, answer.text().as_str()), (200, content), "{:?}", answer.head);
    assert_eq!(told(answer), ("true", ""), "{:?}", answer.head);
}

/// An answer that says which steps failed, and why; nobody may keep it.
#[track_caller]
pub(crate) fn assert_incomplete(answer: &Answer, failed: &str, content: &str) {
    assert_eq!((answer.status, answer.text().as_str()), (200, content), "{:?}", answer.head);
    assert_eq!(told(answer), ("false", failed), "{:?}", answer.head);
    assert_eq!(answer.field("cache-control"), Some("no-store"), "{:?}", answer.head);
    assert!(!answer.has("etag"), "{:?}", answer.head);
}
