//! Outgoing: a request made ready for the next hop. In: what the listener received. Out: a head for HTTP/1.1 or for
//! HTTP/2, as often as it takes, and the content. Made once by `send`, written by the exchanges.

use std::rc::Rc;

use http::header::{
    CONNECTION, CONTENT_LENGTH, EXPECT, HOST, HeaderMap, HeaderName, HeaderValue, TE, UPGRADE,
};
use http::{Method, Uri, Version};
use http1::Framing;
use message::{Body, Error, Interim, Kind, Request, RequestParts, Result, Scheme};
use plan::HostField;
use rules::hop_by_hop::HopByHop;

use super::forwarded::Forwarded;
use super::shared_origin::Target;

/// See the module.
pub(super) struct Outgoing {
    parts: Rc<RequestParts>,
    /// The content; taken out while it is being sent.
    pub(super) body: Body,
    /// Where informational answers go.
    pub(super) interim: Interim,
    hop_by_hop: HopByHop,
    forwarded: Forwarded,
    /// The protocols to which the client wants to switch (RFC 9110 §7.8).
    pub(super) upgrade: Option<HeaderValue>,
    /// Whether the client waits for a `100` before it sends its content.
    pub(super) expects_continue: bool,
    accepts_trailers: bool,
}

impl Outgoing {
    pub(super) fn new(request: Request) -> Result<Self> {
        refuse_injection(&request)?;
        Ok(Outgoing {
            hop_by_hop: HopByHop::of(&request.fields),
            forwarded: Forwarded::of(&request)?,
            upgrade: wanted_upgrade(&request),
            expects_continue: expects_continue(&request),
            accepts_trailers: has_member(&request.fields, &TE, b"trailers"),
            parts: request.parts,
            body: request.body,
            interim: request.interim,
        })
    }

    /// The method, case as sent.
    pub(super) fn method(&self) -> &Method {
        &self.parts.method
    }

    /// The fields that go on: not those that were meant for us alone, and none that strangers may not say.
    fn fields(&self) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
        self.parts.fields.iter().filter(|(name, _)| {
            !self.hop_by_hop.has(name)
                && !self.forwarded.replaces(name)
                && (**name != EXPECT || self.expects_continue)
        })
    }

    /// What `Host` says at this target, by the rule of the plan.
    pub(super) fn host<'a>(&'a self, rule: &'a HostField, target: &'a Target) -> &'a str {
        let clients = match rule {
            HostField::Auto => target.plan.scheme == Scheme::Http,
            HostField::Client => true,
            HostField::Target => false,
            HostField::Fixed(host) => return host,
        };
        if clients && !self.parts.authority.is_empty() { &self.parts.authority } else { &target.authority }
    }

    /// Appends the whole head for HTTP/1.1.
    pub(super) fn write_head(&self, host: &str, out: &mut Vec<u8>) {
        out.reserve(1024);
        let RequestParts { method, target, authority, .. } = &*self.parts;
        http1::write_request_head(out, method, target, host, self.fields(), self.framing());
        self.forwarded.lines(authority, |name, value| line(out, &name, value));
        match (&self.upgrade, self.accepts_trailers) {
            (Some(_), true) => line(out, &CONNECTION, b"upgrade, te"),
            (Some(_), false) => line(out, &CONNECTION, b"upgrade"),
            (None, true) => line(out, &CONNECTION, b"te"),
            (None, false) => {}
        }
        if let Some(protocols) = &self.upgrade {
            line(out, &UPGRADE, protocols.as_bytes());
        }
        if self.accepts_trailers {
            line(out, &TE, b"trailers");
        }
        out.extend_from_slice(b"\r\n");
    }

    /// The whole head for HTTP/2.
    pub(super) fn http2_head(&self, scheme: Scheme, host: &str) -> Result<http::Request<()>> {
        let refused = |_| Error::new(Kind::MalformedRequest, "the request target cannot be sent over HTTP/2");
        let uri = Uri::builder()
            .scheme(scheme.as_str())
            .authority(host)
            .path_and_query(&*self.parts.target)
            .build()
            .map_err(refused)?;
        let mut head = http::Request::new(());
        *head.method_mut() = self.method().clone();
        *head.uri_mut() = uri;
        *head.version_mut() = Version::HTTP_2;
        let fields = head.headers_mut();
        for (name, value) in self.fields().filter(|(name, _)| ![HOST, CONTENT_LENGTH].contains(name)) {
            fields.append(name, value.clone());
        }
        if let Framing::Length(length) = self.framing() {
            fields.insert(CONTENT_LENGTH, length.into());
        }
        self.forwarded.lines(&self.parts.authority, |name, value| {
            // Made of values that came in as field values, and of addresses.
            if let Ok(value) = HeaderValue::from_bytes(value) {
                fields.insert(name, value);
            }
        });
        if self.accepts_trailers {
            fields.insert(TE, HeaderValue::from_static("trailers"));
        }
        Ok(head)
    }

    /// How the content is framed in HTTP/1.1.
    pub(super) fn framing(&self) -> Framing {
        match self.body.exact_length() {
            _ if self.body.is_empty() => Framing::Empty,
            Some(length) => Framing::Length(length),
            None => Framing::Chunked,
        }
    }
}

