//! Slot: one thing a request may hold, such as `header('X-User')`.
//!
//! Made by `bind` when an expression is parsed; read for requests by `template` and `expression`, without allocating
//! except for claims, and by `computed` as a value of the interpreter.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use cel::Value;
use http::header::{AUTHORIZATION, COOKIE, HeaderName};
use message::Fields;
use serde_json::Value as Json;

use crate::Context;
use crate::answered::Answered;
use crate::claim;
use crate::decode::{self, Coding};
use crate::given;
use crate::inner::Inner;

/// Elements of a list in a claim; longer lists count as missing, so that no request decides how long a loop runs.
const LONGEST_LIST: usize = 64;

/// One thing a request may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// All lines of a field, joined with a comma as RFC 9110 §5.2 says: taking the first alone would let a client show
    /// us one value and an origin that reads the last another.
    Header(HeaderName),
    /// `Host`: host and port, normalised. It is not among a request's fields.
    Authority,
    /// The first cookie of that name, as sent.
    Cookie(Box<str>),
    /// The first parameter of that name, decoded.
    Query(Box<str>),
    /// All parameters of that name, decoded: a list.
    All(Box<str>),
    /// The segment of the path that the route calls so, decoded.
    Path(Box<str>),
    /// A claim of the bearer token, not verified here.
    Claim(Box<str>),
    /// The method.
    Method,
    /// `http` or `https`.
    Scheme,
    /// The host, without the port.
    Host,
    /// Path and query as sent.
    Url,
    /// The client's address.
    Address,
    /// The network that it is in: of IPv6 the 64 bits that a provider gives to one customer.
    Network,
    /// What is at hand beside the request, or a part of it.
    Given(Inner),
    /// Whether that is there: `true` or `false`.
    There(Inner),
    /// One thing of the response.
    Answered(Answered),
}

impl Slot {
    /// Appends its text. False, and nothing appended, when the request has no such thing.
    pub(crate) fn write(&self, context: &Context<'_>, out: &mut Vec<u8>) -> bool {
        match self {
            Slot::Header(name) => write_lines(context.request.fields, name, out),
            Slot::All(name) => {
                let values = query(context).flat_map(|query| parameters(query, name));
                joined(values, out, |value, out| {
                    decode::write(value, Coding::Form, out);
                    true
                })
            }
            Slot::Given(inner) => inner.json(context).is_some_and(|json| given::write_text(json, out)),
            Slot::Answered(answered) => answered.write(context, out),
            Slot::Address | Slot::Network => match context.request.client {
                Some(IpAddr::V6(address)) if *self == Slot::Network => {
                    let network = Ipv6Addr::from_bits(address.to_bits() >> 64 << 64);
                    let _infallible = write!(out, "{network}/64");
                    true
                }
                Some(IpAddr::V6(address)) => {
                    let _infallible = write!(out, "{address}");
                    true
                }
                Some(IpAddr::V4(address)) => {
                    write_ipv4(address, out);
                    true
                }
                None => false,
            },
            Slot::There(inner) => {
                out.extend_from_slice(inner.json(context).is_some().to_string().as_bytes());
                true
            }
            Slot::Claim(name) => match claim::find(context.request.fields, name) {
                Some(Json::String(text)) => {
                    out.extend_from_slice(text.as_bytes());
                    true
                }
                Some(Json::Number(number)) => {
                    out.extend_from_slice(number.to_string().as_bytes());
                    true
                }
                Some(Json::Bool(truth)) => {
                    out.extend_from_slice(truth.to_string().as_bytes());
                    true
                }
                Some(Json::Null | Json::Array(_) | Json::Object(_)) | None => false,
            },
            _ => match self.raw(context) {
                Some((raw, coding)) => {
                    decode::write(raw, coding, out);
                    true
                }
                None => false,
            },
        }
    }

    /// The field of a request that holds it; `None`: it is not in a field, but in the method or the URL.
    pub(crate) fn field(&self) -> Option<HeaderName> {
        match self {
            Slot::Header(name) => Some(name.clone()),
            Slot::Cookie(_) => Some(COOKIE),
            Slot::Claim(_) => Some(AUTHORIZATION),
            Slot::Query(_)
            | Slot::All(_)
            | Slot::Given(_)
            | Slot::There(_)
            | Slot::Path(_)
            | Slot::Url
            | Slot::Address
            | Slot::Network
            | Slot::Answered(_)
            | Slot::Authority
            | Slot::Host
            | Slot::Scheme
            | Slot::Method => None,
        }
    }

    /// The cookie it reads.
    pub(crate) fn cookie(&self) -> Option<&str> {
        match self {
            Slot::Cookie(name) => Some(name),
            _ => None,
        }
    }

