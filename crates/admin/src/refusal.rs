//! Refusal: why a request to the admin port is refused, as JSON that says what to do instead.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::answers::COMMON;

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AdminRefusal {
    status: StatusCode,
    error: &'static str,
    detail: String,
    field: Option<(HeaderName, HeaderValue)>,
}

#[derive(Serialize)]
struct Content<'a> {
    error: &'static str,
    detail: &'a str,
}

impl AdminRefusal {
    fn new(status: StatusCode, error: &'static str, detail: impl Into<String>) -> Self {
        AdminRefusal { status, error, detail: detail.into(), field: None }
    }

    fn with(self, name: HeaderName, value: &'static str) -> Self {
        AdminRefusal { field: Some((name, HeaderValue::from_static(value))), ..self }
    }

    /// 400: what was sent cannot be understood.
    pub(crate) fn request(detail: impl Into<String>) -> Self {
        AdminRefusal::new(StatusCode::BAD_REQUEST, "bad-request", detail)
    }

    /// 401: the token is missing or wrong.
    pub(crate) fn unauthorized(detail: impl Into<String>) -> Self {
        AdminRefusal::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
            .with(WWW_AUTHENTICATE, "Bearer realm=\"fleetfoot admin\"")
    }

    /// 403: not from here, whoever asks.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        AdminRefusal::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    /// 404.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        AdminRefusal::new(StatusCode::NOT_FOUND, "not-found", detail)
    }

    /// 405. Which methods are answered stands in `Allow`, which the router writes.
    pub(crate) fn method() -> Self {
        let detail = "this method is not answered here; `Allow` says which are, and / what there is";
        AdminRefusal::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", detail)
    }

    /// 413.
    pub(crate) fn too_large(detail: impl Into<String>) -> Self {
        AdminRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, "content-too-large", detail)
    }

    /// 415.
    pub(crate) fn media_type() -> Self {
        let detail = "send the content as JSON, with `Content-Type: application/json`";
        AdminRefusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media-type", detail)
    }

    /// 503: the same will do in a moment.
    pub(crate) fn busy(detail: impl Into<String>) -> Self {
        AdminRefusal::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail).with(RETRY_AFTER, "1")
    }

    /// 500: something of ours broke.
    pub(crate) fn internal(detail: impl Into<String>) -> Self {
        AdminRefusal::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    }
}

impl IntoResponse for AdminRefusal {
    fn into_response(self) -> Response {
        let content = Content { error: self.error, detail: &self.detail };
        let mut response = (self.status, COMMON, Json(content)).into_response();
        if let Some((name, value)) = self.field {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
