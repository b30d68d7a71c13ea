//! Failure: the one place where an error becomes a status.
//!
//! In: a [`message::Error`] and the form in which the client wants to be told. Out: a small answer that says what failed
//! and on which side, without secrets. `docs/reference/errors.md` lists them all.

use std::time::Duration;

use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use message::{Body, Error, FLEETFOOT_ERROR, Fields, Kind, Response, Side};

/// The word where nothing failed, but there is nothing.
const MISSING: &str = "missing";
/// What the client reads then.
const NOTHING: &str = "nothing was found for this request";

/// How a client is told what failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One line of text, for people.
    Plain,
    /// `application/problem+json` (RFC 9457), for programs.
    Problem,
}

impl Form {
    /// As the request's `Accept` says.
    pub fn of(request: Fields<'_>) -> Form {
        if rules::accept::asks_for_json(request) { Form::Problem } else { Form::Plain }
    }

    fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Form::Plain => "text/plain; charset=utf-8",
            Form::Problem => "application/problem+json",
        })
    }
}

/// The status that tells the client what failed (RFC 9110 §15.5, §15.6).
pub fn status_of(kind: Kind) -> StatusCode {
    match kind {
        Kind::MalformedRequest => StatusCode::BAD_REQUEST,
        Kind::TargetTooLong => StatusCode::URI_TOO_LONG,
        Kind::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        Kind::ContentTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Kind::MethodNotAllowed | Kind::ReadOnly => StatusCode::METHOD_NOT_ALLOWED,
        Kind::Unauthorized => StatusCode::UNAUTHORIZED,
        Kind::Forbidden => StatusCode::FORBIDDEN,
        Kind::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Kind::UnsupportedVersion => StatusCode::HTTP_VERSION_NOT_SUPPORTED,
        Kind::ClientTimeout | Kind::ClientGone => StatusCode::REQUEST_TIMEOUT,
        Kind::NoRoute => StatusCode::NOT_FOUND,
        Kind::Resolve | Kind::Connect | Kind::BrokeOff | Kind::MalformedResponse | Kind::UnusableReply => {
            StatusCode::BAD_GATEWAY
        }
        Kind::NoHealthyTarget
        | Kind::BreakerOpen
        | Kind::ReadUnavailable
        | Kind::CredentialsUnavailable
        | Kind::KeysUnavailable
        | Kind::LimitUnavailable
        | Kind::Overloaded
        | Kind::Draining => StatusCode::SERVICE_UNAVAILABLE,
        Kind::ConnectTimeout | Kind::SourceTimeout | Kind::HookTimeout | Kind::OnlyIfCached => {
            StatusCode::GATEWAY_TIMEOUT
        }
        Kind::Loop => StatusCode::LOOP_DETECTED,
        Kind::HookFailed | Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The answer to a request that failed. Never stored by anyone.
///
/// The cause beneath the error (addresses, library messages) stays in the log; the client gets the sentence alone.
pub fn failure(error: &Error, form: Form) -> Response {
    let kind = error.kind();
    let told = sentence(kind).unwrap_or(error.detail());
    let mut response = told_so(status_of(kind), kind.word(), kind.side(), told, form);
    let fields = &mut response.fields;
    if let Some(wait) = error.retry_after() {
        fields.insert(RETRY_AFTER, whole_seconds(wait).into());
    } else if soon_over(kind) {
        fields.insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    for challenge in error.challenges() {
        fields.append(WWW_AUTHENTICATE, challenge.clone());
    }
    match kind {
        Kind::MethodNotAllowed => {
            let allowed = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
            fields.insert(ALLOW, allowed);
        }
        Kind::ReadOnly => drop(fields.insert(ALLOW, HeaderValue::from_static("GET, HEAD"))),
        _ => {}
    }
    error.edits().iter().for_each(|edit| edit.apply(fields));
    response
}

/// The answer where a read finds nothing: no failure, but told like one. A 204 has no content; a 401 says how to do
/// better, as it must (RFC 9110 §11.6.1).
pub fn missing(status: StatusCode, form: Form) -> Response {
    let mut response = told_so(status, MISSING, Side::Source, NOTHING, form);
    if status == StatusCode::UNAUTHORIZED {
        response.fields.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if status == StatusCode::NO_CONTENT {
        response.fields.remove(CONTENT_TYPE);
        response.body = Body::Empty;
    }
    response
}

/// Without `Vary`: it is not to be stored, and a policy that keeps it all the same keeps what whoever came first accepts.
fn told_so(status: StatusCode, word: &'static str, side: Side, detail: &str, form: Form) -> Response {
    let mut response = Response::new(status);
    let fields = &mut response.fields;
    fields.insert(CONTENT_TYPE, form.content_type());
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    fields.insert(FLEETFOOT_ERROR, HeaderValue::from_static(word));
    let mut body = String::with_capacity(256);
    match form {
        Form::Plain => body.extend(detail.chars().map(printable)),
        Form::Problem => {
            body.push_str("{\"type\":\"about:blank\"");
            // `about:blank` says that the title is that of the status; one that nobody registered has none.
            if let Some(title) = status.canonical_reason() {
                body.push_str(",\"title\":\"");
                body.push_str(title);
                body.push('"');
            }
            body.push_str(",\"status\":");
            body.push_str(status.as_str());
            body.push_str(",\"detail\":\"");
            for character in detail.chars() {
                if matches!(character, '"' | '\\') {
                    body.push('\\');
                }
                body.push(printable(character));
            }
            for part in ["\",\"error\":\"", word, "\",\"side\":\"", side.word(), "\"}"] {
                body.push_str(part);
            }
        }
    }
    body.push('\n');
    response.body = Body::Whole(body.into());
    response
}

/// What may be over in a moment, although nobody knows when.
fn soon_over(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Overloaded
            | Kind::Draining
            | Kind::NoHealthyTarget
            | Kind::ReadUnavailable
            | Kind::CredentialsUnavailable
            | Kind::KeysUnavailable
            | Kind::LimitUnavailable
    )
}

/// `Retry-After` counts in whole seconds (RFC 9110 §10.2.3). Rounded up: whoever comes back too early is refused again.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1)
}

/// What the client is told; `None`: what the error says, which is about the request. What failed behind us, or in us, is
/// told in general: details name addresses and files that are none of a stranger's business. They are in the log.
fn sentence(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::Resolve => "the origin's hostname could not be resolved",
        Kind::Connect => "could not connect to the origin",
        Kind::ConnectTimeout => "connecting to the origin timed out",
        Kind::SourceTimeout => "the origin did not respond in time",
        Kind::BrokeOff => "the origin closed the connection before its response was complete",
        Kind::MalformedResponse => "the origin sent an invalid HTTP response",
        Kind::NoHealthyTarget => "no healthy server of the origin is available",
        Kind::BreakerOpen => "the source behind this route keeps failing; try again later",
        Kind::ReadUnavailable => "the data store behind this route is unavailable",
        Kind::CredentialsUnavailable => "the credentials for the origin are unavailable",
        Kind::KeysUnavailable => "the keys that tokens are checked with are unavailable; try again later",
        Kind::UnusableReply => "a source behind this route returned data that could not be used",
        Kind::Loop => "the request keeps coming back here: servers forward it in a loop",
        Kind::RateLimited => "too many requests; try again later",
        Kind::LimitUnavailable => "the limit on this route cannot be counted now; try again later",
        Kind::Overloaded => "too many requests at once; try again later",
        Kind::HookFailed => "a function that this route calls failed",
        Kind::HookTimeout => "a function that this route calls was not done in time",
        Kind::Draining => "this server is shutting down; try again",
        Kind::Internal => "something went wrong inside fleetfoot",
        Kind::MalformedRequest
        | Kind::TargetTooLong
        | Kind::HeadTooLarge
        | Kind::ContentTooLarge
        | Kind::MethodNotAllowed
        | Kind::ReadOnly
        | Kind::Unauthorized
        | Kind::Forbidden
        | Kind::UnsupportedVersion
        | Kind::ClientTimeout
        | Kind::ClientGone
        | Kind::OnlyIfCached
        | Kind::NoRoute => return None,
    })
}

