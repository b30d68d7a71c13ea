//! Told: what a function is told of a request or a response, as JSON. In: the message. Out: the input of a module.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use json::{JsonKind, write_string};
use message::{RequestParts, RequestView, Response};
use plan::Keyed;
use rules::claim::reaches_source;
use rules::hop_by_hop::HopByHop;

use super::Unfit;

/// What is told of a request beside its response: as the source was asked.
pub(super) struct Asked {
    pub(super) method: Method,
    target: Box<str>,
}

impl Asked {
    pub(super) fn of(request: &RequestView<'_>) -> Self {
        Asked { method: request.method.clone(), target: request.target.into() }
    }
}

/// `{"method":…,"scheme":…,"authority":…,"client":…,"path":…,"query":…,"headers":{…}}`. Of the fields those that the source would get, so
/// none that a stranger only claims and none about the connection. Where what comes of the request is for many, all that differs
/// between them is left out or null; `keyed` says what does not.
pub(super) fn request(request: &RequestParts, keyed: Option<&Keyed>) -> Bytes {
    let RequestParts { fields, client, .. } = request;
    let mut out = Vec::with_capacity(1024);
    out.extend_from_slice(b"{\"method\":");
    write_string(request.method.as_str(), &mut out);
    out.extend_from_slice(b",\"scheme\":");
    let scheme = keyed.is_none_or(|keyed| keyed.scheme).then(|| request.scheme.as_str());
    write_string_or_null(scheme, &mut out);
    out.extend_from_slice(b",\"authority\":");
    let authority = keyed.is_none_or(|keyed| keyed.host).then_some(&*request.authority);
    write_string_or_null(authority, &mut out);
    out.extend_from_slice(b",\"client\":");
    let address = client.ip().filter(|_| keyed.is_none()).map(|address| address.to_string());
    write_string_or_null(address.as_deref(), &mut out);
    out.push(b',');
    write_target(&request.target, &mut out);
    out.extend_from_slice(b",\"headers\":");
    let hop_by_hop = HopByHop::of(fields);
    let is_told = |name: &HeaderName| {
        keyed.is_none_or(|keyed| keyed.fields.contains(name))
            && !hop_by_hop.has(name)
            && reaches_source(name.as_str(), client.trusted)
    };
    write_fields(fields, is_told, &mut out);
    out.push(b'}');
    out.into()
}

/// `{"status":…,"headers":{…},"request":{"method":…,"path":…,"query":…},"body":…}`. Objects and lists are told as they are, any other
/// content as text.
///
/// # Errors
/// The content is no text.
pub(super) fn response(response: &Response, asked: &Asked, content: Option<&Bytes>) -> Result<Bytes, Unfit> {
    let mut out = Vec::with_capacity(1024 + content.map_or(0, Bytes::len));
    out.extend_from_slice(b"{\"status\":");
    out.extend_from_slice(response.status.as_str().as_bytes());
    out.extend_from_slice(b",\"headers\":");
    write_fields(&response.fields, |_| true, &mut out);
    out.extend_from_slice(b",\"request\":{\"method\":");
    write_string(asked.method.as_str(), &mut out);
    out.push(b',');
    write_target(&asked.target, &mut out);
    out.push(b'}');
    if let Some(content) = content {
        let text =
            std::str::from_utf8(content).map_err(|_| "takes content that is text, and this is none")?;
        out.extend_from_slice(b",\"body\":");
        match json::kind(text) {
            JsonKind::Map | JsonKind::List if json::is_valid(content) => out.extend_from_slice(content),
            _ => write_string(text, &mut out),
        }
    }
    out.push(b'}');
    Ok(out.into())
}

fn write_target(target: &str, out: &mut Vec<u8>) {
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    out.extend_from_slice(b"\"path\":");
    write_string(path, out);
    out.extend_from_slice(b",\"query\":");
    write_string_or_null(query, out);
}

fn write_string_or_null(text: Option<&str>, out: &mut Vec<u8>) {
    match text {
        Some(text) => write_string(text, out),
        None => out.extend_from_slice(b"null"),
    }
}

/// Names in lower case; of several lines a list.
fn write_fields(fields: &HeaderMap, is_told: impl Fn(&HeaderName) -> bool, out: &mut Vec<u8>) {
    out.push(b'{');
    let start = out.len();
    for name in fields.keys().filter(|name| is_told(name)) {
        if out.len() > start {
            out.push(b',');
        }
        write_string(name.as_str(), out);
        out.push(b':');
        let lines = || fields.get_all(name).iter();
        if lines().nth(1).is_none() {
            lines().for_each(|only| write_value(only, out));
            continue;
        }
        for (at, line) in lines().enumerate() {
            out.push(if at == 0 { b'[' } else { b',' });
            write_value(line, out);
        }
        out.push(b']');
    }
    out.push(b'}');
}

