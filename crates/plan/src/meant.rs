//! Config as meant: a [`Plan`], ready to run. Compiled from a file or a URL; read by every crate above.
//! Nothing in here is parsed again while a request waits, and every default has been filled in.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::Method;

use crate::yaml::fault::Hints;

mod auth;
mod breaker;
mod caching;
mod compose;
mod concurrency;
mod cors;
mod credentials;
mod failures;
mod fault_injection;
mod headers;
mod hedge;
mod hooks;
mod invalidate;
mod layer;
mod learn;
mod limit;
mod origin;
mod protection;
mod queue;
mod read;
mod reading;
mod redis;
mod respond;
mod retry;
mod rewrite;
mod signed;
mod source;
mod sql;
mod timeout;
mod undone;
mod wasm;

pub use auth::*;
pub use breaker::*;
pub use caching::*;
pub use compose::*;
pub use concurrency::*;
pub use cors::*;
pub use credentials::*;
pub use failures::*;
pub use fault_injection::*;
pub use headers::*;
pub use hedge::*;
pub use hooks::*;
pub use invalidate::*;
pub use layer::*;
pub use learn::*;
pub use limit::*;
pub use origin::*;
pub use protection::*;
pub use queue::*;
pub use read::*;
pub use reading::*;
pub use redis::*;
pub use respond::*;
pub use retry::*;
pub use rewrite::*;
pub use signed::*;
pub use source::*;
pub use sql::*;
pub use timeout::*;
pub use undone::*;
pub use wasm::*;

/// Everything a running fleetfoot was told.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Where to listen.
    pub listen: Listen,
    /// What clients may ask of us at most.
    pub limits: Limits,
    /// How many bytes the memory tier may hold: keys, heads and bodies counted.
    pub memory: u64,
    /// In the order of the file. Whatever else names one does so by its [`SourceId`].
    pub sources: Vec<Source>,
    /// The Redis that instances share as a tier of the cache.
    pub tier: Option<SourceId>,
    /// In the order of the file; the most specific match wins.
    pub routes: Vec<Route>,
    /// What wraps calls of steps, each once, in no particular order: [`Step::wrapping`] says which.
    pub wrappings: Vec<Wrapping>,
    /// What is logged about each request.
    pub access_log: AccessLog,
    /// Runtimes to start, one thread each.
    pub cores: usize,
    /// How long requests under way may go on after SIGTERM.
    pub drain: Duration,
    /// How long after SIGTERM new ones are still taken, while `/readyz` says no.
    pub drain_delay: Duration,
    /// Where this fleetfoot is, the first half of `Cache-ID`: letters and digits.
    pub location: String,
    /// The disk tier, behind the memory.
    pub disk: Option<Disk>,
    /// What the file says and hardly anybody means.
    pub hints: Hints,
}

impl Plan {
    /// Every layer that stands around a call, those of routes first.
    pub fn layers(&self) -> impl Iterator<Item = &Layer> {
        let routes = self.routes.iter().map(|route| &route.layers);
        routes.chain(self.wrappings.iter().map(|wrapping| &wrapping.layers)).flat_map(Layers::iter)
    }
}

/// The disk tier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// A folder of its own, made when it is not there.
    pub folder: PathBuf,
    /// Bytes it may take.
    pub bytes: u64,
}

/// Where to listen.
#[derive(Clone, Debug, PartialEq)]
pub struct Listen {
    /// Cleartext HTTP/1.1, and HTTP/2 with prior knowledge.
    pub http: Vec<SocketAddr>,
    /// TLS, with HTTP/1.1 or HTTP/2 by ALPN.
    pub https: Vec<SocketAddr>,
    /// Needed for `https`.
    pub tls: Option<Tls>,
    /// Health, metrics, and control of the cache.
    pub admin: Option<SocketAddr>,
    /// What whoever controls the cache must show. `None`: only this machine may, where `admin` is a loopback address.
    pub admin_token: Option<Token>,
    /// Whether each connection begins with a PROXY protocol header, v1 or v2.
    pub proxy_protocol: bool,
    /// Peers whose `X-Forwarded-*` and `Forwarded` are believed.
    pub trust: Vec<Network>,
}

/// A secret word. Never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// From its text.
    pub fn new(text: String) -> Self {
        Token(text)
    }

    /// The text itself.
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Certificate chain and private key, both PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The chain, leaf first.
    pub certificate: PathBuf,
    /// The private key: PKCS#8, PKCS#1 or SEC1.
    pub key: PathBuf,
}

/// An address range, `10.0.0.0/8` or `fd00::/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// Its first address.
    pub address: std::net::IpAddr,
    /// How many leading bits count.
    pub prefix: u8,
}

/// What clients may ask of us at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a request head; above: 431, or 414 when the request line alone is too long.
    pub head_size: usize,
    /// Fields in a request head; above: 431.
    pub header_count: usize,
    /// Bytes of request content; above: 413.
    pub body_size: u64,
    /// Open client connections over all cores; above: refused and counted.
    pub connections: usize,
    /// From the first byte of a head (or the accept) to its last; above: 408.
    pub header_timeout: Duration,
    /// How long a kept-alive connection may wait for its next request.
    pub idle_timeout: Duration,
    /// How long content may make no progress, in either direction.
    pub body_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            head_size: 32 * 1024,
            header_count: 100,
            body_size: 64 * 1024 * 1024,
            connections: 65_536,
            header_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_mins(1),
        }
    }
}

/// A way from a request to a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Route {
    /// Which requests.
    pub pattern: Pattern,
    /// Where its answers come from.
    pub end: RouteEnd,
    /// What wraps its call, that of its source included. None: straight through, unbuffered.
    pub layers: Layers,
    /// Whether requests must be signed.
    pub signed: Option<Arc<Signed>>,
    /// Who may ask; all of these must be satisfied.
    pub auth: Vec<Arc<Auth>>,
    /// What a successful write makes the cache forget.
    pub invalidate: Vec<Invalidate>,
}

impl Route {
    /// The outermost cache on its way.
    pub fn cache(&self) -> Option<&Arc<CachePolicy>> {
        self.layers.cache()
    }
}

/// Where a route's answers come from.
#[derive(Clone, Debug, PartialEq)]
pub enum RouteEnd {
    /// An origin.
    Proxy(SourceId),
    /// One read.
    Read(Arc<Read>),
    /// Many calls, joined.
    Compose(Arc<Compose>),
    /// The route itself: its innermost layer gives a response to whatever it takes.
    Respond,
}

/// `[METHOD ][host]/path`: which requests a route takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// `None`: any. `GET` takes `HEAD` too.
    pub method: Option<Method>,
    /// `None`: any. `*.example.com` takes every subdomain.
    pub host: Option<String>,
    /// The segments after each slash.
    pub path: Vec<Segment>,
    /// As written, for messages and logs.
    pub text: String,
}

impl Pattern {
    /// What it calls the segments of its path, in order.
    pub fn names(&self) -> Vec<&str> {
        let name = |segment| match segment {
            &Segment::One(Some(ref name)) => Some(name.as_str()),
            _ => None,
        };
        self.path.iter().filter_map(name).collect()
    }
}

/// One part of a path pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// These bytes exactly.
    Literal(String),
    /// `*` or `{name}`: one segment, not empty.
    One(Option<String>),
    /// `**`, only at the end: whatever follows, also nothing.
    Rest,
}

/// What is logged about each request, on standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessLog {
    /// Nothing; metrics still count.
    #[default]
    Off,
    /// A line for people.
    Text,
    /// A JSON object a line.
    Json,
}
