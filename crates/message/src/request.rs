//! Request: what a client asks. Made by the listener, changed by policies, ended by a source.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::Deref;
use std::rc::Rc;

use http::{HeaderMap, Method, Version};

use crate::{Body, Fields, Interim, OnBehalf};

/// `http` or `https`, as the client sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// Without TLS.
    Http,
    /// With TLS.
    Https,
}

impl Scheme {
    /// As in a URL, without the colon.
    pub const fn as_str(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    /// The port a URL of this scheme leaves out.
    pub const fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// The client's address: of the connection, or what the PROXY protocol told.
    pub address: SocketAddr,
    /// Our own address on that connection.
    pub local: SocketAddr,
    /// Whether forwarding headers that this client sends are believed (`trust` in the config).
    pub trusted: bool,
}

impl Client {
    /// No client in particular: what fleetfoot asks of its own accord, or once for many. An origin reads of it
    /// `Forwarded: for=unknown` (RFC 7239 §6.2) and no address, so that an answer which is kept was made for nobody's.
    pub const NOBODY: Client = {
        let unspecified = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
        Client { address: unspecified, local: unspecified, trusted: false }
    };

    /// Its address, an IPv4 one in its own form; `None`: nobody's.
    pub fn ip(&self) -> Option<IpAddr> {
        (!self.is_nobody()).then(|| self.address.ip().to_canonical())
    }

    /// Whether this is [`Client::NOBODY`].
    pub const fn is_nobody(&self) -> bool {
        self.address.ip().is_unspecified()
    }
}

/// A request on its way. Whoever may ask again shares its parts; who changes them copies them first where they are shared.
#[derive(Debug)]
pub struct Request {
    /// What is asked.
    pub parts: Rc<RequestParts>,
    /// The content, which may still be arriving.
    pub body: Body,
    /// Where informational answers go.
    pub interim: Interim,
    /// Whose request it is made for, where that is another one: a step's.
    pub on_behalf: Option<Rc<OnBehalf>>,
}

/// A request without its content: plain data.
#[derive(Clone, Debug)]
pub struct RequestParts {
    /// The method, case as sent.
    pub method: Method,
    /// The scheme of the client's connection.
    pub scheme: Scheme,
    /// Host and port, normalised: lower case, no default port, no trailing dot.
    pub authority: Box<str>,
    /// Path and query byte for byte as sent, so that what we key on is what the origin sees. `*` for `OPTIONS *`.
    pub target: Box<str>,
    /// The version the client spoke.
    pub version: Version,
    /// Header fields; `Host` is not among them, it is `authority`.
    pub fields: HeaderMap,
    /// Who asks.
    pub client: Client,
}

impl Request {
    /// Without content, for nobody else, and with informational answers going nowhere.
    pub fn new(parts: RequestParts) -> Self {
        let (body, interim) = (Body::Empty, Interim::default());
        Request { parts: Rc::new(parts), body, interim, on_behalf: None }
    }

    /// Its parts, to be changed.
    pub fn parts_mut(&mut self) -> &mut RequestParts {
        Rc::make_mut(&mut self.parts)
    }

    /// The same without content and with informational answers going nowhere: for refreshing in the background.
    #[must_use]
    pub fn head_only(&self) -> Request {
        self.with(Body::Empty, Interim::default())
    }

    /// The same request once more, with its content where that is whole: for asking again, or in the background.
    #[must_use]
    pub fn again(&self) -> Request {
        let body = match &self.body {
            Body::Whole(content) => Body::Whole(content.clone()),
            Body::Empty | Body::Stream(_) | Body::Tunnel(_) => Body::Empty,
        };
        self.with(body, Interim::default())
    }

    /// The same with this content, whose interim answers go there.
    pub(crate) fn with(&self, body: Body, interim: Interim) -> Request {
        let (parts, on_behalf) = (Rc::clone(&self.parts), self.on_behalf.clone());
        Request { parts, body, interim, on_behalf }
    }
}

impl Deref for Request {
    type Target = RequestParts;

    fn deref(&self) -> &RequestParts {
        &self.parts
    }
}

impl RequestParts {
    /// As whoever decides reads it.
    pub fn view(&self) -> RequestView<'_> {
        RequestView {
            method: &self.method,
            scheme: self.scheme,
            authority: &self.authority,
            target: &self.target,
            fields: Fields::Map(&self.fields),
            client: self.client.ip(),
        }
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        self.view().path()
    }
}

/// A request's parts, borrowed: all that routing and the cache's first look need.
#[derive(Clone, Copy, Debug)]
pub struct RequestView<'a> {
    /// See [`RequestParts::method`].
    pub method: &'a Method,
    /// See [`RequestParts::scheme`].
    pub scheme: Scheme,
    /// See [`RequestParts::authority`].
    pub authority: &'a str,
    /// See [`RequestParts::target`].
    pub target: &'a str,
    /// The header fields.
    pub fields: Fields<'a>,
    /// The address of the client; `None`: nobody in particular asks.
    pub client: Option<IpAddr>,
}

impl<'a> RequestView<'a> {
    /// Whether it only reads (RFC 9110 §9.2.1; QUERY: RFC 10008).
    pub fn is_safe(&self) -> bool {
        self.method.is_safe() || self.method.as_str() == "QUERY"
    }

    /// Whether asking twice changes no more than asking once (RFC 9110 §9.2.2; QUERY: RFC 10008).
    pub fn is_idempotent(&self) -> bool {
        self.method.is_idempotent() || self.method.as_str() == "QUERY"
    }

    /// The path, without the query.
    pub fn path(&self) -> &'a str {
        self.target.split_once('?').map_or(self.target, |(path, _)| path)
    }

    /// The query, without the question mark.
    pub fn query(&self) -> Option<&'a str> {
        self.target.split_once('?').map(|(_, query)| query)
    }

    /// The host, without the port.
    pub fn host(&self) -> &'a str {
        match self.authority.rfind(':') {
            Some(colon) if !self.authority[colon..].contains(']') => &self.authority[..colon],
            _ => self.authority,
        }
    }
}
