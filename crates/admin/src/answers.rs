//! Answers: what the admin port says at each path.
//!
//! | path | answer |
//! |---|---|
//! | `/` | what there is, as plain text |
//! | `/livez` | 200 while the process answers at all |
//! | `/readyz` | 200 when requests may be sent here, otherwise 503 and what is `missing`; what is `degraded` is served without; `?verbose`: every check |
//! | `/metrics` | OpenMetrics text |
//!
//! What controls the cache is in `control`.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use axum::http::{StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;
use telemetry::Metrics;

use crate::control::{self, Control};
use crate::refusal::AdminRefusal;
use crate::{Finding, Readiness};

/// What the admin port tells of.
#[derive(Clone, Debug)]
pub struct Admin {
    /// What was counted.
    pub metrics: Arc<Metrics>,
    /// Whether requests may be sent here.
    pub readiness: Arc<Readiness>,
    /// What the cache is controlled with.
    pub control: Control,
}

const INDEX: &str = r#"fleetfoot admin

/livez            200 while the process answers
/readyz           200 when requests may be sent here, 503 and what is missing otherwise
/readyz?verbose   the same with every check
/metrics          OpenMetrics text for Prometheus

With `Authorization: Bearer` and the word of `listen.admin_token`, or without one from this machine where none is set:

POST /cache/purge     {"url": …, "exact": false | "prefix": … | "host": … | "tag": … | "tags": […] | "everything": true,
                       "soft": false, "dry_run": false, "refresh": 0, "rate": 50}
POST /cache/warm      {"urls": […], "rate": 50}
GET  /cache/entries   ?url= | prefix= | host= | tag=, limit=100
GET  /cache/entry     ?url=
GET  /explain         ?url=, method=GET, header=Name:value, ask=true
GET  /explain         ?id= what `X-Request-Id` says of an answer
"#;

/// What every answer says of itself: it is of this moment, and it is what it claims to be.
pub(crate) const COMMON: [(HeaderName, HeaderValue); 2] = [
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    degraded: Vec<Finding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checks: Option<Vec<Finding>>,
}

/// All paths. `HEAD` is answered like `GET`, without content.
pub(crate) fn router(admin: Admin) -> Router {
    let guard = from_fn_with_state(admin.control.clone(), control::guard);
    let control = control::router(admin.control.clone());
    Router::new()
        .route("/", get(|| async { (COMMON, INDEX) }))
        .route("/livez", get(|| async { (COMMON, Json(Live { live: true })) }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(admin)
        .merge(control)
        .fallback(not_found)
        .method_not_allowed_fallback(|| async { AdminRefusal::method() })
        .layer(guard)
}

async fn ready(State(admin): State<Admin>, RawQuery(query): RawQuery) -> Response {
    let report = admin.readiness.report();
    let verbose =
        query.is_some_and(|query| query.split('&').any(|field| field.split('=').next() == Some("verbose")));
    let status = if report.is_ready() { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let answer = ReadyAnswer {
        ready: report.is_ready(),
        missing: report.missing().cloned().collect(),
        degraded: report.degraded().cloned().collect(),
        checks: verbose.then_some(report.findings),
    };
    (status, COMMON, Json(answer)).into_response()
}

async fn metrics(State(admin): State<Admin>) -> Response {
    (COMMON, [(CONTENT_TYPE, Metrics::CONTENT_TYPE)], admin.metrics.render()).into_response()
}

async fn not_found(uri: Uri) -> AdminRefusal {
    AdminRefusal::not_found(format!("nothing at {}; see / for what there is", uri.path()))
}
