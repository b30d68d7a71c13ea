//! Cors: `cors` of a policy → [`Cors`].

use http::{HeaderName, HeaderValue, Method};

use super::field;
use crate::meant::{Cors, CorsHeaders, CorsOrigin};
use crate::schema;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::Node;
use crate::yaml::value;

/// Reads whose pages may read what. `name` is the policy's.
pub(super) fn cors(name: &str, node: Node<'_>, report: &mut Report) -> Option<Cors> {
    let section = Section::open(node, &schema::CORS, report)?;
    let origins = value::distinct(section.need("origins", report)?, report, |node, report| {
        value::parsed(node, report, origin)
    });
    let mut cors = Cors {
        name: name.to_owned(),
        origins,
        methods: HeaderValue::from_static("GET, HEAD, POST"),
        headers: CorsHeaders::Simple,
        expose: None,
        credentials: false,
        max_age: None,
    };
    section.set("methods", &mut cors.methods, report, |node, report| {
        let method = |node: Node<'_>, report: &mut Report| value::parsed(node, report, method);
        list(&value::distinct(node, report, method))
    });
    section.set("headers", &mut cors.headers, report, |node, report| {
        if value::is_word(node, |text| text == "*") {
            return Some(CorsHeaders::Asked);
        }
        list(&names(node, report)).map(CorsHeaders::Named)
    });
    section.set("expose", &mut cors.expose, report, |node, report| Some(list(&names(node, report))));
    section.set("credentials", &mut cors.credentials, report, value::switch);
    section.set("max_age", &mut cors.max_age, report, |node, report| {
        Some(Some(HeaderValue::from(value::duration(node, report)?.as_secs())))
    });
    if let Some(node) = section.get("origins")
        && cors.is_for_all()
        && cors.origins.len() > 1
    {
        report.at_key(
            node,
            "beside `*` no origin need be named: it stands for all of them",
            "take `*` out, or the others",
        );
    }
    if let Some(node) = section.get("credentials")
        && cors.credentials
        && cors.is_for_all()
    {
        report.at_key(
            node,
            "with `origins: \"*\"` every page could read what a user's cookies open",
            "name the origins, or take `credentials` out",
        );
    }
    Some(cors)
}

/// `https://app.example.com`, `https://*.example.com`, `*`.
fn origin(text: &str) -> Result<CorsOrigin, Reason> {
    let wrong = |remedy: &str| Err(Reason::new(format!("{} is no origin", quoted(text)), remedy));
    if text == "*" {
        return Ok(CorsOrigin::Any);
    }
    let Some((scheme @ ("http" | "https"), host)) = text.split_once("://") else {
        return wrong("write scheme and host, like `https://app.example.com`, or `*`");
    };
    if host.contains(['/', '?', '#', '@']) {
        return wrong("write scheme and host alone, without a path: `https://app.example.com`");
    }
    if host.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return wrong("write it in lower case, as browsers do");
    }
    if host.ends_with(if scheme == "https" { ":443" } else { ":80" }) {
        return wrong("leave the usual port out, as browsers do");
    }
    let fits = |host: &str| {
        !host.is_empty()
            && host
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':' | b'[' | b']'))
    };
    match host.strip_prefix("*.") {
        Some(below) if fits(below) && below.contains('.') => {
            Ok(CorsOrigin::Below { scheme: format!("{scheme}://"), suffix: format!(".{below}") })
        }
        None if fits(host) => Ok(CorsOrigin::Exact(text.to_owned())),
        _ => wrong("write `*.` in front of a domain, like `https://*.example.com`"),
    }
}

fn method(text: &str) -> Result<String, Reason> {
    match Method::from_bytes(text.as_bytes()) {
        Ok(method) if method.as_str().bytes().all(|byte| byte.is_ascii_uppercase()) => Ok(text.to_owned()),
        _ => Err(Reason::new(
            format!("{} is not a method", quoted(text)),
            "write it in upper case, like `PUT`",
        )),
    }
}

fn names(node: Node<'_>, report: &mut Report) -> Vec<String> {
    value::distinct(node, report, |node, report| {
        value::parsed(node, report, |text| match text {
            "*" => Err(Reason::new("`*` stands in a list", "name them")),
            _ => field::name(text, "X-Token").map(|_: HeaderName| text.to_owned()),
        })
    })
}

/// As one field says it.
fn list(words: &[String]) -> Option<HeaderValue> {
    HeaderValue::from_str(&words.join(", ")).ok().filter(|list| !list.is_empty())
}
