//! Stored: a stored answer as a response: at once as bytes, or as 200, 206, 304 or 416 by what the request asks.

use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, AGE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE,
    HeaderName, TRAILER,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use message::{Body, CacheStatus, RequestView, Response};
use rules::{PreconditionOutcome, Ranges};

use crate::multipart;
use crate::saying::Saying;

/// Appends the head of a fresh hit: the stored head, `Age`, and what the cache did. No allocation beyond `out`'s growth.
/// The empty line that ends the head is the listener's.
pub fn write_fresh_head(head: &[u8], age: u32, status: &CacheStatus, saying: Saying<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(head);
    out.extend_from_slice(b"age: ");
    out.extend_from_slice(itoa::Buffer::new().format(age).as_bytes());
    out.extend_from_slice(b"\r\n");
    saying.write(status, out);
}

/// A response from a stored answer, after the request's conditions (RFC 9110 §13) and ranges (§14).
pub fn from_stored(
    request: &RequestView<'_>,
    status: StatusCode,
    mut fields: HeaderMap,
    body: &Bytes,
    age: u32,
) -> Response {
    fields.insert(AGE, HeaderValue::from(age));
    let whole = Response { status, fields, body: body.clone().into() };
    let mut response = match rules::validate::evaluate(request.method, request.fields, status, &whole.fields)
    {
        PreconditionOutcome::Proceed => ranged(request, whole, body),
        PreconditionOutcome::NotModified => not_modified(whole),
        PreconditionOutcome::PreconditionFailed => Response::new(StatusCode::PRECONDITION_FAILED),
    };
    if request.method == Method::HEAD {
        response.fields.entry(CONTENT_LENGTH).or_insert_with(|| HeaderValue::from(body.len()));
        response.body = Body::Empty;
    }
    response
}

/// A response that is still arriving, after the request's conditions: the origin was asked without them.
pub fn conditional(request: &RequestView<'_>, response: Response) -> Response {
    match rules::validate::evaluate(request.method, request.fields, response.status, &response.fields) {
        PreconditionOutcome::NotModified => not_modified(response),
        PreconditionOutcome::Proceed | PreconditionOutcome::PreconditionFailed => response,
    }
}

/// A 304: the same fields but for those that describe content that is not sent. RFC 9110 §15.4.5 asks for some and
/// advises against other metadata of the representation; the rest (`Set-Cookie`, CORS, security policies, what caches
/// before us did) is about the exchange, and clients go by it.
fn not_modified(whole: Response) -> Response {
    let Response { mut fields, .. } = whole;
    for name in [
        ACCEPT_RANGES,
        CONTENT_ENCODING,
        CONTENT_LANGUAGE,
        CONTENT_LENGTH,
        CONTENT_RANGE,
        CONTENT_TYPE,
        TRAILER,
        HeaderName::from_static("content-digest"),
        HeaderName::from_static("repr-digest"),
    ] {
        fields.remove(name);
    }
    Response { status: StatusCode::NOT_MODIFIED, fields, body: Body::Empty }
}

/// The parts asked for, where there is a `Range` that applies: only GET, only 200 (RFC 9110 §14.2).
fn ranged(request: &RequestView<'_>, whole: Response, body: &Bytes) -> Response {
    if request.method != Method::GET || whole.status != StatusCode::OK {
        return whole;
    }
    if !rules::range::if_range(request.fields, &whole.fields) {
        return whole;
    }
    match rules::range::ranges(request.fields, body.len() as u64) {
        Ranges::Ignore => whole,
        Ranges::Unsatisfiable => {
            let mut response = Response::new(StatusCode::RANGE_NOT_SATISFIABLE);
            response.fields.insert(CONTENT_RANGE, text(format!("bytes */{}", body.len())));
            response.fields.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
            response
        }
        Ranges::Of(ranges) => partial(whole, body, &ranges),
    }
}

fn partial(mut whole: Response, body: &Bytes, ranges: &[std::ops::Range<u64>]) -> Response {
    whole.status = StatusCode::PARTIAL_CONTENT;
    whole.fields.remove(CONTENT_LENGTH);
    whole.body = match ranges {
        [range] => {
            whole.fields.insert(CONTENT_RANGE, content_range(range, body.len()));
            body.slice(range.start as usize..range.end as usize).into()
        }
        several => multipart::byteranges(&mut whole.fields, body, several),
    };
    whole
}

