//! Origin: a source over HTTP as meant: its targets, and how they are spoken to. Made by `source::http`, run by the crate `source`.

use std::path::PathBuf;
use std::time::Duration;

use http::Method;
use message::Scheme;

/// An origin: one or more targets that give the same answers.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpSource {
    /// Its name in the file.
    pub name: String,
    /// At least one.
    pub targets: Vec<Target>,
    /// What to speak to them.
    pub protocol: Protocol,
    /// What goes into `Host`.
    pub host: HostField,
    /// How a target is chosen.
    pub balance: Balance,
    /// How to find out whether a target works; `None`: only from the requests themselves.
    pub health: Option<Health>,
    /// Whether TLS certificates are verified. True unless somebody wrote otherwise.
    pub verify: bool,
    /// A PEM file of certificate authorities to trust instead of the system's.
    pub authorities: Option<PathBuf>,
    /// Timeouts per phase.
    pub timeouts: Timeouts,
    /// Idle connections kept per core and target.
    pub idle_connections: usize,
    /// How old a connection may become before it is used no more.
    pub connection_age: Duration,
    /// Open connections per core and target; above: wait, then 503. Zero: no limit.
    pub connections: usize,
}

impl HttpSource {
    /// Hosts, with their ports, that it may take itself for: where it is asked, and what it is told to be.
    pub fn hosts(&self) -> Vec<String> {
        let told = match &self.host {
            HostField::Fixed(host) => Some(host.clone()),
            HostField::Auto | HostField::Client | HostField::Target => None,
        };
        self.targets.iter().map(Target::authority).chain(told).collect()
    }
}

/// One server of a source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Whether to use TLS.
    pub scheme: Scheme,
    /// Name or address, without brackets.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

impl Target {
    /// As it would stand in `Host`.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == self.scheme.default_port() { host } else { format!("{host}:{}", self.port) }
    }

    /// Whether it is on this machine, so that nobody stands on the way.
    pub fn is_loopback(&self) -> bool {
        let address = self.host.parse::<std::net::IpAddr>();
        self.host == "localhost" || address.is_ok_and(|address| address.to_canonical().is_loopback())
    }
}

/// What to speak to an origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1 in cleartext; over TLS whatever ALPN chooses.
    #[default]
    Auto,
    /// HTTP/1.1 always.
    Http1,
    /// HTTP/2 always; in cleartext with prior knowledge. What gRPC needs.
    Http2,
}

/// What goes into `Host` on the way to an origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HostField {
    /// The client's host for `http` targets, the target's own for `https` ones, which rarely know another.
    #[default]
    Auto,
    /// Always the client's.
    Client,
    /// Always the target's.
    Target,
    /// Always this one.
    Fixed(String),
}

/// How a target is chosen among the healthy ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Balance {
    /// One after another.
    #[default]
    RoundRobin,
    /// The better of two random ones by requests under way.
    LeastRequests,
}

/// Active health checks, and when a target counts as down.
#[derive(Clone, Debug, PartialEq)]
pub struct Health {
    /// `GET` or `HEAD`.
    pub method: Method,
    /// Path and query.
    pub target: String,
    /// Between two checks of one target.
    pub interval: Duration,
    /// A check that takes longer has failed.
    pub timeout: Duration,
    /// Failed checks in a row that take a target out.
    pub unhealthy_after: u32,
    /// Passed checks in a row that bring it back.
    pub healthy_after: u32,
}

/// Timeouts on the way to an origin; each failure says which phase it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// DNS, TCP and TLS together.
    pub connect: Duration,
    /// From the request's last byte to the answer's head.
    pub head: Duration,
    /// Between two pieces of the answer's (or the request's) content.
    pub body: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            connect: Duration::from_secs(5),
            head: Duration::from_mins(1),
            body: Duration::from_mins(1),
        }
    }
}
