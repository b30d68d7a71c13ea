//! Answer: what every endpoint gives back. JSON, mostly with a `Cache-Control` that says what may be done with it.

use axum::Json;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::tagged::Tagged;

/// Not to be cached, the default of the seed's API.
const NO_STORE: [(HeaderName, &str); 1] = [(CACHE_CONTROL, "no-store")];
/// To be cached by everyone for five seconds.
const FIVE_SECONDS: [(HeaderName, &str); 1] = [(CACHE_CONTROL, "public, max-age=5")];

/// To be cached by everyone for a minute.
const ONE_MINUTE: [(HeaderName, &str); 1] = [(CACHE_CONTROL, "public, max-age=60")];
/// What CDNs call the field of an answer's tags.
const CACHE_TAG: HeaderName = HeaderName::from_static("cache-tag");

/// `{"result":"ok"}`, not to be stored.
pub(crate) fn ok() -> Response {
    (NO_STORE, Json(json!({"result": "ok"}))).into_response()
}

/// `{"result":"ok"}`, good for five seconds.
pub(crate) fn ok_for_five_seconds() -> Response {
    (FIVE_SECONDS, Json(json!({"result": "ok"}))).into_response()
}

/// What was wanted, good for a minute.
pub(crate) fn tagged(tagged: Tagged) -> Response {
    let tags = tagged.tags.map(|tags| [(CACHE_TAG, tags)]);
    (ONE_MINUTE, [(CONTENT_TYPE, "application/json")], tags, tagged.content).into_response()
}

/// This JSON, and not a word about what may be done with it, as most APIs have it.
pub(crate) fn silent(content: String) -> Response {
    ([(CONTENT_TYPE, "application/json")], content).into_response()
}

/// Any JSON, not to be stored.
pub(crate) fn value(value: Value) -> Response {
    (NO_STORE, Json(value)).into_response()
}

/// This status, its name in a small body where the status allows one (RFC 9110 §6.4.1).
pub(crate) fn status(status: StatusCode) -> Response {
    let no_content = [StatusCode::NO_CONTENT, StatusCode::RESET_CONTENT, StatusCode::NOT_MODIFIED];
    if no_content.contains(&status) {
        return (status, NO_STORE).into_response();
    }
    let name = status.canonical_reason().unwrap_or("unknown status");
    (status, NO_STORE, Json(json!({"status": status.as_u16(), "error": name}))).into_response()
}

/// 400 with what was wrong and what to write instead.
pub(crate) fn bad_request(explanation: &str) -> Response {
    refusal(StatusCode::BAD_REQUEST, explanation)
}

/// A refusal with its explanation.
pub(crate) fn refusal(status: StatusCode, explanation: &str) -> Response {
    (status, NO_STORE, Json(json!({"error": explanation}))).into_response()
}