fn line(out: &mut Vec<u8>, name: &HeaderName, value: &[u8]) {
    for part in [name.as_str().as_bytes(), b": ", value, b"\r\n"] {
        out.extend_from_slice(part);
    }
}

/// The listener has checked both; but they go onto the wire as they are, and one line end too many would be a second
/// request, so they are looked at once more where it matters.
fn refuse_injection(request: &Request) -> Result<()> {
    let clean = |text: &str| text.bytes().all(|byte| byte > b' ' && byte != 0x7f && byte != b'"');
    if clean(&request.authority)
        && !request.target.is_empty()
        && request.target.bytes().all(|byte| byte > b' ' && byte != 0x7f)
    {
        return Ok(());
    }
    Err(Error::new(
        Kind::MalformedRequest,
        "the request target or host contains a space or control character",
    ))
}

/// Whether a list field has this member, without regard to case and parameters.
pub(super) fn has_member(fields: &HeaderMap, name: &HeaderName, wanted: &[u8]) -> bool {
    members(fields, name).any(|member| {
        member
            .split(|&byte| byte == b';')
            .next()
            .is_some_and(|word| word.trim_ascii().eq_ignore_ascii_case(wanted))
    })
}

/// The members of a list field.
pub(super) fn members<'a>(fields: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a [u8]> {
    fields
        .get_all(name)
        .iter()
        .flat_map(|value| value.as_bytes().split(|&byte| byte == b','))
        .map(<[u8]>::trim_ascii)
        .filter(|member| !member.is_empty())
}

/// The protocols that the client wants to switch to, if it may. `h2c` is left out: we do not speak for what the origin
/// would then say, and tunnels of it have been used to go round every rule of the proxy before it.
fn wanted_upgrade(request: &Request) -> Option<HeaderValue> {
    let asked = request.version == Version::HTTP_11
        && request.fields.contains_key(UPGRADE)
        && has_member(&request.fields, &CONNECTION, b"upgrade")
        && request.body.is_empty();
    if !asked {
        return None;
    }
    let protocols: Vec<&[u8]> = members(&request.fields, &UPGRADE)
        .filter(|protocol| !protocol.eq_ignore_ascii_case(b"h2c") && !protocol.eq_ignore_ascii_case(b"h2"))
        .collect();
    if protocols.is_empty() {
        return None;
    }
    HeaderValue::from_bytes(&protocols.join(&b", "[..])).ok()
}

/// `Expect` goes on only when there is content to wait for (RFC 9110 §10.1.1), and never from HTTP/1.0 clients.
fn expects_continue(request: &Request) -> bool {
    request.fields.contains_key(EXPECT)
        && request.version != Version::HTTP_10
        && !request.body.is_empty()
        && has_member(&request.fields, &EXPECT, b"100-continue")
}