/// Details are our own sentences, but may quote a bad value: a line is to stay one.
fn printable(character: char) -> char {
    if character.is_control() { char::REPLACEMENT_CHARACTER } else { character }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use http::header::ACCEPT;

    use super::*;

    const PAGE: &str = include_str!("../../../docs/reference/errors.md");

    fn text(response: Response) -> String {
        let Body::Whole(body) = response.body else { panic!("a failure has its body at hand") };
        String::from_utf8(body.to_vec()).unwrap()
    }

    #[test]
    fn people_read_a_line_and_programs_a_problem() {
        let error = Error::new(Kind::SourceTimeout, "http://10.0.0.7:3000: no response within 1s");
        let plain = failure(&error, Form::Plain);
        assert_eq!(plain.status, StatusCode::GATEWAY_TIMEOUT);
        assert_eq!(plain.fields[CACHE_CONTROL], "no-store");
        assert_eq!(plain.fields["fleetfoot-error"], "source-timeout");
        assert_eq!(plain.fields[CONTENT_TYPE], "text/plain; charset=utf-8");
        assert_eq!(text(plain), "the origin did not respond in time\n");
        let problem = failure(&error, Form::Problem);
        assert_eq!(problem.status, StatusCode::GATEWAY_TIMEOUT);
        assert_eq!(problem.fields[CACHE_CONTROL], "no-store");
        assert_eq!(problem.fields["fleetfoot-error"], "source-timeout");
        assert_eq!(problem.fields[CONTENT_TYPE], "application/problem+json");
        assert_eq!(
            text(problem),
            "{\"type\":\"about:blank\",\"title\":\"Gateway Timeout\",\"status\":504,\
             \"detail\":\"the origin did not respond in time\",\"error\":\"source-timeout\",\"side\":\"source\"}\n"
        );
    }

    #[test]
    fn a_bad_value_breaks_neither_line_nor_problem() {
        let error = Error::new(Kind::NoRoute, "no \"route\\\"\r\n");
        assert_eq!(text(failure(&error, Form::Plain)), "no \"route\\\"\u{fffd}\u{fffd}\n");
        let problem = text(failure(&error, Form::Problem));
        assert!(problem.contains(r#""detail":"no \"route\\\"��","error""#), "{problem}");
    }

    #[test]
    fn what_is_behind_us_and_within_us_is_not_told() {
        for kind in [Kind::Connect, Kind::Internal, Kind::Loop, Kind::Overloaded] {
            for form in [Form::Plain, Form::Problem] {
                let told = text(failure(&Error::new(kind, "10.0.0.7, /srv/module.wasm"), form));
                assert!(!told.contains("10.0.0.7") && !told.contains("module.wasm"), "{told}");
            }
        }
    }

    #[test]
    fn retry_after_is_in_whole_seconds_and_never_too_early() {
        let told = |error: Error| {
            let fields = failure(&error, Form::Plain).fields;
            fields.get(RETRY_AFTER).map(|value| value.to_str().unwrap().to_owned())
        };
        let limited = |millis| told(Error::new(Kind::RateLimited, "").after(Duration::from_millis(millis)));
        for (millis, seconds) in [(0, "1"), (1, "1"), (1000, "1"), (1001, "2"), (59_000, "59")] {
            assert_eq!(limited(millis).as_deref(), Some(seconds), "{millis}");
        }
        let longest = Error::new(Kind::RateLimited, "").after(Duration::MAX);
        assert_eq!(told(longest), Some(u64::MAX.to_string()));
        assert_eq!(told(Error::new(Kind::RateLimited, "")), None, "nobody knows");
        assert_eq!(told(Error::new(Kind::Overloaded, "")).as_deref(), Some("1"));
        let known = Error::new(Kind::Overloaded, "").after(Duration::from_secs(5));
        assert_eq!(told(known).as_deref(), Some("5"), "who knows better is believed");
        assert_eq!(told(Error::new(Kind::Internal, "")), None);
    }

    #[test]
    fn who_is_not_let_in_is_told_how_to_do_better() {
        let bearer = HeaderValue::from_static("Bearer realm=\"p\", error=\"invalid_token\"");
        let api_key = HeaderValue::from_static("ApiKey realm=\"p\"");
        let error = Error::new(Kind::Unauthorized, "the token has expired")
            .challenging(bearer.clone())
            .challenging(api_key.clone());
        let refused = failure(&error, Form::Plain);
        assert_eq!(
            (refused.status, refused.fields[CACHE_CONTROL].as_bytes()),
            (StatusCode::UNAUTHORIZED, &b"no-store"[..])
        );
        let told: Vec<_> = refused.fields.get_all(WWW_AUTHENTICATE).iter().collect();
        assert_eq!(told, [&bearer, &api_key]);
        assert_eq!(text(refused), "the token has expired\n");
    }

    #[test]
    fn where_there_is_nothing_it_is_told_alike() {
        let nothing = missing(StatusCode::NOT_FOUND, Form::Plain);
        assert_eq!(nothing.fields["fleetfoot-error"], "missing");
        assert_eq!(text(nothing), "nothing was found for this request\n");
        let unauthorized = missing(StatusCode::UNAUTHORIZED, Form::Problem);
        assert_eq!(unauthorized.fields[WWW_AUTHENTICATE], "Bearer");
        assert!(text(unauthorized).contains("\"title\":\"Unauthorized\",\"status\":401,"));
        let own = missing(StatusCode::from_u16(499).unwrap(), Form::Problem);
        assert!(text(own).starts_with("{\"type\":\"about:blank\",\"status\":499,"));
        let empty = missing(StatusCode::NO_CONTENT, Form::Problem);
        assert!(matches!(empty.body, Body::Empty) && !empty.fields.contains_key(CONTENT_TYPE));
    }

    #[test]
    fn the_form_is_the_one_that_is_accepted() {
        let of = |accept: &'static str| {
            let fields = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
            Form::of(Fields::Map(&fields))
        };
        assert_eq!(of("application/json, text/plain, */*"), Form::Problem);
        assert_eq!(of("*/*"), Form::Plain);
        assert_eq!(Form::of(Fields::Map(&HeaderMap::new())), Form::Plain);
    }

    /// A row of the page's table: word, status, side, sentence, `Retry-After`, what to do.
    fn rows() -> Vec<Vec<&'static str>> {
        let cells = |line: &'static str| line.trim_matches('|').split('|').map(str::trim).collect();
        PAGE.lines().filter(|line| line.starts_with("| `")).map(cells).collect()
    }

    #[test]
    fn the_page_on_errors_has_a_row_for_each_kind_as_it_is_told() {
        let words = Kind::ALL.map(Kind::word).into_iter().chain([MISSING]).map(|word| format!("`{word}`"));
        let rows = rows();
        assert_eq!(rows.iter().map(|row| row[0].to_owned()).collect::<Vec<_>>(), words.collect::<Vec<_>>());
        for (kind, row) in Kind::ALL.into_iter().zip(&rows) {
            let [word, status, side, told, retry, remedy] = row[..] else { panic!("{row:?}") };
            assert_eq!(status, status_of(kind).as_str(), "{word}");
            assert_eq!(side, kind.side().word(), "{word}");
            match sentence(kind) {
                Some(sentence) => assert_eq!(told, sentence, "{word}"),
                None => assert!(told.starts_with("e.g. "), "{word}: it differs from request to request"),
            }
            let expected = if soon_over(kind) { "1" } else { "" };
            assert!(
                retry == expected
                    || matches!((kind, retry), (Kind::RateLimited | Kind::BreakerOpen, "if known")),
                "{word}"
            );
            assert!(!remedy.is_empty(), "{word}");
        }
        let [_, status, side, told, retry, _] = rows[Kind::ALL.len()][..] else { panic!("{rows:?}") };
        assert_eq!((status, side, told, retry), ("404", Side::Source.word(), NOTHING, ""));
    }
}
