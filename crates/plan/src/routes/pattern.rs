//! Pattern: `GET example.com/users/{id}/orders` → [`Pattern`]. In comes what stands behind `match`, out goes what the
//! router compares with, or the reason it can never match. Called for every route.

use std::collections::HashSet;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use http::Method;

use crate::meant::{Pattern, Segment};
use crate::source::url;
use crate::yaml::fault::{Reason, quoted};
use expression::nearest;

/// Segments in a pattern; the router goes down one step for each.
const MOST_SEGMENTS: usize = 64;

/// Methods that are registered and may be meant by a slip of the finger.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY"];

impl FromStr for Pattern {
    type Err = Reason;

    fn from_str(text: &str) -> Result<Self, Reason> {
        let (method, rest) = match text.split_once(' ') {
            Some((method, rest)) => (Some(self::method(method)?), rest),
            None => (None, text),
        };
        if rest.starts_with(' ') {
            return Err(Reason::new(
                format!("{} has more than one space", quoted(text)),
                "write one space between method and path",
            ));
        }
        let Some(slash) = rest.find('/') else {
            let like = match rest {
                "" => "/**".to_owned(),
                method if METHODS.contains(&method) => format!("{method} /**"),
                // A single word is rather a path without its slash than a host.
                word if !word.contains(['.', ':', '*']) && word != "localhost" => format!("/{word}"),
                host => format!("{}/**", host.trim_end_matches('*')),
            };
            return Err(Reason::new(
                format!("{} has no path", quoted(text)),
                format!("write a slash and what follows it, like {}", quoted(&like)),
            ));
        };
        let (host, path) = rest.split_at(slash);
        let host = if host.is_empty() { None } else { Some(self::host(host)?) };
        let path = segments(path)?;
        Ok(Pattern { method, host, path, text: text.to_owned() })
    }
}

impl Pattern {
    /// What it matches, written in one way only: `{id}` and `*` are the same, and so are `EXAMPLE.com` and `example.com`.
    /// Two routes of one file must not share it.
    pub(crate) fn canonical(&self) -> String {
        let mut canonical = String::new();
        if let Some(method) = &self.method {
            canonical.extend([method.as_str(), " "]);
        }
        canonical.extend(self.host.as_deref());
        for segment in &self.path {
            canonical.push('/');
            canonical.push_str(match segment {
                Segment::Literal(literal) => literal,
                Segment::One(_) => "*",
                Segment::Rest => "**",
            });
        }
        canonical
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Reads a method: a token in upper case, not obviously misspelt.
fn method(word: &str) -> Result<Method, Reason> {
    let wrong = |cause: &str, remedy: String| Err(Reason::new(format!("{} {cause}", quoted(word)), remedy));
    if word.is_empty() {
        return wrong(
            "is not a method",
            "write one space between method and path, and none before".to_owned(),
        );
    }
    let upper = word.to_ascii_uppercase();
    if upper != word && METHODS.contains(&upper.as_str()) {
        return wrong("is not in upper case", format!("write `{upper}`: methods are case-sensitive"));
    }
    if word == "CONNECT" {
        return wrong(
            "has no path to match",
            "take the route out: CONNECT is for forward proxies".to_owned(),
        );
    }
    if !METHODS.contains(&word)
        && word.len() > 2
        && let Some(meant) = nearest(word, METHODS)
    {
        return wrong("is not a method", format!("write `{meant}`"));
    }
    if !word.bytes().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_')) || word.len() > 32 {
        return wrong(
            "is not a method",
            "write a method in upper case, like `GET`, then one space".to_owned(),
        );
    }
    match Method::from_bytes(word.as_bytes()) {
        Ok(method) => Ok(method),
        Err(_) => wrong("is not a method", "write a method like `GET`".to_owned()),
    }
}

/// Reads a host: a name, an address, or `*.` and a name.
fn host(text: &str) -> Result<String, Reason> {
    let (wildcard, rest) = match text.strip_prefix("*.") {
        Some(rest) => ("*.", rest),
        None => ("", text),
    };
    if rest.contains('*') {
        return Err(Reason::new(
            format!("{} has its `*` in an odd place", quoted(text)),
            "write `*.` in front of a name, like `*.example.com`; leave the host out for any host",
        ));
    }
    let (host, port) = url::host_and_port(rest)?;
    if port.is_some() {
        return Err(Reason::new(
            format!("{} has a port", quoted(text)),
            "write the host alone: a pattern takes every port",
        ));
    }
    if !wildcard.is_empty() && host.parse::<IpAddr>().is_ok() {
        return Err(Reason::new(
            format!("{} can never match", quoted(text)),
            "write the address without `*.`",
        ));
    }
    Ok(if host.contains(':') { format!("[{host}]") } else { format!("{wildcard}{host}") })
}

/// Reads a path that begins with a slash.
fn segments(path: &str) -> Result<Vec<Segment>, Reason> {
    if let Some(mark) = path.find(['?', '#']) {
        return Err(Reason::new(
            format!("{} goes on behind the path", quoted(path)),
            format!("write {}: a pattern takes every query", quoted(&path[..mark])),
        ));
    }
    let parts: Vec<&str> = path[1..].split('/').collect();
    if parts.len() > MOST_SEGMENTS {
        return Err(Reason::new(
            format!("the path has {} segments", parts.len()),
            format!("write at most {MOST_SEGMENTS}, with `**` for the rest"),
        ));
    }
    let mut names = HashSet::new();
    let last = parts.len() - 1;
    parts
        .iter()
        .enumerate()
        .map(|(index, part)| match segment(part)? {
            Segment::Rest if index < last => Err(Reason::new(
                format!("{} has `**` before its end", quoted(path)),
                "write `**` as the last segment only, and `*` for one segment",
            )),
            Segment::One(Some(name)) if !names.insert(name.clone()) => Err(Reason::new(
                format!("{} has `{{{name}}}` twice", quoted(path)),
                "give each segment another name, or write `*`",
            )),
            segment => Ok(segment),
        })
        .collect()
}

/// Reads one segment.
fn segment(part: &str) -> Result<Segment, Reason> {
    match part {
        "**" => return Ok(Segment::Rest),
        "*" => return Ok(Segment::One(None)),
        _ => {}
    }
    if let Some(name) = part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
        let fits = (1..=64).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        return if fits {
            Ok(Segment::One(Some(name.to_owned())))
        } else {
            Err(Reason::new(
                format!("{} is not a name for a segment", quoted(part)),
                "write letters, digits and `_` between the braces, like `{id}`, or `*`",
            ))
        };
    }
    if part.contains(['*', '{', '}']) {
        return Err(Reason::new(
            format!("{} mixes a placeholder with text", quoted(part)),
            "let `*`, `**` or `{name}` fill a whole segment",
        ));
    }
    // As requests have it when they are compared: octets that need no encoding without one.
    let part = rules::path::normalized(part);
    literal(&part)?;
    Ok(Segment::Literal(part.into_owned()))
}