/// Bytes that are no UTF-8 become U+FFFD.
fn write_value(value: &HeaderValue, out: &mut Vec<u8>) {
    write_string(&String::from_utf8_lossy(value.as_bytes()), out);
}

#[cfg(test)]
mod tests {
    use http::header::{COOKIE, SET_COOKIE};
    use http::{StatusCode, Version};
    use message::{Client, Scheme};
    use serde_json::{Value, json};

    use super::*;

    fn parsed(told: &Bytes) -> Value {
        serde_json::from_slice(told).unwrap()
    }

    #[test]
    fn a_request_is_told_with_the_fields_that_may_be_seen() {
        let mut fields = HeaderMap::new();
        for (name, value) in
            [("x-a", &b"1"[..]), ("x-a", b"\"2\""), ("cookie", b"id=5EC4E7"), ("x-b", b"\xff")]
        {
            fields.append(HeaderName::from_static(name), HeaderValue::from_bytes(value).unwrap());
        }
        for (name, value) in [
            ("x-forwarded-for", "10.0.0.1"),
            ("x_real-ip", "10.0.0.1"),
            ("connection", "x-c"),
            ("x-c", "1"),
            ("te", "x"),
        ] {
            fields.append(name, HeaderValue::from_static(value));
        }
        let client =
            |trusted| Client { address: "203.0.113.7:1".parse().unwrap(), trusted, ..Client::NOBODY };
        let mut parts = RequestParts {
            method: Method::GET,
            scheme: Scheme::Https,
            authority: "a.example".into(),
            target: "/x/%2F?a=\"b\"".into(),
            version: Version::HTTP_11,
            fields,
            client: client(false),
        };
        let told = |parts: &RequestParts, keyed: Option<&Keyed>| parsed(&request(parts, keyed));
        let keyed = |fields: &[HeaderName], host, scheme| Keyed { fields: fields.to_vec(), host, scheme };
        let headers = json!({ "x-a": ["1", "\"2\""], "cookie": "id=5EC4E7", "x-b": "\u{fffd}" });
        let mut expected = json!({
            "method": "GET", "scheme": "https", "authority": "a.example", "client": "203.0.113.7", "path": "/x/%2F",
            "query": "a=\"b\"", "headers": headers
        });
        assert_eq!(told(&parts, None), expected);
        expected["client"] = json!(null);
        expected["headers"] = json!({ "cookie": "id=5EC4E7" });
        assert_eq!(told(&parts, Some(&keyed(&[COOKIE, SET_COOKIE], true, true))), expected);
        expected["headers"] = json!({});
        assert_eq!(told(&parts, Some(&keyed(&[], true, true))), expected);
        (expected["authority"], expected["scheme"]) = (json!(null), json!(null));
        assert_eq!(told(&parts, Some(&keyed(&[], false, false))), expected);
        parts.client = client(true);
        assert_eq!(
            told(&parts, None)["headers"]["x-forwarded-for"],
            json!("10.0.0.1"),
            "who is trusted says it"
        );
        parts.client = Client::NOBODY;
        assert_eq!(told(&parts, None)["client"], json!(null));
    }

    #[test]
    fn content_is_told_as_it_is_or_as_text() {
        let asked = Asked { method: Method::GET, target: "/x".into() };
        let told = |content: &'static [u8]| {
            let told = response(&Response::new(StatusCode::OK), &asked, Some(&Bytes::from_static(content)));
            told.map(|told| parsed(&told)["body"].clone())
        };
        assert_eq!(told(b" {\"a\":[1.50]}"), Ok(json!({ "a": [1.5] })));
        for text in ["{\"a\":", "\"a\"", "1", "null", "", "a\n\"b\"", "[1] [2]"] {
            assert_eq!(told(text.as_bytes()), Ok(json!(text)), "{text}");
        }
        assert!(told(b"[\"\xff\"]").is_err());
        let without = response(&Response::new(StatusCode::NOT_FOUND), &asked, None).unwrap();
        let request = json!({ "method": "GET", "path": "/x", "query": null });
        assert_eq!(parsed(&without), json!({ "status": 404, "headers": {}, "request": request }));
    }
}
