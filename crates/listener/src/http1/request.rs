//! Request: a head that no fresh entry answers → an owned request, or the reason why it is refused.

use std::borrow::Cow;
use std::collections::VecDeque;

use ::http1::{Framing, RequestHead, to_header_map};
use http::header::{HOST, HeaderName, HeaderValue, UPGRADE};
use http::{HeaderMap, Method};
use message::{Error, Kind, Request, RequestParts, Result, Scheme};

use super::exchange::Exchange;
use super::head::Asked;
use crate::connection::ConnectionContext;

const HTTP2_SETTINGS: HeaderName = HeaderName::from_static("http2-settings");

/// Makes the head one's own. Errors are refusals: the connection ends with their answer.
pub(super) fn accept<H>(
    context: &ConnectionContext<H>,
    head: RequestHead<'_>,
    scheme: Scheme,
    authority: Cow<'_, str>,
    target: Cow<'_, str>,
) -> Result<Box<Exchange>> {
    if head.method == Method::CONNECT || head.method == Method::TRACE {
        return Err(Error::new(Kind::MethodNotAllowed, "CONNECT and TRACE are not supported"));
    }
    if matches!(head.framing, Framing::Length(length) if length > context.limits.body_size) {
        return Err(Error::new(Kind::ContentTooLarge, "the request's content is larger than the limit"));
    }
    let mut fields = to_header_map(head.fields, Some(&HOST), Kind::MalformedRequest)?;
    let has_content = !matches!(head.framing, Framing::Empty | Framing::Length(0));
    let offers = head.fields.iter().any(|line| offers_a_switch(line.name));
    let upgrade = offers && settle_upgrade(&mut fields, head.upgrade && !has_content);
    let asked = Asked {
        is_head: head.method == Method::HEAD,
        version: head.version,
        keep_alive: head.keep_alive,
        upgrade,
    };
    let request = Request::new(RequestParts {
        method: head.method,
        scheme,
        authority: authority.into(),
        target: target.into(),
        version: head.version,
        fields,
        client: context.client,
    });
    Ok(Box::new(Exchange { request, asked, framing: head.framing, expect_continue: head.expect_continue }))
}

/// Whether [`settle_upgrade`] has anything to do.
fn offers_a_switch(name: &str) -> bool {
    match name.len() {
        7 => name.eq_ignore_ascii_case("upgrade"),
        14 => name.eq_ignore_ascii_case("http2-settings"),
        _ => false,
    }
}

/// Leaves `Upgrade` in place only where it is a valid offer, and never to speak HTTP/2 in cleartext: behind us that
/// would be a connection nobody checks (RFC 9113 §3.1 has dropped it, smugglers have not). True if an offer is left.
fn settle_upgrade(fields: &mut HeaderMap, is_offer: bool) -> bool {
    fields.remove(HTTP2_SETTINGS);
    let Some(_) = fields.get(UPGRADE) else { return false };
    let offered: VecDeque<HeaderValue> = fields.get_all(UPGRADE).iter().cloned().collect();
    fields.remove(UPGRADE);
    if !is_offer {
        return false;
    }
    for value in offered {
        if let Some(value) = without_h2c(&value) {
            fields.append(UPGRADE, value);
        }
    }
    fields.contains_key(UPGRADE)
}

/// The protocols offered but for `h2c`; `None` if that was all.
fn without_h2c(offered: &HeaderValue) -> Option<HeaderValue> {
    let protocols = offered.as_bytes().split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let left: Vec<&[u8]> = protocols.filter(|name| !name.is_empty() && !is_http2(name)).collect();
    if left.is_empty() { None } else { HeaderValue::from_bytes(&left.join(&b", "[..])).ok() }
}

fn is_http2(protocol: &[u8]) -> bool {
    let name = protocol.split(|&byte| byte == b'/').next().unwrap_or_default();
    name.eq_ignore_ascii_case(b"h2c")
        || name.eq_ignore_ascii_case(b"h2")
        || protocol.eq_ignore_ascii_case(b"http/2")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(lines: &[&'static str], is_offer: bool) -> (bool, Vec<String>) {
        let mut fields = HeaderMap::new();
        for line in lines {
            fields.append(UPGRADE, HeaderValue::from_static(line));
        }
        fields.insert(HTTP2_SETTINGS, HeaderValue::from_static("AAMAAABkAAQAAP__"));
        let is_offer = settle_upgrade(&mut fields, is_offer);
        assert!(!fields.contains_key(HTTP2_SETTINGS));
        (is_offer, fields.get_all(UPGRADE).iter().map(|value| value.to_str().unwrap().to_owned()).collect())
    }

    #[test]
    fn only_an_offer_of_something_else_than_http2_passes() {
        let passes = |lines: &[&'static str], left: &[&str]| {
            assert_eq!(
                settled(lines, true),
                (!left.is_empty(), left.iter().map(ToString::to_string).collect())
            );
            assert_eq!(settled(lines, false), (false, vec![]));
        };
        passes(&[], &[]);
        passes(&["websocket"], &["websocket"]);
        passes(&["h2c"], &[]);
        passes(&["H2C"], &[]);
        passes(&["h2c, websocket"], &["websocket"]);
        passes(&["h2c", "websocket"], &["websocket"]);
        passes(&["websocket,,h2c/1"], &["websocket"]);
        passes(&[" , "], &[]);
        passes(&["TLS/1.0, HTTP/2"], &["TLS/1.0"]);
    }
}
