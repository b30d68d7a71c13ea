//! Respond: the values of all steps → a response. Called by `server` with what [`Run::serve`](crate::Run::serve) gave.

use std::fmt::Write;

use expression::{Context, Given, Json};
use http::header::{AGE, CACHE_CONTROL, CONTENT_TYPE, ETAG, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use message::{Body, RequestView, Response, Result};
use plan::Compose;
use twox_hash::XxHash3_128;

use crate::prepare::unable;
use crate::run::Served;
use crate::timing::Took;

const COMPLETED: HeaderName = HeaderName::from_static("x-fleetfoot-completed");
const FAILED: HeaderName = HeaderName::from_static("x-fleetfoot-failed");

/// Steps that a field names at most.
const NAMED: usize = 64;

impl Served {
    /// As a response to this request, its conditions judged.
    ///
    /// # Errors
    /// Something in it cannot be worked out of what steps gave, or of what the request holds.
    pub fn response(
        mut self,
        compose: &Compose,
        request: &RequestView<'_>,
        names: &[Option<Box<str>>],
        took: &[Took],
    ) -> Result<Response> {
        self.0.push(Given::Json(Json::written(failures(took))));
        let length: usize = self.0.iter().filter_map(Given::json).map(|json| json.as_str().len()).sum();
        let mut content = Vec::with_capacity(length + 256);
        let context = Context { values: &self.0, ..Context::of_request(request, names) };
        if !compose.graph.respond.write(&context, &mut content).map_err(|why| unable(&context, why))? {
            content.extend_from_slice(b"null");
        }
        let mut fields = HeaderMap::with_capacity(6);
        fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(vary) = &compose.vary {
            fields.insert(VARY, vary.clone());
        }
        match failed(took) {
            None => {
                fields.insert(COMPLETED, HeaderValue::from_static("true"));
                let tag = format!("\"{:032x}\"", XxHash3_128::oneshot(&content));
                fields.insert(ETAG, HeaderValue::try_from(tag).expect("quoted digits are a field value"));
            }
            Some(failed) => {
                fields.insert(COMPLETED, HeaderValue::from_static("false"));
                fields.insert(FAILED, failed);
                // Nobody is to go by a part for longer than it takes to ask again: neither a cache that obeys, nor one
                // whose policy overrules what answers say of themselves.
                fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
                fields.insert(VARY, HeaderValue::from_static("*"));
            }
        }
        if !request.method.is_safe() {
            // Neither ranges nor conditions mean anything for what has been done by now.
            fields.remove(ETAG);
            return Ok(Response { status: StatusCode::OK, fields, body: Body::Whole(content.into()) });
        }
        let mut response = response::from_stored(request, StatusCode::OK, fields, &content.into(), 0);
        response.fields.remove(AGE);
        Ok(response)
    }
}

/// `trends[0];error=source-timeout, cached[2];error=connect`: steps and why, in words that say nothing of where anything
/// is. `None`: none failed.
fn failed(took: &[Took]) -> Option<HeaderValue> {
    let mut list = String::new();
    for (took, why) in took.iter().filter_map(|took| Some((took, took.failure()?))).take(NAMED) {
        let comma = if list.is_empty() { "" } else { ", " };
        let _infallible = write!(list, "{comma}{};error={why}", took.name);
    }
    (!list.is_empty()).then(|| HeaderValue::try_from(list).expect("names of steps are ASCII"))
}

/// The same as JSON, for `${failed}`.
fn failures(took: &[Took]) -> String {
    let mut out = String::from("[");
    for (took, why) in took.iter().filter_map(|took| Some((took, took.failure()?))) {
        let comma = if out.len() > 1 { "," } else { "" };
        let _infallible = write!(out, "{comma}{{\"step\":\"{}\",\"error\":\"{why}\"}}", took.name);
    }
    out.push(']');
    out
}

/// `user;dur=1.2, tests.0;dur=3.4`: milliseconds of each step, in the order in which they ended (Server Timing §2).
pub fn server_timing(took: &[Took]) -> HeaderValue {
    let mut list = String::with_capacity(24 * took.len());
    for took in took.iter().filter(|took| !took.is_inside()).take(NAMED) {
        if !list.is_empty() {
            list.push_str(", ");
        }
        // Brackets are no part of a token.
        list.extend(took.name.chars().filter(|c| *c != ']').map(|c| if c == '[' { '.' } else { c }));
        let millis = took.took.as_micros() as f64 / 1000.0;
        let _infallible = write!(list, ";dur={millis:.2}");
    }
    HeaderValue::try_from(list).unwrap_or(HeaderValue::from_static("steps"))
}
