//! Cors: the layer that lets pages of other origins read responses (Fetch, §3.3). Preflights are answered before anybody is asked to
//! show anything, since browsers send them without credentials; every other response gets the fields for the origin that asks
//! now, whoever filled the cache, and errors get them too: without them a page sees no status.

use std::sync::Arc;

use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, HeaderName, HeaderValue, ORIGIN, VARY,
};
use http::{Method, StatusCode};
use message::{Ask, Error, FieldEdit, FieldPattern, Fields, RequestView, Response, Result};
use plan::CorsHeaders;

use crate::remedies::headers::remove_lines;
use crate::stack::around::{Arrival, Held};

/// What a source says of it is not what we say.
const THEIRS: &str = "access-control-";

/// See the module. One for each place and core.
#[derive(Clone, Debug)]
pub struct CorsLayer(pub Arc<plan::Cors>);

/// What is kept for the response while a call is under way.
pub(crate) struct HeldCors {
    cors: CorsLayer,
    origin: Option<HeaderValue>,
}

/// The method that a preflight asks for; `None`: it is none.
pub fn preflight(request: &RequestView<'_>) -> Option<Method> {
    if *request.method != Method::OPTIONS || !request.fields.has(&ORIGIN) {
        return None;
    }
    Method::from_bytes(request.fields.first(&ACCESS_CONTROL_REQUEST_METHOD)?).ok()
}

/// The origin that asks; `None`: none, or more than one is named, which no browser does, so that nobody knows which is meant.
pub(crate) fn origin(request: Fields<'_>) -> Option<&[u8]> {
    let mut lines = request.all(&ORIGIN);
    lines.next().filter(|_| lines.next().is_none())
}

impl CorsLayer {
    /// What a preflight hears.
    pub(crate) fn answer(&self, request: Fields<'_>) -> Response {
        let mut response = Response::new(StatusCode::NO_CONTENT);
        let fields = &mut response.fields;
        let asked = [ORIGIN, ACCESS_CONTROL_REQUEST_METHOD, ACCESS_CONTROL_REQUEST_HEADERS];
        for name in asked {
            fields.append(VARY, name.into());
        }
        let Some(origin) = self.allowed(origin(request)) else { return response };
        fields.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        fields.insert(ACCESS_CONTROL_ALLOW_METHODS, self.0.methods.clone());
        let headers = match &self.0.headers {
            CorsHeaders::Simple => None,
            CorsHeaders::Named(names) => Some(names.clone()),
            CorsHeaders::Asked => request
                .first(&ACCESS_CONTROL_REQUEST_HEADERS)
                .and_then(|asked| HeaderValue::from_bytes(asked).ok()),
        };
        let credentials = self.0.credentials.then(|| HeaderValue::from_static("true"));
        for (name, value) in [
            (ACCESS_CONTROL_ALLOW_HEADERS, headers),
            (ACCESS_CONTROL_ALLOW_CREDENTIALS, credentials),
            (ACCESS_CONTROL_MAX_AGE, self.0.max_age.clone()),
        ] {
            if let Some(value) = value {
                fields.insert(name, value);
            }
        }
        response
    }

    /// Answers a preflight, and keeps who asks for the response of everything else.
    pub(crate) fn arrive<Q: Ask>(&self, ask: &mut Q) -> Arrival<Q::Answer> {
        let Some(request) = ask.request_mut() else { return Arrival::Pass };
        if preflight(&request.view()).is_some() {
            let answer = self.answer(request.view().fields);
            return Q::answered(answer).map_or(Arrival::Pass, |answer| Arrival::End(Ok(answer)));
        }
        let origin = origin(request.view().fields).and_then(|origin| HeaderValue::from_bytes(origin).ok());
        Arrival::Hold(Held::Cors(Box::new(HeldCors { cors: self.clone(), origin })))
    }

    /// Changes the lines of a response that is at hand, from `start` on.
    pub(crate) fn edit_lines(&self, request: &RequestView<'_>, start: usize, out: &mut Vec<u8>) {
        remove_lines(start, out, |name| {
            name.get(..THEIRS.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(THEIRS.as_bytes()))
        });
        self.each(origin(request.fields), |name, value| {
            for piece in [name.as_str().as_bytes(), b": ", value, b"\r\n"] {
                out.extend_from_slice(piece);
            }
        });
    }

    /// What a response says to whoever asks; `dress` gets each field.
    fn each(&self, origin: Option<&[u8]>, mut dress: impl FnMut(HeaderName, &[u8])) {
        let cors = &*self.0;
        if !cors.is_for_all() {
            // Also to who may not read it, or has no origin: what they get is not for others.
            dress(VARY, b"Origin");
        }
        let Some(origin) = origin.filter(|origin| cors.allows(origin)) else { return };
        dress(ACCESS_CONTROL_ALLOW_ORIGIN, if cors.is_for_all() { b"*" } else { origin });
        if cors.credentials {
            dress(ACCESS_CONTROL_ALLOW_CREDENTIALS, b"true");
        }
        if let Some(names) = &cors.expose {
            dress(ACCESS_CONTROL_EXPOSE_HEADERS, names.as_bytes());
        }
    }

    /// The origin as the field says it, where it may read.
    fn allowed(&self, origin: Option<&[u8]>) -> Option<HeaderValue> {
        let origin = origin.filter(|origin| self.0.allows(origin))?;
        if self.0.is_for_all() {
            return Some(HeaderValue::from_static("*"));
        }
        HeaderValue::from_bytes(origin).ok()
    }

    fn edits(&self, origin: Option<&[u8]>) -> Vec<FieldEdit> {
        let mut edits = vec![FieldEdit::Remove(FieldPattern::Prefix(THEIRS.into()))];
        self.each(origin, |name, value| {
            edits.extend(HeaderValue::from_bytes(value).ok().map(|value| FieldEdit::Add(name, value)));
        });
        edits
    }

    /// Notes what the response of an error says.
    pub(crate) fn dress(&self, request: Fields<'_>, error: &mut Error) {
        error.edit(self.edits(origin(request)));
    }
}

impl HeldCors {
    /// Changes the response, or what will become one.
    pub(crate) fn end<Q: Ask>(self, outcome: &mut Result<Q::Answer>) {
        let edits = self.cors.edits(self.origin.as_ref().map(HeaderValue::as_bytes));
        match outcome {
            Ok(answer) => {
                if let Some(response) = Q::response_mut(answer) {
                    for edit in &edits {
                        edit.apply(&mut response.fields);
                    }
                }
            }
            Err(error) => error.edit(edits),
        }
    }
}
