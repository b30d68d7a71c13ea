//! Listen: the sections `listen` and `limits` → [`Listen`], [`Limits`]. Called by `check`.

mod network;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use crate::default;
use crate::meant::{Limits, Listen, Tls};
use crate::source::url;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::Node;
use crate::yaml::unit;
use crate::yaml::value;
use crate::{schema, secret};

/// Where clients come in.
pub(crate) fn listen(node: Option<Node<'_>>, folder: &Path, report: &mut Report) -> Listen {
    let mut listen = default::listen();
    let Some(section) = node.and_then(|node| Section::open(node, &schema::LISTEN, report)) else {
        return listen;
    };
    let mut taken = Vec::new();
    if let Some(node) = section.get("http") {
        listen.http = addresses(node, &mut taken, report);
    } else if section.get("https").is_some() {
        listen.http = Vec::new();
    }
    if let Some(node) = section.get("https") {
        listen.https = addresses(node, &mut taken, report);
        if section.get("tls").is_none() {
            report.at_key(
                node,
                "`https` needs a certificate",
                format!("add `{}`", schema::LISTEN_TLS.example),
            );
        }
    }
    listen.admin = section.get("admin").and_then(|node| address(node, &mut taken, report));
    if let Some(node) = section.get("admin_token") {
        listen.admin_token = secret::token(node, folder, report);
        if section.get("admin").is_none() {
            report.at_key(
                node,
                "`admin_token` has no effect: there is no admin port",
                "add `admin: 127.0.0.1:9090`, or take the token out",
            );
        }
    }
    listen.tls = section.get("tls").and_then(|node| tls(node, folder, report));
    section.set("proxy_protocol", &mut listen.proxy_protocol, report, value::switch);
    if let Some(node) = section.get("trust") {
        listen.trust = value::distinct(node, report, |node, report| value::parsed(node, report, str::parse));
    }
    listen
}

/// What clients may ask for at most.
pub(crate) fn limits(node: Option<Node<'_>>, report: &mut Report) -> Limits {
    let mut limits = Limits::default();
    let Some(section) = node.and_then(|node| Section::open(node, &schema::LIMITS, report)) else {
        return limits;
    };
    section.set("head_size", &mut limits.head_size, report, |node, report| {
        Some(value::size(node, "256B", "1MiB", report)? as usize)
    });
    section.set("header_count", &mut limits.header_count, report, |node, report| {
        Some(value::number(node, 1..=10_000, report)? as usize)
    });
    section.set("body_size", &mut limits.body_size, report, |node, report| {
        value::size(node, "0B", "1024TiB", report)
    });
    section.set("connections", &mut limits.connections, report, |node, report| {
        Some(value::number(node, 1..=10_000_000, report)? as usize)
    });
    section.set("header_timeout", &mut limits.header_timeout, report, value::timeout);
    section.set("idle_timeout", &mut limits.idle_timeout, report, value::timeout);
    section.set("body_timeout", &mut limits.body_timeout, report, value::timeout);
    limits
}

fn tls(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<Tls> {
    let section = Section::open(node, &schema::LISTEN_TLS, report)?;
    let certificate = section.need("certificate", report).and_then(|node| value::file(node, folder, report));
    let key = section.need("key", report).and_then(|node| value::file(node, folder, report));
    Some(Tls { certificate: certificate?, key: key? })
}

/// An address that is taken, and who took it.
type Taken<'t> = (SocketAddr, Node<'t>);

fn addresses<'t>(node: Node<'t>, taken: &mut Vec<Taken<'t>>, report: &mut Report) -> Vec<SocketAddr> {
    const MOST: usize = 100;
    let items = value::one_or_more(node, report);
    if items.len() > MOST {
        report.at(node, format!("{} addresses are too many", items.len()), format!("write at most {MOST}"));
    }
    items.into_iter().take(MOST).filter_map(|node| address(node, taken, report)).collect()
}

fn address<'t>(node: Node<'t>, taken: &mut Vec<Taken<'t>>, report: &mut Report) -> Option<SocketAddr> {
    let address = value::parsed(node, report, socket_address)?;
    if let Some((other, by)) = taken.iter().find(|(other, _)| overlap(*other, address)) {
        let cause = format!("`{address}` and `{other}` of `{}` are the same place", by.path());
        report.at(node, cause, "give each its own port or address");
    }
    taken.push((address, node));
    Some(address)
}

