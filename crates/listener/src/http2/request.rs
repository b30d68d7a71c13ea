//! Request: the head of an HTTP/2 request → a `message::Request`, or the error it is refused with.
//!
//! Behind us the request may go on as HTTP/1.1, so everything that could be read in two ways there is refused here.
//! What h2 refuses itself never comes this far and is answered with `RST_STREAM(PROTOCOL_ERROR)`: names with upper case
//! letters or bytes that are no token, CR, LF, NUL and other control bytes in values, connection-specific fields, `TE`
//! other than `trailers`, pseudo-header fields that are missing, unknown, repeated or late, `:path` that is absolute,
//! empty, or holds spaces or control bytes, `Content-Length` that disagrees with the content, extended CONNECT. What is
//! refused here is answered with 400 (or 413, 431): the rest.
//!
//! One thing passes: h2 cuts `:path` at a `#` before we see it. All that we key on, match and forward is what is left
//! of it, so there is still one reading only.

use h2::RecvStream;
use http::header::{CONTENT_LENGTH, COOKIE, EXPECT, HOST, HeaderMap, HeaderValue};
use http::request::Parts;
use http::{Method, Version};
use message::{Body, Error, Interim, Kind, Request, RequestParts, Result, Scheme};

use super::content::Content;
use super::stream::Progress;
use crate::connection::ConnectionContext;

/// Checks a head and makes the request of it.
pub(super) fn read<H>(
    head: Parts,
    content: RecvStream,
    connection: &ConnectionContext<H>,
    progress: &Progress,
) -> Result<Request> {
    let limits = &connection.limits;
    let mut fields = head.headers;
    if fields.len() > limits.header_count {
        return Err(Error::new(Kind::HeadTooLarge, "the request has more header fields than the limit"));
    }
    check_fields(&fields)?;
    let target = read_target(&head.method, &head.uri)?;
    let scheme = connection.scheme_of(message::Fields::Map(&fields));
    let authority = read_authority(&head.uri, &fields, scheme)?;
    let length = read_length(&fields)?;
    if length.is_some_and(|length| length > limits.body_size) {
        return Err(Error::new(Kind::ContentTooLarge, "the request's content is larger than the limit"));
    }
    fields.remove(HOST);
    join_cookies(&mut fields);
    let interim = Interim::default();
    let body = if content.is_end_stream() {
        Body::Empty
    } else {
        let expects =
            fields.get_all(EXPECT).iter().any(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"));
        let awaited = expects.then(|| interim.clone());
        Body::stream(Content::new(content, length, awaited, limits, progress.clone()))
    };
    let parts = RequestParts {
        method: head.method,
        scheme,
        authority,
        target,
        version: Version::HTTP_2,
        fields,
        client: connection.client,
    };
    Ok(Request { body, interim, ..Request::new(parts) })
}

fn malformed(detail: &'static str) -> Error {
    Error::new(Kind::MalformedRequest, detail)
}

/// What h2 lets through.
fn check_fields(fields: &HeaderMap) -> Result<()> {
    for (name, value) in fields {
        // RFC 9113 §8.2.1
        let value = value.as_bytes();
        let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
        if blank(value.first()) || blank(value.last()) {
            return Err(malformed("a field value begins or ends with white space"));
        }
        // an origin behind CGI reads `_` as `-`
        if matches!(name.as_str(), "content_length" | "transfer_encoding") {
            return Err(malformed("a field name imitates Content-Length or Transfer-Encoding"));
        }
    }
    Ok(())
}

/// Path and query as sent.
fn read_target(method: &Method, uri: &http::Uri) -> Result<Box<str>> {
    if *method == Method::CONNECT {
        return Err(malformed("CONNECT is for forward proxies"));
    }
    let target = uri.path_and_query().map(http::uri::PathAndQuery::as_str).unwrap_or_default();
    let has_form = target.starts_with('/') || (target == "*" && *method == Method::OPTIONS);
    if !has_form {
        return Err(malformed(":path does not begin with a slash"));
    }
    if !target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return Err(malformed(":path contains a byte that must be percent-encoded"));
    }
    Ok(target.into())
}

/// `:authority`, or `Host` where it is missing; normalised. Both must agree (RFC 9113 §8.3.1).
fn read_authority(uri: &http::Uri, fields: &HeaderMap, scheme: Scheme) -> Result<Box<str>> {
    let mut hosts = fields.get_all(HOST).iter().map(HeaderValue::as_bytes);
    let pseudo = uri.authority().map(|authority| authority.as_str().as_bytes());
    let authority = match (pseudo, hosts.next()) {
        (Some(authority), None) | (None, Some(authority)) => normalize(authority, scheme)?,
        (Some(authority), Some(host)) => {
            let authority = normalize(authority, scheme)?;
            if authority != normalize(host, scheme)? {
                return Err(malformed("Host differs from :authority"));
            }
            authority
        }
        (None, None) => return Err(malformed(":authority and Host are missing")),
    };
    if hosts.next().is_some() {
        return Err(malformed("Host is given twice"));
    }
    Ok(authority)
}

