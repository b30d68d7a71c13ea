//! Failure: the one place where an error becomes a status.
//!
//! In: a [`message::Error`]. Out: a small JSON answer that says what failed and on which side, without secrets.

use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use message::{Body, Error, Kind, Response, Side};

/// The status that tells the client what failed (RFC 9110 §15.5, §15.6).
pub fn status_of(kind: Kind) -> StatusCode {
    match kind {
        Kind::MalformedRequest => StatusCode::BAD_REQUEST,
        Kind::TargetTooLong => StatusCode::URI_TOO_LONG,
        Kind::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        Kind::ContentTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Kind::MethodNotAllowed | Kind::ReadOnly => StatusCode::METHOD_NOT_ALLOWED,
        Kind::Forbidden => StatusCode::FORBIDDEN,
        Kind::UnsupportedVersion => StatusCode::HTTP_VERSION_NOT_SUPPORTED,
        Kind::ClientTimeout | Kind::ClientGone => StatusCode::REQUEST_TIMEOUT,
        Kind::NoRoute => StatusCode::NOT_FOUND,
        Kind::Resolve | Kind::Connect | Kind::BrokeOff | Kind::MalformedResponse | Kind::UnusableReply => {
            StatusCode::BAD_GATEWAY
        }
        Kind::NoHealthyTarget | Kind::ReadUnavailable | Kind::Overloaded | Kind::Draining => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        Kind::ConnectTimeout | Kind::SourceTimeout | Kind::OnlyIfCached => StatusCode::GATEWAY_TIMEOUT,
        Kind::Loop => StatusCode::LOOP_DETECTED,
        Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The answer to a request that failed. Never stored by anyone.
///
/// The cause beneath the error (addresses, library messages) stays in the log; the client gets the sentence alone.
pub fn failure(error: &Error) -> Response {
    let mut response = told_so(status_of(error.kind()), error.kind().word(), error.side(), told(error));
    let fields = &mut response.fields;
    match error.kind() {
        Kind::Overloaded | Kind::Draining | Kind::NoHealthyTarget | Kind::ReadUnavailable => {
            fields.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        Kind::MethodNotAllowed => {
            let allowed = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
            fields.insert(ALLOW, allowed);
        }
        Kind::ReadOnly => drop(fields.insert(ALLOW, HeaderValue::from_static("GET, HEAD"))),
        _ => {}
    }
    response
}

/// The answer where a read finds nothing: no failure, but told like one. A 204 has no content; a 401 says how to do
/// better, as it must (RFC 9110 §11.6.1).
pub fn missing(status: StatusCode) -> Response {
    let mut response = told_so(status, "missing", Side::Source, "there is no value for this key");
    if status == StatusCode::UNAUTHORIZED {
        response.fields.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if status == StatusCode::NO_CONTENT {
        response.fields.remove(CONTENT_TYPE);
        response.body = Body::Empty;
    }
    response
}

fn told_so(status: StatusCode, word: &'static str, side: Side, detail: &str) -> Response {
    let mut response = Response::new(status);
    let fields = &mut response.fields;
    fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    fields.insert(HeaderName::from_static("x-fleetfoot-error"), HeaderValue::from_static(word));
    let side = match side {
        Side::Client => "client",
        Side::Source => "source",
        Side::Us => "fleetfoot",
    };
    let body = format!("{{\"error\":\"{word}\",\"side\":\"{side}\",\"detail\":\"{}\"}}\n", escaped(detail));
    response.body = Body::Whole(body.into());
    response
}

/// What the client is told. What failed behind us is told in general: details name addresses that are none of a
/// stranger's business. They are in the log.
fn told(error: &Error) -> &str {
    match error.kind() {
        Kind::Resolve => "the origin's hostname could not be resolved",
        Kind::Connect => "could not connect to the origin",
        Kind::ConnectTimeout => "connecting to the origin timed out",
        Kind::SourceTimeout => "the origin did not respond in time",
        Kind::BrokeOff => "the origin closed the connection before its response was complete",
        Kind::MalformedResponse => "the origin sent an invalid HTTP response",
        Kind::NoHealthyTarget => "no server of the origin is healthy",
        Kind::ReadUnavailable => "the data store behind this route is unavailable",
        Kind::UnusableReply => "a source of this route returned something unusable",
        Kind::Overloaded => "too many requests are waiting; try again later",
        _ => error.detail(),
    }
}

/// Details are our own sentences, but may quote a bad value: make them safe inside a JSON string.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                out.push('\\');
                out.push(character);
            }
            control if control.is_control() => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_side_and_is_never_stored() {
        let response = failure(&Error::new(Kind::NoRoute, "no \"route\"\n"));
        assert_eq!(response.status, StatusCode::NOT_FOUND);
        assert_eq!(response.fields[CACHE_CONTROL], "no-store");
        let Body::Whole(body) = response.body else { panic!("a failure has its body at hand") };
        assert_eq!(
            body,
            "{\"error\":\"no-route\",\"side\":\"fleetfoot\",\"detail\":\"no \\\"route\\\"\u{fffd}\"}\n"
        );
    }

    #[test]
    fn where_the_origin_lives_is_not_told() {
        let response = failure(&Error::new(Kind::Connect, "http://10.0.0.7:3000: connection refused"));
        let Body::Whole(body) = response.body else { panic!("a failure has its body at hand") };
        assert!(!String::from_utf8_lossy(&body).contains("10.0.0.7"), "{body:?}");
    }
}
