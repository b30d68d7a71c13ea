//! Respond: `respond` and `redirect` of a policy, or of a route → [`Respond`]. `name` is that of the policy; `names` are what
//! expressions may name.

use bytes::Bytes;
use expression::{Names, Template};
use http::StatusCode;
use http::header::{CONTENT_TYPE, HeaderValue};

use super::headers;
use crate::meant::{Field, FieldText, RedirectTo, Respond};
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;
use crate::{schema, template};

/// Statuses that send clients elsewhere (RFC 9110 §15.4).
const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

/// Reads a fixed response.
pub(crate) fn respond(name: &str, node: Node<'_>, names: &Names<'_>, report: &mut Report) -> Option<Respond> {
    let section = Section::open(node, &schema::RESPOND, report)?;
    let status = value::parsed(section.need("status", report)?, report, status)?;
    let fields = section.get("headers").map(|node| headers::of_response(node, names, report));
    let mut fields = fields.unwrap_or_default();
    let body = section.get("body").and_then(|node| value::text(node, report)).unwrap_or_default();
    if let Some(node) = section.get("body").filter(|_| has_no_content(status)) {
        report.at_key(
            node,
            format!("a {} has no content", status.as_str()),
            "take it out, or write another status",
        );
    }
    if !body.is_empty() && !fields.iter().any(|field| field.name == CONTENT_TYPE) {
        let is_json = body.starts_with(['{', '[']) && json::check(body.as_bytes()).is_some();
        let kind = if is_json { "application/json" } else { "text/plain; charset=utf-8" };
        fields.push(Field { name: CONTENT_TYPE, value: FieldText::Constant(HeaderValue::from_static(kind)) });
    }
    let body = Bytes::copy_from_slice(body.as_bytes());
    Some(Respond { name: name.to_owned(), when: when(&section, report), status, fields, to: None, body })
}

/// Reads where clients are sent: `https://www.example.com${url}`, or a section.
pub(crate) fn redirect(
    name: &str,
    node: Node<'_>,
    names: &Names<'_>,
    report: &mut Report,
) -> Option<Respond> {
    let mut status = StatusCode::TEMPORARY_REDIRECT;
    let (to, when) = if let Shape::Text(_) = node.shape() {
        (node, None)
    } else {
        let section = Section::open(node, &schema::REDIRECT, report)?;
        section.set("status", &mut status, report, |node, report| value::parsed(node, report, elsewhere));
        (section.need("to", report)?, when(&section, report))
    };
    let to = Some(self::to(to, names, report)?);
    Some(Respond { name: name.to_owned(), when, status, fields: Vec::new(), to, body: Bytes::new() })
}

/// Which requests are meant.
pub(super) fn when(section: &Section<'_>, report: &mut Report) -> Option<expression::Expression> {
    section.get("when").and_then(|node| template::of_request(node, report))
}

fn to(node: Node<'_>, names: &Names<'_>, report: &mut Report) -> Option<RedirectTo> {
    let text = value::written(node, report)?;
    let url = Template::parse_in(text, names).map_err(|fault| report.because(node, fault.into())).ok()?;
    match site(url.beginning()).and_then(|site| template::of_url(text, b"").map(|()| site)) {
        Ok(site) => Some(RedirectTo { url, site }),
        Err(reason) => {
            report.because(node, reason);
            None
        }
    }
}

/// Scheme and host of a URL, of which this is what is written out at its beginning.
fn site(beginning: &str) -> Result<String, Reason> {
    let wrong = |cause: String| {
        Err(Reason::new(
            cause,
            "begin with a host, like `https://www.example.com${url}`, or with a single slash",
        ))
    };
    if let Some(rest) = beginning.strip_prefix('/') {
        return if rest.starts_with(['/', '\\']) {
            wrong(format!("{} begins with a host that nobody sees", quoted(beginning)))
        } else {
            Ok(String::new())
        };
    }
    let Some((scheme @ ("http" | "https"), rest)) = beginning.split_once("://") else {
        return wrong("what it begins with would be for clients to choose, or is no URL".to_owned());
    };
    let host = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']');
    if host.is_empty() || !host.bytes().all(fits) {
        return wrong(format!("the host in {} is not written out", quoted(beginning)));
    }
    Ok(format!("{scheme}://{host}"))
}

fn elsewhere(text: &str) -> Result<StatusCode, Reason> {
    status(text).ok().filter(|status| REDIRECTS.contains(&status.as_u16())).ok_or_else(|| {
        Reason::new(
            format!("{} is no status that sends clients elsewhere", quoted(text)),
            "write `301`, `302`, `303`, `307` or `308`",
        )
    })
}

/// RFC 9110 §15.3.5, §15.3.6.
fn has_no_content(status: StatusCode) -> bool {
    matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT)
}

/// A final status that is no word on a condition or a range of the request: nobody knows here what the client has.
pub(super) fn status(text: &str) -> Result<StatusCode, Reason> {
    let status = text.parse().ok().filter(|status| (200..=599).contains(status));
    let status = status.and_then(|status: u16| StatusCode::from_u16(status).ok());
    if status.is_some_and(|status| matches!(status, StatusCode::PARTIAL_CONTENT | StatusCode::NOT_MODIFIED)) {
        return Err(Reason::new(
            format!("{} answers a condition or a range of the request", quoted(text)),
            "write another status: that one is given by whoever has the whole response",
        ));
    }
    status.ok_or_else(|| {
        Reason::new(
            format!("{} is no status of a response", quoted(text)),
            "write one of 200 to 599, like `503`",
        )
    })
}
