//! Response: a `message::Response` → the head h2 sends, and the content that follows it.

use http::header::{
    CONNECTION, CONTENT_LENGTH, DATE, HeaderMap, HeaderName, HeaderValue, TE, TRANSFER_ENCODING, UPGRADE,
};
use http::{Method, StatusCode};
use message::{Body, Response};

use crate::date;

/// A response ready to be sent.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) head: http::Response<()>,
    pub(super) body: Body,
    /// What `Content-Length` promises; the content must keep it.
    pub(super) length: Option<u64>,
}

impl Outgoing {
    /// Takes out what HTTP/2 forbids (RFC 9113 §8.2.2) and content that may not be there, adds what is missing.
    pub(super) fn new(response: Response, method: &Method) -> Self {
        let Response { status, mut fields, body } = response;
        remove_connection_fields(&mut fields);
        fields.entry(DATE).or_insert_with(date::value);
        let has_content = *method != Method::HEAD && !is_without_content(status);
        let length = if status == StatusCode::NO_CONTENT {
            fields.remove(CONTENT_LENGTH);
            None
        } else {
            settle_length(&mut fields, &body, has_content)
        };
        let body = if has_content { body } else { Body::Empty };
        let mut head = http::Response::new(());
        *head.status_mut() = status;
        *head.headers_mut() = fields;
        Outgoing { head, body, length: length.filter(|_| has_content) }
    }
}

/// Statuses that end with their head (RFC 9110 §6.4.1).
fn is_without_content(status: StatusCode) -> bool {
    status.is_informational() || status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED
}

/// The fields of a connection, and those that `Connection` names. Without them before us only when nobody made a
/// mistake; with them h2 would refuse to send the head at all.
pub(super) fn remove_connection_fields(fields: &mut HeaderMap) {
    let named: Vec<HeaderName> = fields
        .get_all(CONNECTION)
        .iter()
        .flat_map(|value| value.as_bytes().split(|&byte| byte == b','))
        .filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok())
        .collect();
    for name in named {
        fields.remove(name);
    }
    for name in [CONNECTION, TRANSFER_ENCODING, UPGRADE, TE] {
        fields.remove(name);
    }
    for name in ["keep-alive", "proxy-connection"] {
        fields.remove(name);
    }
}

/// Makes `Content-Length` agree with content whose length is known, and returns it. What stands there for a body that
/// is not sent, or whose length only time will tell, stays.
fn settle_length(fields: &mut HeaderMap, body: &Body, has_content: bool) -> Option<u64> {
    match body.exact_length() {
        Some(length) if has_content || length > 0 => {
            fields.insert(CONTENT_LENGTH, HeaderValue::from(length));
            Some(length)
        }
        _ => {
            let declared = fields.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok();
            if declared.is_none() {
                fields.remove(CONTENT_LENGTH);
            }
            declared
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn response(status: u16, lines: &[(&'static str, &'static str)], body: Body) -> Response {
        let mut response = Response::new(StatusCode::from_u16(status).unwrap());
        for (name, value) in lines {
            response.fields.append(*name, HeaderValue::from_static(value));
        }
        response.body = body;
        response
    }

    fn whole() -> Body {
        Body::from(Bytes::from("hello"))
    }

    #[test]
    fn connection_fields_do_not_get_through() {
        let lines = [
            ("connection", "close, X-Secret"),
            ("x-secret", "1"),
            ("keep-alive", "timeout=5"),
            ("proxy-connection", "close"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("te", "gzip"),
            ("x-kept", "1"),
        ];
        let outgoing = Outgoing::new(response(200, &lines, whole()), &Method::GET);
        let mut names: Vec<_> = outgoing.head.headers().keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["content-length", "date", "x-kept"]);
    }

    #[test]
    fn a_date_of_the_origin_stays() {
        let origin = "Sun, 06 Nov 1994 08:49:37 GMT";
        let outgoing = Outgoing::new(response(200, &[("date", origin)], Body::Empty), &Method::GET);
        assert_eq!(outgoing.head.headers()["date"], origin);
    }

    #[test]
    fn lengths_agree_with_the_content() {
        let length = |status, lines: &[_], body, method: Method| {
            let outgoing = Outgoing::new(response(status, lines, body), &method);
            let field =
                outgoing.head.headers().get(CONTENT_LENGTH).map(|value| value.to_str().unwrap().to_owned());
            (field.unwrap_or_default(), outgoing.length, outgoing.body.is_empty())
        };
        let declared = [("content-length", "7")];
        let text = ToString::to_string;
        assert_eq!(length(200, &[], whole(), Method::GET), (text(&"5"), Some(5), false));
        assert_eq!(length(200, &declared, whole(), Method::GET), (text(&"5"), Some(5), false));
        assert_eq!(length(200, &[], Body::Empty, Method::GET), (text(&"0"), Some(0), true));
        assert_eq!(length(200, &declared, Body::Empty, Method::HEAD), (text(&"7"), None, true));
        assert_eq!(length(200, &[], whole(), Method::HEAD), (text(&"5"), None, true));
        assert_eq!(length(200, &[], Body::Empty, Method::HEAD), (String::new(), None, true));
        assert_eq!(length(304, &declared, Body::Empty, Method::GET), (text(&"7"), None, true));
        assert_eq!(length(304, &[], whole(), Method::GET), (text(&"5"), None, true));
        assert_eq!(length(204, &declared, whole(), Method::GET), (String::new(), None, true));
        let nonsense = [("content-length", "5, 5")];
        assert_eq!(length(200, &nonsense, Body::Empty, Method::HEAD), (String::new(), None, true));
    }
}