    /// The place of the value beside the request that it reads.
    pub(crate) fn place(&self) -> Option<usize> {
        match self {
            Slot::Given(inner) | Slot::There(inner) => Some(inner.place),
            _ => None,
        }
    }

    /// Whether it reads the request.
    pub(crate) fn is_of_request(&self) -> bool {
        !matches!(self, Slot::Answered(_))
    }

    /// Whether it reads who asks, which is in no field.
    pub(crate) fn is_of_client(&self) -> bool {
        matches!(self, Slot::Address | Slot::Network)
    }

    /// What it is called, for messages.
    pub(crate) fn noun(&self) -> String {
        match self {
            Slot::Header(name) => format!("the field `{name}`"),
            Slot::Cookie(name) => format!("the cookie `{name}`"),
            Slot::Query(name) | Slot::All(name) => format!("the parameter `{name}`"),
            Slot::Given(inner) | Slot::There(inner) => format!("`{}`", inner.written),
            Slot::Path(name) => format!("the segment `{name}`"),
            Slot::Claim(name) => format!("the claim `{name}`"),
            Slot::Authority | Slot::Host => "the host".to_owned(),
            Slot::Method => "the method".to_owned(),
            Slot::Scheme => "the scheme".to_owned(),
            Slot::Url => "the URL".to_owned(),
            Slot::Answered(answered) => answered.noun(),
            Slot::Address => "the client's address".to_owned(),
            Slot::Network => "the client's network".to_owned(),
        }
    }

    /// Whether it is there and neither empty nor `false`.
    pub(crate) fn holds(&self, context: &Context<'_>) -> bool {
        match self {
            Slot::Header(name) => {
                let mut lines = context.request.fields.all(name);
                // Two empty lines joined are a comma.
                lines.next().is_some_and(|line| !line.is_empty() || lines.next().is_some())
            }
            Slot::All(name) => query(context).flat_map(|query| parameters(query, name)).next().is_some(),
            Slot::Given(inner) => inner.json(context).is_some_and(given::holds),
            Slot::There(inner) => inner.json(context).is_some(),
            Slot::Address | Slot::Network => context.request.client.is_some(),
            Slot::Answered(answered) => {
                let mut text = Vec::new();
                answered.write(context, &mut text) && !text.is_empty()
            }
            Slot::Claim(name) => match claim::find(context.request.fields, name) {
                Some(Json::Bool(truth)) => truth,
                Some(Json::String(text)) => !text.is_empty(),
                _ => false,
            },
            _ => self.raw(context).is_some_and(|(raw, _)| !raw.is_empty()),
        }
    }

    /// As the interpreter sees it. What is missing is null; text that is not UTF-8 is bytes, which equal no text and
    /// have no text functions: read leniently, two values would become one.
    ///
    /// # Errors
    /// Why it cannot be computed with, though it is there.
    pub(crate) fn value(&self, context: &Context<'_>) -> Result<Value, String> {
        let unable = |why: String| format!("{} {why}", self.noun());
        if let Slot::Claim(name) = self {
            return Ok(claim::find(context.request.fields, name).and_then(claimed).unwrap_or(Value::Null));
        }
        if let Slot::Given(inner) = self {
            return inner.json(context).map_or(Ok(Value::Null), given::value).map_err(unable);
        }
        if let Slot::There(inner) = self {
            return Ok(Value::Bool(inner.json(context).is_some()));
        }
        if let Slot::All(name) = self {
            let values = query(context).flat_map(|query| parameters(query, name));
            let decoded = values.take(LONGEST_LIST + 1).map(|value| {
                let mut bytes = Vec::new();
                decode::write(value, Coding::Form, &mut bytes);
                lossless(bytes)
            });
            let list: Vec<Value> = decoded.collect();
            if list.len() > LONGEST_LIST {
                let why = format!("has more than {LONGEST_LIST} values, and no more are computed with");
                return Err(unable(why));
            }
            return Ok(Value::List(list.into()));
        }
        if let Slot::Answered(answered) = self
            && let Some(number) = answered.number(context)
        {
            return Ok(number);
        }
        let mut bytes = Vec::new();
        Ok(if self.write(context, &mut bytes) { lossless(bytes) } else { Value::Null })
    }

