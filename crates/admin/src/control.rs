//! Control: everything under `/cache` and `/explain`: what may be asked, and of whom it is.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, HeaderMap};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use cache::Store;
use serde::de::DeserializeOwned;
use telemetry::Metrics;

use crate::access::Access;
use crate::answers::COMMON;
use crate::backstage::Backstage;
use crate::refusal::AdminRefusal;
use crate::rounds::Rounds;
use crate::walks::Walks;
use crate::{entries, explain, purge, warm};

/// Bytes of a call's content.
const CONTENT: usize = 1024 * 1024;

/// What controls the cache. Clones share it.
#[derive(Clone)]
pub struct Control(pub(crate) Arc<Parts>);

pub(crate) struct Parts {
    pub(crate) access: Arc<Access>,
    pub(crate) store: Arc<Store>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) backstage: Arc<dyn Backstage>,
    pub(crate) walks: Walks,
    pub(crate) rounds: Rounds,
}

impl Control {
    /// Control of this cache, for those whom `access` lets.
    pub fn new(
        access: Arc<Access>,
        store: Arc<Store>,
        metrics: Arc<Metrics>,
        backstage: Arc<dyn Backstage>,
    ) -> Self {
        let (walks, rounds) = (Walks::new(), Rounds::new());
        Control(Arc::new(Parts { access, store, metrics, backstage, walks, rounds }))
    }
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("access", &self.0.access).finish_non_exhaustive()
    }
}

/// The paths; [`guard`] stands before them.
pub(crate) fn router(control: Control) -> Router {
    Router::new()
        .route("/cache/purge", post(purge::purge))
        .route("/cache/warm", post(warm::warm))
        .route("/cache/entries", get(entries::entries))
        .route("/cache/entry", get(entries::entry))
        .route("/explain", get(explain::explain))
        .with_state(control)
}

/// Lets through what is none of ours, and what [`Access`] allows. In front of the whole port, so that no path under
/// ours, known or not, is answered without it.
pub(crate) async fn guard(State(control): State<Control>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let first = path.strip_prefix('/').and_then(|path| path.split('/').next());
    if matches!(first, Some("cache" | "explain"))
        && let Err(fault) = control.0.access.check(request.headers())
    {
        return fault.into_response();
    }
    next.run(request).await
}

/// A call's content, which must be JSON: a page's form cannot send that without asking first (CORS), and we refuse
/// what asks.
pub(crate) async fn content<T: DeserializeOwned>(fields: &HeaderMap, body: Body) -> Result<T, AdminRefusal> {
    let media_type = fields.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    if !media_type.eq_ignore_ascii_case("application/json") {
        return Err(AdminRefusal::media_type());
    }
    let too_large = || AdminRefusal::too_large("content is 1 MiB at most: send it in several calls");
    if body.size_hint().lower() > CONTENT as u64 {
        return Err(too_large());
    }
    let bytes = to_bytes(body, CONTENT).await.map_err(|_| too_large())?;
    serde_json::from_slice(&bytes).map_err(|error| AdminRefusal::request(format!("the content: {error}")))
}

/// A good answer.
pub(crate) fn answer(value: impl serde::Serialize) -> Response {
    (COMMON, axum::Json(value)).into_response()
}
