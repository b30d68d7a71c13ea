//! Answered read: an answer, where it comes from and how long it holds: to a request as it arrives ([`FreshRead`]), or as a
//! response.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AGE, CACHE_CONTROL};
use http::{HeaderValue, Method, StatusCode};
use message::{CacheStatus, RequestView, Response, Timestamp};
use response::Form;

use super::nothing::Nothing;
use super::rendered::Rendered;

/// See the module.
pub struct AnsweredRead {
    pub(crate) rendered: Arc<Rendered>,
    /// When its key ends; `None`: never.
    pub(crate) until: Option<Timestamp>,
    /// For how long nobody has known whether it is still so, where it stands in for a Redis that is gone.
    pub(crate) stale: Option<Duration>,
    /// What was held had this to do with it; `None`: nothing is held on this route.
    pub cache: Option<CacheStatus>,
}

/// An answer that was at hand.
pub struct FreshRead {
    pub(crate) shape: Shape,
    pub(crate) until: Option<Timestamp>,
    /// As of [`AnsweredRead::cache`].
    pub cache: Option<CacheStatus>,
}

/// As what it goes out.
pub(crate) enum Shape {
    /// The value.
    Whole(Arc<Rendered>),
    /// A 304: the client has the value.
    NotModified(Arc<Rendered>),
    /// There is no value.
    Nothing(Arc<Nothing>, Form),
}

impl AnsweredRead {
    /// As a response to this request, its conditions judged. `nothing`: what there is where there is no value.
    pub(crate) fn response(&self, request: &RequestView<'_>, nothing: &Nothing, now: Timestamp) -> Response {
        let Some(mut fields) = self.rendered.fields(self.until, now) else {
            return nothing.response(Form::of(request.fields));
        };
        let age = self.stale.map(|age| u32::try_from(age.as_secs()).unwrap_or(u32::MAX));
        if age.is_some() {
            // Whatever its key had left: it may be another by now.
            fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
        let body = self.rendered.body();
        let mut response = response::from_stored(request, StatusCode::OK, fields, body, age.unwrap_or(0));
        if age.is_none() {
            response.fields.remove(AGE);
        }
        response
    }
}

impl FreshRead {
    /// The status.
    pub fn status(&self) -> StatusCode {
        match &self.shape {
            Shape::Whole(_) => StatusCode::OK,
            Shape::NotModified(_) => StatusCode::NOT_MODIFIED,
            Shape::Nothing(nothing, _) => nothing.status(),
        }
    }

    /// Appends status line and fields, each ended by CRLF, without `Date` and without the empty line.
    pub fn write_head(&self, now: Timestamp, out: &mut Vec<u8>) {
        match &self.shape {
            Shape::Whole(rendered) => rendered.write_head(self.until, now, out),
            Shape::NotModified(rendered) => rendered.write_not_modified(self.until, now, out),
            Shape::Nothing(nothing, form) => nothing.write_head(*form, out),
        }
    }

    /// The content, as far as this method gets any.
    pub fn content(&self, method: &Method) -> Bytes {
        match &self.shape {
            _ if *method == Method::HEAD => Bytes::new(),
            Shape::Whole(rendered) => rendered.body().clone(),
            Shape::NotModified(_) => Bytes::new(),
            Shape::Nothing(nothing, form) => nothing.body(*form).clone(),
        }
    }
}
