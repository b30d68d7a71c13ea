//! Forwarded: what an origin is told about the client and the way here. In: a request. Out: our own words as lines, and
//! which of the request's fields they stand for. Called by `outgoing`.
//!
//! Origins believe these fields: they build links, log addresses and open doors by them. From a stranger they are
//! claims, so they go no further (else one client's `X-Forwarded-Host` ends up in everybody's cached answer); from a
//! proxy that the config trusts they are kept, and ours appended.

use std::io::Write;
use std::net::IpAddr;

use http::Version;
use http::header::{FORWARDED, HeaderMap, HeaderName, HeaderValue, VIA};
use message::{Client, Error, Kind, RequestParts, Result, Scheme};

/// Our name in `Via` (RFC 9110 §7.6.3).
const PSEUDONYM: &str = "fleetfoot";
/// How often a request may have come by already. More than the longest honest chain of fleetfoots.
const MAX_VISITS: usize = 5;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");

/// Our own words about a request, kept apart from its fields so that they go onto the wire without a detour.
#[derive(Debug)]
pub(super) struct Forwarded {
    client: Client,
    scheme: Scheme,
    received_by: &'static str,
    before: Before,
    says_proto: bool,
    says_host: bool,
    says_real_ip: bool,
}

/// The lists that we append to, as they came.
#[derive(Debug)]
struct Before {
    via: Vec<u8>,
    forwarded: Vec<u8>,
    forwarded_for: Vec<u8>,
}

impl Forwarded {
    /// About this request. An error when it goes round in circles.
    pub(super) fn of(request: &RequestParts) -> Result<Self> {
        let RequestParts { client, fields, scheme, version, .. } = request;
        refuse_loop(fields)?;
        // Of a stranger's claims none counts; asking for each of them would only cost time.
        let kept = |name| client.trusted && fields.contains_key(name);
        let list = |name| if client.trusted { list(fields, name) } else { Vec::new() };
        Ok(Forwarded {
            client: *client,
            scheme: *scheme,
            received_by: protocol(*version),
            before: Before {
                via: self::list(fields, &VIA),
                forwarded: list(&FORWARDED),
                forwarded_for: list(&FORWARDED_FOR),
            },
            says_proto: !kept(FORWARDED_PROTO),
            says_host: !kept(FORWARDED_HOST),
            says_real_ip: !kept(REAL_IP),
        })
    }

    /// Whether a field of the request does not go on: we say it ourselves, or nobody may.
    pub(super) fn replaces(&self, name: &HeaderName) -> bool {
        let text = name.as_str();
        *name == VIA
            || !rules::claim::reaches_source(text, self.client.trusted)
            || self.client.trusted && [FORWARDED, FORWARDED_FOR].contains(name)
    }

    /// Gives each line to `say`, name and value. `authority` is the client's; empty where it sent none.
    pub(super) fn lines(&self, authority: &str, mut say: impl FnMut(HeaderName, &[u8])) {
        let ip = self.client.ip();
        let client = ip.map(text_of);
        let mut line = Vec::with_capacity(256);
        begin(&mut line, &self.before.via);
        put(&mut line, &[self.received_by, " ", PSEUDONYM]);
        say(VIA, &line);

        if let Some(client) = &client {
            begin(&mut line, &self.before.forwarded_for);
            line.extend_from_slice(client);
            say(FORWARDED_FOR, &line);
        }

        begin(&mut line, &self.before.forwarded);
        match (ip, &client) {
            (Some(IpAddr::V4(_)), Some(client)) => {
                line.extend_from_slice(b"for=");
                line.extend_from_slice(client);
            }
            (Some(IpAddr::V6(_)), Some(client)) => {
                line.extend_from_slice(b"for=\"[");
                line.extend_from_slice(client);
                line.extend_from_slice(b"]\"");
            }
            _ => line.extend_from_slice(b"for=unknown"), // RFC 7239 §6.2
        }
        if !authority.is_empty() {
            put(&mut line, &[";host=\"", authority, "\""]);
        }
        put(&mut line, &[";proto=", self.scheme.as_str()]);
        say(FORWARDED, &line);

        if self.says_proto {
            say(FORWARDED_PROTO, self.scheme.as_str().as_bytes());
        }
        if self.says_host && !authority.is_empty() {
            say(FORWARDED_HOST, authority.as_bytes());
        }
        if let (true, Some(client)) = (self.says_real_ip, &client) {
            say(REAL_IP, client);
        }
    }
}

/// The address as text. IPv4 by hand: the formatter takes longer for it than all the rest here.
fn text_of(address: IpAddr) -> Vec<u8> {
    let mut text = Vec::with_capacity(48);
    match address {
        IpAddr::V4(address) => {
            for (at, octet) in address.octets().into_iter().enumerate() {
                if at > 0 {
                    text.push(b'.');
                }
                text.extend_from_slice(itoa::Buffer::new().format(octet).as_bytes());
            }
        }
        IpAddr::V6(address) => write!(text, "{address}").expect("a Vec takes every byte"),
    }
    text
}

/// Starts a list with what stood there before us.
fn begin(line: &mut Vec<u8>, before: &[u8]) {
    line.clear();
    if !before.is_empty() {
        line.extend_from_slice(before);
        line.extend_from_slice(b", ");
    }
}

fn put(line: &mut Vec<u8>, words: &[&str]) {
    for word in words {
        line.extend_from_slice(word.as_bytes());
    }
}

/// The received-protocol of `Via`, its name left out as allowed for HTTP.
const fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_10 => "1.0",
        Version::HTTP_2 => "2.0",
        _ => "1.1",
    }
}

/// The lines of a field as one list.
fn list(fields: &HeaderMap, name: &HeaderName) -> Vec<u8> {
    let lines: Vec<_> = fields.get_all(name).iter().map(HeaderValue::as_bytes).collect();
    lines.join(&b", "[..])
}

fn refuse_loop(fields: &HeaderMap) -> Result<()> {
    let visits = fields
        .get_all(VIA)
        .iter()
        .flat_map(|value| value.as_bytes().split(|&byte| byte == b','))
        .filter(|member| {
            let mut words = member.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            words.nth(1).is_some_and(|received_by| received_by.eq_ignore_ascii_case(PSEUDONYM.as_bytes()))
        })
        .count();
    if visits <= MAX_VISITS {
        return Ok(());
    }
    let detail =
        format!("the request has passed through {visits} times already: a source leads back to fleetfoot");
    Err(Error::new(Kind::Loop, detail))
}

#[cfg(test)]
#[path = "forwarded_tests.rs"]
mod tests;
