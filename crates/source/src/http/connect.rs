//! Connect: a target → a transport that speaks HTTP/1.1 or HTTP/2. Name, TCP and TLS under one timeout; what fails
//! says which of the three it was, and counts against the target's health.

use std::cell::Cell;
use std::net::SocketAddr;
use std::pin::Pin;

use message::{Clock, Error, Kind, Result, Retry, Scheme, Side, open_files};
use plan::Protocol;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use super::dial::dial;
use super::shared_origin::{SharedOrigin, Target};
use super::tether::Tether;
use super::transport::Transport;

/// A fresh connection.
pub(super) struct Connected {
    pub(super) transport: Transport,
    pub(super) tether: Tether,
    /// HTTP/2, or else HTTP/1.1.
    pub(super) is_http2: bool,
}

/// A connection in the making.
type Connecting<'c> = Pin<Box<dyn Future<Output = Result<Connected>> + 'c>>;

/// Connects. `only_http1` for connections that are to leave HTTP. Every failure of the target's may be
/// retried: nothing was sent.
///
/// Boxed here: requests that find a connection do not carry the memory of making one about, and DNS and TLS are compiled
/// in this crate rather than in each that asks an origin.
pub(super) fn connect<'c>(shared: &'c SharedOrigin, target: &'c Target, only_http1: bool) -> Connecting<'c> {
    Box::pin(within_limit(shared, target, only_http1))
}

async fn within_limit(shared: &SharedOrigin, target: &Target, only_http1: bool) -> Result<Connected> {
    let phase = Cell::new("resolving the name");
    let limit = shared.plan.timeouts.connect;
    let timed = tokio::time::timeout(limit, steps(shared, target, only_http1, &phase)).await;
    let result = timed.unwrap_or_else(|_| {
        let detail = format!("{}: {} took longer than {limit:?}", target.name, phase.get());
        Err(Error::new(Kind::ConnectTimeout, detail))
    });
    match result {
        Ok(connected) => {
            target.health.connected();
            Ok(connected)
        }
        // Ours: another target would fare no better, and this one is not to be blamed.
        Err(error) if error.side() == Side::Us => Err(error),
        Err(error) => {
            if let Some(rest) = target.health.connect_failed(Clock::now()) {
                tracing::warn!(source = shared.plan.name, %error, ?rest, "no connection; passing the target over");
            }
            Err(error.retry(Retry::Always))
        }
    }
}

async fn steps(
    shared: &SharedOrigin,
    target: &Target,
    only_http1: bool,
    phase: &Cell<&'static str>,
) -> Result<Connected> {
    let addresses = target.addresses.addresses().await?;
    phase.set("connecting");
    let port = target.plan.port;
    let tcp =
        dial(addresses.iter().map(|&address| SocketAddr::new(address, port))).await.map_err(|error| {
            let (kind, what) = if open_files::are_exhausted(&error) {
                (Kind::Overloaded, "nothing is left here to make a connection of")
            } else {
                (Kind::Connect, "no connection could be made")
            };
            Error::new(kind, format!("{}: {what}", target.name)).caused_by(error)
        })?;
    let address = tcp.peer_addr().map_or(std::net::Ipv4Addr::UNSPECIFIED.into(), |address| address.ip());
    let tether = Tether::new(&target.addresses, address, shared.plan.connection_age);
    // Heads and small bodies are written in one piece; waiting for more would only delay them.
    let _slower_without = tcp.set_nodelay(true);
    let protocol = shared.plan.protocol;
    match target.plan.scheme {
        Scheme::Http => Ok(Connected {
            transport: Transport::Plain(tcp),
            tether,
            is_http2: protocol == Protocol::Http2 && !only_http1,
        }),
        Scheme::Https => {
            phase.set("the TLS handshake");
            let tls = handshake(shared, target, only_http1, tcp).await?;
            let is_http2 = tls.get_ref().1.alpn_protocol() == Some(b"h2");
            if protocol == Protocol::Http2 && !is_http2 && !only_http1 {
                let detail = format!("{}: the origin does not speak HTTP/2", target.name);
                return Err(Error::new(Kind::Connect, detail));
            }
            Ok(Connected { transport: Transport::Tls(Box::new(tls)), tether, is_http2 })
        }
    }
}

async fn handshake(
    shared: &SharedOrigin,
    target: &Target,
    only_http1: bool,
    tcp: TcpStream,
) -> Result<TlsStream<TcpStream>> {
    let tls = shared.tls.as_ref().expect("made for every source that has an https target");
    let host = target.plan.host.trim_end_matches('.').to_owned();
    let name = ServerName::try_from(host).map_err(|error| {
        Error::new(Kind::Connect, format!("{}: TLS needs a host name", target.name)).caused_by(error)
    })?;
    tls.connector(only_http1).connect(name, tcp).await.map_err(|error| {
        Error::new(Kind::Connect, format!("{}: the TLS handshake failed", target.name)).caused_by(error)
    })
}