/// Whether a client of one could end up at the other. Port 0 never: the system chooses another each time.
fn overlap(one: SocketAddr, other: SocketAddr) -> bool {
    one.port() == other.port()
        && one.port() != 0
        && one.is_ipv4() == other.is_ipv4()
        && (one.ip() == other.ip() || one.ip().is_unspecified() || other.ip().is_unspecified())
}

/// Reads where to listen: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, `:8080`, `8080`.
///
/// # Errors
/// What is wrong with it, and what to write instead.
pub fn socket_address(text: &str) -> Result<SocketAddr, Reason> {
    let every = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    if unit::number(text).is_some() {
        return Ok(SocketAddr::new(every, url::port(text)?));
    }
    if let Some(port) = text.strip_prefix(':').or_else(|| text.strip_prefix("*:"))
        && !port.contains(':')
    {
        return Ok(SocketAddr::new(every, url::port(port)?));
    }
    let wrong = |cause: &str, remedy: String| Err(Reason::new(format!("{} {cause}", quoted(text)), remedy));
    if text.contains("://") || text.contains('/') {
        return wrong("is not an address", "write address and port alone, like `127.0.0.1:8080`".to_owned());
    }
    if let Ok(address) = text.trim_matches(['[', ']']).parse::<IpAddr>() {
        return wrong(
            "has no port",
            format!("write {}", quoted(&SocketAddr::new(address, 8080).to_string())),
        );
    }
    let (host, port) = match url::host_and_port(text) {
        Ok((host, Some(port))) => (host, port),
        Ok((_, None)) => {
            return wrong("has no port", "write address and port, like `127.0.0.1:8080`".to_owned());
        }
        Err(reason) => return wrong(&format!("is not an address: {}", reason.cause), reason.remedy),
    };
    match host.parse::<IpAddr>() {
        Ok(address) => Ok(SocketAddr::new(address, port)),
        Err(_) if host == "localhost" => Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)),
        Err(_) => wrong(
            "has a name where an address must stand",
            format!(
                "write an address of this machine, like `127.0.0.1:{port}`, or `:{port}` for all of them"
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_addresses() {
        for (text, address) in [
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("[::1]:80", "[::1]:80"),
            ("[::]:80", "[::]:80"),
            (":8080", "0.0.0.0:8080"),
            ("*:8080", "0.0.0.0:8080"),
            ("8080", "0.0.0.0:8080"),
            ("localhost:0", "127.0.0.1:0"),
        ] {
            assert_eq!(socket_address(text), Ok(address.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn explains_what_is_wrong() {
        for (text, cause, remedy) in [
            ("127.0.0.1", "`127.0.0.1` has no port", "write `127.0.0.1:8080`"),
            ("::1", "`::1` has no port", "write `[::1]:8080`"),
            ("[::1]", "`[::1]` has no port", "write `[::1]:8080`"),
            ("example.com", "`example.com` has no port", "write address and port, like `127.0.0.1:8080`"),
            (
                "example.com:80",
                "`example.com:80` has a name where an address must stand",
                "write an address of this machine, like `127.0.0.1:80`, or `:80` for all of them",
            ),
            (
                "http://127.0.0.1:80",
                "`http://127.0.0.1:80` is not an address",
                "write address and port alone, like `127.0.0.1:8080`",
            ),
            ("65536", "`65536` is not a port", "write a number from 1 to 65535 after the colon"),
            (":x", "`x` is not a port", "write a number from 1 to 65535 after the colon"),
            (
                "",
                "`` is not an address: the host is missing",
                "write a host name or an address, like `127.0.0.1`",
            ),
        ] {
            assert_eq!(socket_address(text), Err(Reason::new(cause, remedy)), "{text}");
        }
    }

    #[test]
    fn knows_what_overlaps() {
        let overlap = |one: &str, other: &str| overlap(one.parse().unwrap(), other.parse().unwrap());
        assert!(overlap("0.0.0.0:80", "127.0.0.1:80"));
        assert!(overlap("127.0.0.1:80", "127.0.0.1:80"));
        assert!(!overlap("127.0.0.1:0", "127.0.0.1:0"));
        assert!(!overlap("127.0.0.1:80", "127.0.0.2:80"));
        assert!(!overlap("[::]:80", "0.0.0.0:80"));
    }
}