fn normalize(authority: &[u8], scheme: Scheme) -> Result<Box<str>> {
    std::str::from_utf8(authority)
        .ok()
        .filter(|authority| ::http1::is_authority(authority.as_bytes()))
        .map(|authority| ::http1::normalize_authority(authority, scheme).into())
        .ok_or_else(|| malformed(":authority or Host is not a host and port"))
}

/// The declared length. h2 has compared it with the content, but takes it empty, with leading zeros and repeated.
fn read_length(fields: &HeaderMap) -> Result<Option<u64>> {
    let mut values = fields.get_all(CONTENT_LENGTH).iter().map(HeaderValue::as_bytes);
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(malformed("Content-Length is given twice"));
    }
    let plain = value == b"0" || (value.iter().all(u8::is_ascii_digit) && !value.starts_with(b"0"));
    let length = std::str::from_utf8(value).ok().filter(|_| plain).and_then(|value| value.parse().ok());
    length.map(Some).ok_or_else(|| malformed("Content-Length is not a plain decimal number"))
}

/// HTTP/2 clients may send each cookie in a field of its own; everywhere else there is one (RFC 9113 §8.2.3).
fn join_cookies(fields: &mut HeaderMap) {
    if fields.get_all(COOKIE).iter().nth(1).is_none() {
        return;
    }
    let crumbs: Vec<&[u8]> = fields.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    let joined = HeaderValue::from_bytes(&crumbs.join(&b"; "[..]))
        .expect("valid values joined by a semicolon and a space are a valid value");
    fields.insert(COOKIE, joined);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(lines: &[(&'static str, &'static str)]) -> HeaderMap {
        lines
            .iter()
            .map(|(name, value)| (http::HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn white_space_at_the_ends_of_values_is_refused() {
        for value in [" a", "a ", "\ta", "a\t", " "] {
            assert!(check_fields(&map(&[("x", value)])).is_err(), "{value:?}");
        }
        check_fields(&map(&[("x", ""), ("y", "a b\tc")])).unwrap();
    }

    #[test]
    fn imitated_framing_fields_are_refused() {
        check_fields(&map(&[("content_length", "5")])).unwrap_err();
        check_fields(&map(&[("transfer_encoding", "chunked")])).unwrap_err();
    }

    #[test]
    fn targets_are_paths() {
        let read = |method: Method, uri: &str| read_target(&method, &uri.parse().unwrap());
        assert_eq!(&*read(Method::GET, "http://a/b/../%2e?c=d&&e").unwrap(), "/b/../%2e?c=d&&e");
        assert_eq!(&*read(Method::OPTIONS, "*").unwrap(), "*");
        for (method, uri) in [(Method::GET, "*"), (Method::CONNECT, "a:80"), (Method::GET, "http://a/\u{e9}")]
        {
            assert!(read(method, uri).is_err(), "{uri}");
        }
    }

    #[test]
    fn authority_and_host_must_agree() {
        let read = |uri: &'static str, hosts: &[&'static str]| {
            let lines: Vec<_> = hosts.iter().map(|host| ("host", *host)).collect();
            read_authority(&uri.parse().unwrap(), &map(&lines), Scheme::Https)
        };
        for (uri, hosts, authority) in [
            ("https://A.example./", &[][..], "a.example"),
            ("https://a.example:443/", &["A.example"], "a.example"),
            ("/", &["a.example:8443"], "a.example:8443"),
            ("https://[::1]:443/", &[], "[::1]"),
        ] {
            assert_eq!(&*read(uri, hosts).unwrap(), authority);
        }
        for (uri, hosts) in [
            ("https://a.example/", &["b.example"][..]),
            ("https://a.example/", &["a.example", "a.example"]),
            ("https://a.example/", &["a.example:80"]),
            ("https://user@a.example/", &[]),
            ("/", &["a.example/path"]),
            ("/", &["a, b"]),
            ("/", &[""]),
            ("/", &[]),
        ] {
            assert!(read(uri, hosts).is_err(), "{uri} {hosts:?}");
        }
    }

    #[test]
    fn lengths_are_plain_numbers_and_alone() {
        let read = |values: &[&'static str]| {
            let lines: Vec<_> = values.iter().map(|value| ("content-length", *value)).collect();
            read_length(&map(&lines))
        };
        assert_eq!(read(&[]).unwrap(), None);
        assert_eq!(read(&["0"]).unwrap(), Some(0));
        assert_eq!(read(&["18446744073709551615"]).unwrap(), Some(u64::MAX));
        for values in [&[""][..], &["05"], &["+5"], &["5,5"], &["5", "5"], &["18446744073709551616"], &["5 "]]
        {
            assert!(read(values).is_err(), "{values:?}");
        }
    }

    #[test]
    fn cookies_are_joined() {
        let mut fields = map(&[("cookie", "a=1"), ("cookie", "b=2"), ("x", "y")]);
        join_cookies(&mut fields);
        assert_eq!(fields.get_all(COOKIE).iter().collect::<Vec<_>>(), ["a=1; b=2"]);
        assert_eq!(fields.len(), 2);
    }
}