/// Refuses segments that no request can have: what RFC 3986 §3.3 does not allow, and what the router refuses to look
/// at because origins may read it otherwise (dot segments, encoded slashes, control characters). A literal
/// with one of those would be a route that never answers.
fn literal(part: &str) -> Result<(), Reason> {
    let wrong = |cause: &str, remedy: &str| Err(Reason::new(format!("{} {cause}", quoted(part)), remedy));
    let before_parameters = part.split(';').next().unwrap_or(part);
    if matches!(before_parameters, "." | "..") {
        return wrong(
            "is never matched",
            "write the path that is meant: requests with `.` or `..` are refused",
        );
    }
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next(), rest.next()].map(|b| b.and_then(|b| char::from(b).to_digit(16)));
                let [Some(high), Some(low)] = digits else {
                    return wrong(
                        "has a `%` without two hexadecimal digits",
                        "write `%25` for a percent sign",
                    );
                };
                if matches!(high * 16 + low, 0..=0x1f | 0x7f | 0x2f | 0x5c | 0xc0 | 0xc1) {
                    return wrong(
                        "contains an encoded slash, backslash or control character",
                        "write `*` for the segment: such paths are read differently by different servers",
                    );
                }
            }
            b'\\' => return wrong("is never matched", "write `/`: requests with a backslash are refused"),
            b'!' | b'$' | b'&'..=b'.' | b'0'..=b';' | b'=' | b'@'..=b'Z' | b'_' | b'a'..=b'z' | b'~' => {}
            _ => {
                return wrong(
                    "contains a character that does not stand in a path",
                    "write it percent-encoded, as clients send it: a space is `%20`",
                );
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Pattern {
        text.parse().unwrap_or_else(|reason| panic!("{text}: {reason}"))
    }

    fn literal(text: &str) -> Segment {
        Segment::Literal(text.to_owned())
    }

    #[test]
    fn reads_every_part() {
        let pattern = parse("GET *.Example.com/users/{id}/*/**");
        assert_eq!(pattern.method, Some(Method::GET));
        assert_eq!(pattern.host.as_deref(), Some("*.example.com"));
        assert_eq!(
            pattern.path,
            [literal("users"), Segment::One(Some("id".into())), Segment::One(None), Segment::Rest]
        );
        assert_eq!(pattern.to_string(), "GET *.Example.com/users/{id}/*/**");
    }

    #[test]
    fn empty_segments_count() {
        assert_eq!(parse("/").path, [literal("")]);
        assert_eq!(parse("/**").path, [Segment::Rest]);
        assert_eq!(parse("/a/").path, [literal("a"), literal("")]);
        assert_eq!(parse("/a//b").path, [literal("a"), literal(""), literal("b")]);
    }

    #[test]
    fn literals_have_the_form_of_requests() {
        assert_eq!(parse("/%6dembers/a%2e").path, [literal("members"), literal("a.")]);
        assert_eq!(parse("/caf%c3%a9").canonical(), parse("/caf%C3%A9").canonical());
    }

    #[test]
    fn hosts() {
        assert_eq!(parse("[::1]/x").host.as_deref(), Some("[::1]"));
        assert_eq!(parse("127.0.0.1/x").host.as_deref(), Some("127.0.0.1"));
        assert_eq!(parse("PURGE EXAMPLE.com./x").host.as_deref(), Some("example.com"));
    }

    #[test]
    fn canonical_joins_what_is_the_same() {
        assert_eq!(parse("GET A.com/{x}/**").canonical(), parse("GET a.com/*/**").canonical());
        for (one, other) in
            [("/a", "/a/"), ("/a", "GET /a"), ("/a", "a.com/a"), ("/*", "/**"), ("GET /a", "HEAD /a")]
        {
            assert_ne!(parse(one).canonical(), parse(other).canonical());
        }
    }

    #[test]
    fn explains_what_is_wrong() {
        for (text, cause, remedy) in [
            ("", "`` has no path", "write a slash and what follows it, like `/**`"),
            (
                "example.com",
                "`example.com` has no path",
                "write a slash and what follows it, like `example.com/**`",
            ),
            ("users", "`users` has no path", "write a slash and what follows it, like `/users`"),
            ("GET", "`GET` has no path", "write a slash and what follows it, like `GET /**`"),
            ("get /x", "`get` is not in upper case", "write `GET`: methods are case-sensitive"),
            ("GTE /x", "`GTE` is not a method", "write `GET`"),
            ("GET  /x", "`GET  /x` has more than one space", "write one space between method and path"),
            (" /x", "`` is not a method", "write one space between method and path, and none before"),
            (
                "CONNECT /x",
                "`CONNECT` has no path to match",
                "take the route out: CONNECT is for forward proxies",
            ),
            (
                "/**/x",
                "`/**/x` has `**` before its end",
                "write `**` as the last segment only, and `*` for one segment",
            ),
            ("/{a}/{a}", "`/{a}/{a}` has `{a}` twice", "give each segment another name, or write `*`"),
            (
                "/{}",
                "`{}` is not a name for a segment",
                "write letters, digits and `_` between the braces, like `{id}`, or `*`",
            ),
            ("/x*", "`x*` mixes a placeholder with text", "let `*`, `**` or `{name}` fill a whole segment"),
            (
                "/v{n}",
                "`v{n}` mixes a placeholder with text",
                "let `*`, `**` or `{name}` fill a whole segment",
            ),
            (
                "/a/../b",
                "`..` is never matched",
                "write the path that is meant: requests with `.` or `..` are refused",
            ),
            (
                "/a/..;x",
                "`..;x` is never matched",
                "write the path that is meant: requests with `.` or `..` are refused",
            ),
            ("/a\\b", "`a\\b` is never matched", "write `/`: requests with a backslash are refused"),
            ("/a%2", "`a%2` has a `%` without two hexadecimal digits", "write `%25` for a percent sign"),
            ("/a?b=c", "`/a?b=c` goes on behind the path", "write `/a`: a pattern takes every query"),
            ("a.com:80/", "`a.com:80` has a port", "write the host alone: a pattern takes every port"),
            (
                "*/x",
                "`*` has its `*` in an odd place",
                "write `*.` in front of a name, like `*.example.com`; leave the host out for any host",
            ),
            (
                "a.*.com/x",
                "`a.*.com` has its `*` in an odd place",
                "write `*.` in front of a name, like `*.example.com`; leave the host out for any host",
            ),
        ] {
            let reason = text.parse::<Pattern>().expect_err(text);
            assert_eq!(reason, Reason::new(cause, remedy), "{text}");
        }
        for text in [
            "/ü",
            "/a b",
            "/%2e%2e",
            "/a%2Fb",
            "/%00",
            "/a\u{7}",
            "/a\"",
            "/%c0%ae",
            "http://a.com/x",
            "*.1.2.3.4/x/",
            "*.[::1]/x",
        ] {
            let _ = text.parse::<Pattern>().expect_err(text);
        }
        let deep = "/a".repeat(MOST_SEGMENTS + 1);
        assert!(deep.parse::<Pattern>().is_err());
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,40}|(GET )?[a-z*.]{0,8}(/[a-z{}*%.;0-9]{0,6}){0,5}") {
            let _ = text.parse::<Pattern>();
        }
    }
}
