//! Answered: an answer, where it comes from and how long it holds: to a request as it arrives ([`Fresh`]), or as a
//! response.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AGE, CACHE_CONTROL};
use http::{HeaderValue, Method, StatusCode};
use message::{CacheStatus, RequestView, Response, Timestamp};

use super::rendered::Rendered;

/// See the module.
pub struct Answered {
    pub(crate) rendered: Arc<Rendered>,
    /// When its key ends; `None`: never.
    pub(crate) until: Option<Timestamp>,
    /// For how long nobody has known whether it is still so, where it stands in for a Redis that is gone.
    pub(crate) stale: Option<Duration>,
    /// What was held had this to do with it; `None`: nothing is held on this route.
    pub cache: Option<CacheStatus>,
}

/// An answer that was at hand.
pub struct Fresh {
    pub(crate) rendered: Arc<Rendered>,
    pub(crate) until: Option<Timestamp>,
    pub(crate) is_not_modified: bool,
    /// As of [`Answered::cache`].
    pub cache: Option<CacheStatus>,
}

impl Answered {
    /// As a response to this request, its conditions judged.
    pub(crate) fn response(&self, request: &RequestView<'_>, now: Timestamp) -> Response {
        let mut whole = self.rendered.whole(self.until, now);
        if !self.rendered.is_there() {
            return whole;
        }
        let age = self.stale.map(|age| u32::try_from(age.as_secs()).unwrap_or(u32::MAX));
        if age.is_some() {
            // Whatever its key had left: it may be another by now.
            whole.fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        }
        let Response { status, fields, .. } = whole;
        let mut response =
            response::from_stored(request, status, fields, self.rendered.body(), age.unwrap_or(0));
        if age.is_none() {
            response.fields.remove(AGE);
        }
        response
    }
}

impl Fresh {
    /// The status.
    pub fn status(&self) -> StatusCode {
        if self.is_not_modified { StatusCode::NOT_MODIFIED } else { self.rendered.status() }
    }

    /// Appends status line and fields, each ended by CRLF, without `Date` and without the empty line.
    pub fn write_head(&self, now: Timestamp, out: &mut Vec<u8>) {
        if self.is_not_modified {
            self.rendered.write_not_modified(self.until, now, out);
        } else {
            self.rendered.write_head(self.until, now, out);
        }
    }

    /// The content, as far as this method gets any.
    pub fn content(&self, method: &Method) -> Bytes {
        if self.is_not_modified || *method == Method::HEAD {
            Bytes::new()
        } else {
            self.rendered.body().clone()
        }
    }
}
