//! Invalidate: what a write makes out of date (RFC 9111 §4.4).

use http::header::{CONTENT_LOCATION, HeaderMap, LOCATION};
use http::{Method, StatusCode};
use message::RequestView;

use crate::authority;

/// Whether the method only reads (RFC 9110 §9.2.1). Those whose safety nobody knows are taken to write.
pub fn is_safe(method: &Method) -> bool {
    matches!(
        method.as_str(),
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PROPFIND" | "REPORT" | "SEARCH" | "QUERY"
    )
}

/// Whether a write that was answered so has succeeded, so that it puts something out of date.
pub fn has_succeeded(status: StatusCode) -> bool {
    status.is_success() || status.is_redirection()
}

/// The targets (path and query, as they stand in a request) whose stored answers are out of date after this exchange:
/// the request's own, and those of `Location` and `Content-Location` where they have the same origin. Others could
/// be used to clear somebody else's entries. Empty for safe methods and for errors.
pub fn invalidated(request: &RequestView<'_>, status: StatusCode, response: &HeaderMap) -> Vec<Box<str>> {
    if is_safe(request.method) || !has_succeeded(status) {
        return Vec::new();
    }
    let mut targets = vec![Box::from(request.target)];
    for name in [LOCATION, CONTENT_LOCATION] {
        let reference = response.get(name).and_then(|line| std::str::from_utf8(line.as_bytes()).ok());
        if let Some(target) = reference.and_then(|reference| resolve(request, reference))
            && !targets.contains(&target)
        {
            targets.push(target);
        }
    }
    targets
}

/// The target a URI reference means (RFC 3986 §5.2), if it has the request's origin.
fn resolve(request: &RequestView<'_>, reference: &str) -> Option<Box<str>> {
    let reference = reference.trim_matches([' ', '\t']);
    let reference = reference.split_once('#').map_or(reference, |(before, _)| before);
    let after_scheme = match split_scheme(reference) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case(request.scheme.as_str()) => {
            rest.strip_prefix("//").map(Some)?
        }
        Some(_) => return None,
        None => reference.strip_prefix("//"),
    };
    let Some(absolute) = after_scheme else {
        return Some(resolve_path(request, reference));
    };
    let end = absolute.find(['/', '?']).unwrap_or(absolute.len());
    let (written, target) = absolute.split_at(end);
    authority::is_same(request.scheme, written, request.authority).then(|| match target.as_bytes() {
        [b'/', ..] => without_dots(target),
        _ => format!("/{target}").into(),
    })
}

fn resolve_path(request: &RequestView<'_>, reference: &str) -> Box<str> {
    match reference.as_bytes() {
        [] => request.target.into(),
        [b'/', ..] => without_dots(reference),
        [b'?', ..] => format!("{}{reference}", request.path()).into(),
        _ => {
            let folder = request.path().rfind('/').map_or("/", |slash| &request.path()[..=slash]);
            without_dots(&format!("{folder}{reference}"))
        }
    }
}

/// A scheme and what follows its colon.
fn split_scheme(reference: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = reference.split_once(':')?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then_some((scheme, rest))
}

/// The target with `.` and `..` segments of its path worked off (RFC 3986 §5.2.4); the query stays as it is.
fn without_dots(target: &str) -> Box<str> {
    let (path, query) = target.split_at(target.find('?').unwrap_or(target.len()));
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            other => kept.push(other),
        }
    }
    format!("/{}{query}", kept.join("/")).into()
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};
    use message::{Fields, Scheme};

    use super::*;

    fn after(method: &Method, status: u16, lines: &[(HeaderName, &str)]) -> Vec<String> {
        let mut response = HeaderMap::new();
        for (name, value) in lines {
            response.append(name, HeaderValue::from_str(value).unwrap());
        }
        let request = RequestView {
            method,
            scheme: Scheme::Https,
            authority: "a.example",
            target: "/users/7?x=1",
            fields: Fields::Wire(&[]),
            client: None,
        };
        let status = StatusCode::from_u16(status).unwrap();
        invalidated(&request, status, &response).into_iter().map(String::from).collect()
    }

    #[test]
    fn rfc9111_4_4_the_target_must_be_invalidated_by_a_write_that_worked() {
        let unknown = Method::from_bytes(b"FROB").unwrap();
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH, unknown] {
            for status in [200, 201, 204, 299, 302, 303] {
                assert_eq!(after(&method, status, &[]), ["/users/7?x=1"], "{method} {status}");
            }
            for status in [400, 404, 412, 500, 599, 999] {
                assert!(after(&method, status, &[]).is_empty(), "{method} {status}");
            }
        }
    }

    #[test]
    fn rfc9110_9_2_1_safe_methods_invalidate_nothing() {
        for method in ["GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "SEARCH"] {
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            assert!(after(&method, 200, &[(LOCATION, "/x")]).is_empty(), "{method}");
        }
        assert_eq!(after(&Method::from_bytes(b"get").unwrap(), 200, &[]).len(), 1, "methods heed case");
    }

    #[test]
    fn rfc9111_4_4_location_and_content_location_of_the_same_origin() {
        for (reference, expected) in [
            ("/x", "/x"),
            ("/x?q=/../y#part", "/x?q=/../y"),
            ("https://a.example/x", "/x"),
            ("HTTPS://A.Example:443/x", "/x"),
            ("https://a.example./x", "/x"),
            ("https://a.example:/x", "/x"),
            ("https://a.example", "/"),
            ("https://a.example?q", "/?q"),
            ("//a.example/x", "/x"),
            ("8", "/users/8"),
            ("8/9?q", "/users/8/9?q"),
            ("./8", "/users/8"),
            ("../x", "/x"),
            ("../../../x", "/x"),
            ("/a/./b/../c/", "/a/c/"),
            ("/a/b/..", "/a/"),
            ("/a//b", "/a//b"),
            ("?y=2", "/users/7?y=2"),
            (" /x ", "/x"),
        ] {
            for name in [LOCATION, CONTENT_LOCATION] {
                let all = after(&Method::POST, 201, &[(name, reference)]);
                assert_eq!(all, ["/users/7?x=1", expected], "{reference}");
            }
        }
        let both = [(LOCATION, "/a"), (CONTENT_LOCATION, "/b")];
        assert_eq!(after(&Method::POST, 201, &both), ["/users/7?x=1", "/a", "/b"]);
        for same in ["", "#x", "/users/7?x=1", "7?x=1"] {
            assert_eq!(after(&Method::POST, 201, &[(LOCATION, same)]).len(), 1, "{same}");
        }
    }

    #[test]
    fn rfc9111_4_4_another_origin_must_not_be_invalidated() {
        for reference in [
            "http://a.example/x",
            "https://b.example/x",
            "//b.example/x",
            "https://a.example:8443/x",
            "https://user@a.example/x",
            "https://a.example:99999/x",
            "https://a.example@b.example/x",
            "https:/x",
            "https:x",
            "mailto:a@a.example",
            "https:///x",
        ] {
            assert_eq!(after(&Method::POST, 201, &[(LOCATION, reference)]).len(), 1, "{reference}");
        }
    }
}