/// 206 from a stored part of a whole of `complete` bytes.
pub fn from_part(
    mut fields: HeaderMap,
    range: &std::ops::Range<u64>,
    complete: u64,
    bytes: Bytes,
    age: u32,
) -> Response {
    fields.remove(CONTENT_LENGTH);
    fields.insert(AGE, HeaderValue::from(age));
    fields.insert(CONTENT_RANGE, content_range(range, complete as usize));
    Response { status: StatusCode::PARTIAL_CONTENT, fields, body: bytes.into() }
}

/// `bytes 0-9/100`.
pub(crate) fn content_range(range: &std::ops::Range<u64>, length: usize) -> HeaderValue {
    text(format!("bytes {}-{}/{length}", range.start, range.end - 1))
}

fn text(text: String) -> HeaderValue {
    HeaderValue::try_from(text).expect("digits and ASCII words are a valid field value")
}

#[cfg(test)]
mod tests {
    use http::header::{IF_NONE_MATCH, SET_COOKIE};
    use message::{Fields, Scheme};
    use plan::StatusForm;

    use super::*;

    #[test]
    fn a_fresh_hit_is_its_head_its_age_and_what_the_cache_did() {
        let id = HeaderValue::from_static("KUL-5a71ba6a");
        for (form, expected) in [
            (StatusForm::Field, "cache-status: fleetfoot; hit; ttl=30\r\n"),
            (StatusForm::Word, "cache-status: hit\r\ncache-id: KUL-5a71ba6a\r\n"),
            (StatusForm::Off, ""),
        ] {
            let mut out = b"before".to_vec();
            let saying = Saying { form, id: &id };
            write_fresh_head(b"HTTP/1.1 200 OK\r\n", 7, &CacheStatus::hit(30), saying, &mut out);
            let head = String::from_utf8(out).unwrap();
            assert_eq!(head, format!("beforeHTTP/1.1 200 OK\r\nage: 7\r\n{expected}"));
        }
    }

    /// What a client of an encoded form has and asks for is that form.
    #[test]
    fn an_encoded_form_is_confirmed_and_cut_as_one_of_its_own() {
        let body = Bytes::from_static(b"encoded");
        let mut whole = HeaderMap::new();
        whole.insert("etag", HeaderValue::from_static("\"1\""));
        crate::negotiate(&mut whole);
        let encoded = crate::encoded_fields(&whole, rules::Encoding::Gzip);
        let answer = |lines: &[(&'static str, &'static str)]| {
            let asked: HeaderMap = lines
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
                .collect();
            let request = RequestView {
                method: &Method::GET,
                scheme: Scheme::Http,
                authority: "a.example",
                target: "/",
                fields: Fields::Map(&asked),
                client: None,
            };
            from_stored(&request, StatusCode::OK, encoded.clone(), &body, 0)
        };
        let confirmed = answer(&[("if-none-match", "\"1-gzip\"")]);
        assert_eq!(confirmed.status, StatusCode::NOT_MODIFIED);
        assert_eq!(confirmed.fields["vary"], "accept-encoding");
        assert!(!confirmed.fields.contains_key(CONTENT_ENCODING));
        assert_eq!(answer(&[("if-none-match", "\"1\"")]).status, StatusCode::OK);
        let with_other_tag = answer(&[("range", "bytes=0-1"), ("if-range", "\"1\"")]);
        assert_eq!(with_other_tag.status, StatusCode::OK);
    }

    #[test]
    fn a_304_says_all_but_what_describes_the_content() {
        let mut asked = HeaderMap::new();
        asked.insert(IF_NONE_MATCH, HeaderValue::from_static("\"1\""));
        let request = RequestView {
            method: &Method::GET,
            scheme: Scheme::Http,
            authority: "a.example",
            target: "/",
            fields: Fields::Map(&asked),
            client: None,
        };
        let mut whole = Response::new(StatusCode::OK);
        for (name, value) in [
            ("etag", "\"1\""),
            ("cache-control", "no-store"),
            ("set-cookie", "a=1"),
            ("set-cookie", "b=1"),
            ("access-control-allow-origin", "*"),
            ("content-type", "text/plain"),
            ("content-length", "5"),
        ] {
            whole.fields.append(name, HeaderValue::from_static(value));
        }
        whole.body = Bytes::from_static(b"hello").into();
        let response = conditional(&request, whole);
        assert_eq!((response.status, response.body.is_empty()), (StatusCode::NOT_MODIFIED, true));
        assert_eq!(response.fields.get_all(SET_COOKIE).iter().count(), 2);
        let mut names: Vec<_> = response.fields.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["access-control-allow-origin", "cache-control", "etag", "set-cookie"]);
    }
}
