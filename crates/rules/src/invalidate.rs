//! Invalidate: what a write makes out of date (RFC 9111 §4.4).

use http::header::{CONTENT_LOCATION, HeaderMap, LOCATION};
use http::{Method, StatusCode};
use message::{RequestView, Scheme};

/// Whether the method only reads (RFC 9110 §9.2.1). Those whose safety nobody knows are taken to write.
pub fn is_safe(method: &Method) -> bool {
    matches!(
        method.as_str(),
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PROPFIND" | "REPORT" | "SEARCH" | "QUERY"
    )
}

/// The targets (path and query, as they stand in a request) whose stored answers are out of date after this exchange:
/// the request's own, and those of `Location` and `Content-Location` where they have the same origin. Others could
/// be used to clear somebody else's entries. Empty for safe methods and for errors.
pub fn invalidated(request: &RequestView<'_>, status: StatusCode, response: &HeaderMap) -> Vec<Box<str>> {
    if is_safe(request.method) || !(status.is_success() || status.is_redirection()) {
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
    let (authority, target) = absolute.split_at(end);
    is_same_authority(request.scheme, authority, request.authority).then(|| match target.as_bytes() {
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

/// Whether an authority as written is the normalised one; user information makes it another.
fn is_same_authority(scheme: Scheme, written: &str, normalised: &str) -> bool {
    split_port(written, scheme) == split_port(normalised, scheme)
}

fn split_port(authority: &str, scheme: Scheme) -> (String, Option<u16>) {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (authority, ""),
    };
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    (host, if port.is_empty() { Some(scheme.default_port()) } else { port.parse().ok() })
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