    /// The bytes as sent, for all but fields and claims.
    fn raw<'a>(&self, context: &Context<'a>) -> Option<(&'a [u8], Coding)> {
        let request = context.request;
        match self {
            Slot::Header(_)
            | Slot::Claim(_)
            | Slot::All(_)
            | Slot::Given(_)
            | Slot::There(_)
            | Slot::Address
            | Slot::Network
            | Slot::Answered(_) => None,
            Slot::Authority => Some((request.authority.as_bytes(), Coding::Plain)),
            Slot::Cookie(name) => Some((cookie(request.fields, name)?, Coding::Plain)),
            Slot::Query(name) => Some((parameter(request.query()?, name)?, Coding::Form)),
            Slot::Path(name) => Some((segment(request.path(), context.names, name)?, Coding::Percent)),
            Slot::Method => Some((request.method.as_str().as_bytes(), Coding::Plain)),
            Slot::Scheme => Some((request.scheme.as_str().as_bytes(), Coding::Plain)),
            Slot::Host => Some((request.host().as_bytes(), Coding::Plain)),
            Slot::Url => Some((request.target.as_bytes(), Coding::Plain)),
        }
    }
}

/// As `Display` does, in a third of the time: limits read it of every request.
fn write_ipv4(address: Ipv4Addr, out: &mut Vec<u8>) {
    for (index, octet) in address.octets().into_iter().enumerate() {
        if index > 0 {
            out.push(b'.');
        }
        out.extend_from_slice(itoa::Buffer::new().format(octet).as_bytes());
    }
}

/// As text where it is text.
fn lossless(bytes: Vec<u8>) -> Value {
    match String::from_utf8(bytes) {
        Ok(text) => Value::String(text.into()),
        Err(error) => Value::Bytes(error.into_bytes().into()),
    }
}

/// The query of the request, where it has one.
fn query<'a>(context: &Context<'a>) -> impl Iterator<Item = &'a str> {
    context.request.query().into_iter()
}

/// Appends values with commas between them. False, and nothing appended, where there are none or one cannot be written.
pub(crate) fn joined<T>(
    values: impl Iterator<Item = T>,
    out: &mut Vec<u8>,
    write: impl Fn(T, &mut Vec<u8>) -> bool,
) -> bool {
    let before = out.len();
    let mut values = values.peekable();
    let mut is_there = values.peek().is_some();
    while let Some(value) = values.next() {
        is_there &= write(value, out);
        if values.peek().is_some() {
            out.push(b',');
        }
    }
    if !is_there {
        out.truncate(before);
    }
    is_there
}

fn write_lines(fields: Fields<'_>, name: &HeaderName, out: &mut Vec<u8>) -> bool {
    // HTTP/2 may cut `Cookie` into lines (RFC 9113 §8.2.3), which a comma would spoil.
    let between: &[u8] = if *name == COOKIE { b"; " } else { b", " };
    let mut lines = fields.all(name);
    let Some(first) = lines.next() else { return false };
    out.extend_from_slice(first);
    for line in lines {
        out.extend_from_slice(between);
        out.extend_from_slice(line);
    }
    true
}

/// The value of a cookie; of several of that name the first, as most servers read it.
fn cookie<'a>(fields: Fields<'a>, name: &str) -> Option<&'a [u8]> {
    fields
        .all(&COOKIE)
        .flat_map(|line| line.split(|byte| *byte == b';'))
        .find_map(|pair| pair.trim_ascii().strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// The value of a parameter, still encoded; of several the first. `?a` is an empty `a`.
fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a [u8]> {
    parameters(query, name).next()
}

/// The values of all parameters of that name, still encoded.
pub(crate) fn parameters<'a>(query: &'a str, name: &str) -> impl Iterator<Item = &'a [u8]> {
    query.as_bytes().split(|byte| *byte == b'&').filter_map(move |pair| {
        let equals = pair.iter().position(|byte| *byte == b'=');
        let (key, value) = equals.map_or((pair, &[][..]), |at| (&pair[..at], &pair[at + 1..]));
        // `&&` holds no parameter, not one without a name.
        (!pair.is_empty() && decode::decoded(key, Coding::Form).eq(name.bytes())).then_some(value)
    })
}

/// The segment that the route calls `name`, still encoded.
fn segment<'a>(path: &'a str, names: &[Option<Box<str>>], name: &str) -> Option<&'a [u8]> {
    let at = names.iter().position(|known| known.as_deref() == Some(name))?;
    path.strip_prefix('/')?.split('/').nth(at).map(str::as_bytes)
}

/// A claim as the interpreter sees it: texts, numbers, `true` and `false`, and short lists of them.
fn claimed(claim: Json) -> Option<Value> {
    match claim {
        Json::Array(elements) if elements.len() <= LONGEST_LIST => {
            Some(Value::List(elements.into_iter().map(single).collect::<Option<Vec<_>>>()?.into()))
        }
        other => single(other),
    }
}

fn single(claim: Json) -> Option<Value> {
    match claim {
        Json::String(text) => Some(Value::String(text.into())),
        Json::Bool(truth) => Some(Value::Bool(truth)),
        Json::Number(number) => number
            .as_i64()
            .map(Value::Int)
            .or_else(|| number.as_u64().map(Value::UInt))
            .or_else(|| number.as_f64().map(Value::Float)),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}
