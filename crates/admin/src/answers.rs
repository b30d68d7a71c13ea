//! Answers: what the admin port says at each path.
//!
//! | path | answer |
//! |---|---|
//! | `/` | what there is, as plain text |
//! | `/livez` | 200 while the process answers at all |
//! | `/readyz` | 200 when requests may be sent here, otherwise 503 and what is missing; `?verbose` tells every check |
//! | `/metrics` | OpenMetrics text |

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;
use telemetry::Metrics;

use crate::{Finding, Readiness};

/// What the admin port tells of.
#[derive(Clone, Debug)]
pub struct Admin {
    /// What was counted.
    pub metrics: Arc<Metrics>,
    /// Whether requests may be sent here.
    pub readiness: Arc<Readiness>,
}

const INDEX: &str = "\
fleetfoot admin

/livez            200 while the process answers
/readyz           200 when requests may be sent here, 503 and what is missing otherwise
/readyz?verbose   the same with every check
/metrics          OpenMetrics text for Prometheus
";

/// What every answer says of itself: it is of this moment, and it is what it claims to be.
const COMMON: [(HeaderName, HeaderValue); 2] = [
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
];

#[derive(Serialize)]
struct Live {
    live: bool,
}

#[derive(Serialize)]
struct ReadyAnswer {
    ready: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<Finding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checks: Option<Vec<Finding>>,
}

#[derive(Serialize)]
struct Fault {
    error: &'static str,
    detail: String,
}

/// All paths. `HEAD` is answered like `GET`, without content.
pub(crate) fn router(admin: Admin) -> Router {
    Router::new()
        .route("/", get(|| async { (COMMON, INDEX) }))
        .route("/livez", get(|| async { (COMMON, Json(Live { live: true })) }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(admin)
}

async fn ready(State(admin): State<Admin>, RawQuery(query): RawQuery) -> Response {
    let report = admin.readiness.report();
    let verbose =
        query.is_some_and(|query| query.split('&').any(|field| field.split('=').next() == Some("verbose")));
    let status = if report.is_ready() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let answer = ReadyAnswer {
        ready: report.is_ready(),
        missing: report.missing().cloned().collect(),
        checks: verbose.then_some(report.findings),
    };
    (status, COMMON, Json(answer)).into_response()
}

async fn metrics(State(admin): State<Admin>) -> Response {
    (COMMON, [(CONTENT_TYPE, Metrics::CONTENT_TYPE)], admin.metrics.render()).into_response()
}

async fn not_found(uri: Uri) -> Response {
    let detail = format!("nothing at {}; see / for what there is", uri.path());
    (StatusCode::NOT_FOUND, COMMON, Json(Fault { error: "not-found", detail })).into_response()
}

async fn method_not_allowed() -> Response {
    let detail = "only GET and HEAD are answered here".to_owned();
    (StatusCode::METHOD_NOT_ALLOWED, COMMON, Json(Fault { error: "method-not-allowed", detail }))
        .into_response()
}
