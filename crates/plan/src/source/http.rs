//! Http: a source over HTTP → [`HttpSource`]. Called by `source` for each.

use std::path::Path;
use std::time::Duration;

use http::Method;
use message::Scheme;

use crate::meant::{Balance, Health, HostField, HttpSource, Protocol, Timeouts};
use crate::source::url;
use crate::yaml::fault::{Reason, Report, quoted};
use crate::yaml::section::Section;
use crate::yaml::tree::{Node, Shape};
use crate::yaml::value;
use crate::{schema, up};
use expression::nearest;

/// Reads a source: a URL alone, or its section. `None` when a fault left no server.
pub(crate) fn source(node: Node<'_>, folder: &Path, report: &mut Report) -> Option<HttpSource> {
    if let Shape::Text(_) = node.shape() {
        let target = value::parsed(node, report, url::target)?;
        return Some(up::source(node.key(), vec![target]));
    }
    let section = Section::open(node, &schema::SOURCE, report)?;
    let targets = section
        .need("http", report)
        .map(|node| value::distinct(node, report, |node, report| value::parsed(node, report, url::target)));
    let mut source = up::source(node.key(), targets.unwrap_or_default());
    section.set("protocol", &mut source.protocol, report, |node, report| {
        let words = [("auto", Protocol::Auto), ("http1", Protocol::Http1), ("http2", Protocol::Http2)];
        value::choice(node, &words, report)
    });
    section.set("host", &mut source.host, report, |node, report| value::parsed(node, report, host));
    section.set("balance", &mut source.balance, report, |node, report| {
        let words = [("round_robin", Balance::RoundRobin), ("least_requests", Balance::LeastRequests)];
        value::choice(node, &words, report)
    });
    source.health = section.get("health").and_then(|node| health(node, report));
    section.set("timeout", &mut source.timeouts, report, timeouts);
    section.set("connections", &mut source.connections, report, |node, report| {
        Some(value::number(node, 0..=1_000_000, report)? as usize)
    });
    section.set("idle_connections", &mut source.idle_connections, report, |node, report| {
        Some(value::number(node, 0..=1_000_000, report)? as usize)
    });
    section.set("connection_age", &mut source.connection_age, report, value::duration);
    if let Some(node) = section.get("tls") {
        tls(node, &mut source, folder, report);
    }
    (!source.targets.is_empty()).then_some(source)
}

/// Reads how the servers of a source are verified.
pub(crate) fn tls(node: Node<'_>, source: &mut HttpSource, folder: &Path, report: &mut Report) {
    let Some(section) = Section::open(node, &schema::SOURCE_TLS, report) else { return };
    section.set("verify", &mut source.verify, report, value::switch);
    source.authorities = section.get("authorities").and_then(|node| value::file(node, folder, report));
    if !source.verify && section.get("authorities").is_some() {
        report.at(
            node,
            "`authorities` are named and nothing is verified",
            "take `verify: false` out, or the authorities",
        );
    }
    if !source.targets.is_empty() && source.targets.iter().all(|target| target.scheme == Scheme::Http) {
        report.at_key(
            node,
            "`tls` has no effect: every server is at `http`",
            "write `https://` in the URLs, or take `tls` out",
        );
    }
}

/// `auto`, `client`, `target`, or what to send.
fn host(text: &str) -> Result<HostField, Reason> {
    const WORDS: [&str; 3] = ["auto", "client", "target"];
    match text {
        "auto" => return Ok(HostField::Auto),
        "client" => return Ok(HostField::Client),
        "target" => return Ok(HostField::Target),
        _ => {}
    }
    let misspelt = nearest(text, WORDS).filter(|_| !text.contains(['.', ':']));
    if let Some(meant) = misspelt {
        let remedy = format!("write `{meant}`; a host with such a name needs its port too");
        return Err(Reason::new(format!("{} looks like `{meant}`", quoted(text)), remedy));
    }
    let (name, port) = url::host_and_port(text).map_err(|reason| {
        Reason::new(format!("{} is no host: {}", quoted(text), reason.cause), reason.remedy)
    })?;
    let name = if name.contains(':') { format!("[{name}]") } else { name };
    Ok(HostField::Fixed(port.map_or_else(|| name.clone(), |port| format!("{name}:{port}"))))
}

fn timeouts(node: Node<'_>, report: &mut Report) -> Option<Timeouts> {
    let mut timeouts = Timeouts::default();
    if let Shape::Text(_) = node.shape() {
        timeouts.head = value::timeout(node, report)?;
        return Some(timeouts);
    }
    let section = Section::open(node, &schema::SOURCE_TIMEOUT, report)?;
    section.set("connect", &mut timeouts.connect, report, value::timeout);
    section.set("head", &mut timeouts.head, report, value::timeout);
    section.set("body", &mut timeouts.body, report, value::timeout);
    Some(timeouts)
}

fn health(node: Node<'_>, report: &mut Report) -> Option<Health> {
    let mut health = Health {
        method: Method::GET,
        target: "/".to_owned(),
        interval: Duration::from_secs(5),
        timeout: Duration::from_secs(2),
        unhealthy_after: 3,
        healthy_after: 2,
    };
    if let Shape::Text(_) = node.shape() {
        (health.method, health.target) = value::parsed(node, report, check)?;
        return Some(health);
    }
    let section = Section::open(node, &schema::SOURCE_HEALTH, report)?;
    if let Some(asked) = section.need("check", report).and_then(|node| value::parsed(node, report, check)) {
        (health.method, health.target) = asked;
    }
    section.set("interval", &mut health.interval, report, value::timeout);
    section.set("timeout", &mut health.timeout, report, value::timeout);
    section.set("unhealthy_after", &mut health.unhealthy_after, report, |node, report| {
        Some(value::number(node, 1..=1000, report)? as u32)
    });
    section.set("healthy_after", &mut health.healthy_after, report, |node, report| {
        Some(value::number(node, 1..=1000, report)? as u32)
    });
    Some(health)
}

/// `GET /healthz`.
fn check(text: &str) -> Result<(Method, String), Reason> {
    let wrong = |cause: &str, remedy: String| Err(Reason::new(format!("{} {cause}", quoted(text)), remedy));
    let Some((method, target)) = text.split_once(' ') else {
        let target = if text.starts_with('/') { text } else { "/healthz" };
        return wrong("has no method and path", format!("write {}", quoted(&format!("GET {target}"))));
    };
    let method = match method {
        "GET" => Method::GET,
        "HEAD" => Method::HEAD,
        _ => {
            return wrong(
                "has a method that checks nothing",
                format!("write {}", quoted(&format!("GET {}", target.trim()))),
            );
        }
    };
    if !target.starts_with('/') {
        return wrong("has no path", format!("write one behind the method, like `{method} /healthz`"));
    }
    if !target.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return wrong(
            "has a character that does not stand in a path",
            "write it percent-encoded: a space is `%20`".to_owned(),
        );
    }
    Ok((method, target.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_host_fields() {
        assert_eq!(host("client"), Ok(HostField::Client));
        assert_eq!(host("API.example.com:81"), Ok(HostField::Fixed("api.example.com:81".into())));
        assert_eq!(host("[::1]:81"), Ok(HostField::Fixed("[::1]:81".into())));
        assert_eq!(host("backend"), Ok(HostField::Fixed("backend".into())));
        assert_eq!(host("cleint").unwrap_err().cause, "`cleint` looks like `client`");
        assert!(host("a b").is_err());
        assert!(host("").is_err());
    }

    #[test]
    fn reads_checks() {
        assert_eq!(check("GET /healthz?deep=1"), Ok((Method::GET, "/healthz?deep=1".into())));
        assert_eq!(check("HEAD /"), Ok((Method::HEAD, "/".into())));
        for (text, remedy) in [
            ("/healthz", "write `GET /healthz`"),
            ("up", "write `GET /healthz`"),
            ("POST /x", "write `GET /x`"),
            ("get /x", "write `GET /x`"),
            ("GET healthz", "write one behind the method, like `GET /healthz`"),
            ("GET /a b", "write it percent-encoded: a space is `%20`"),
            ("GET /a\r\nHost: x", "write it percent-encoded: a space is `%20`"),
        ] {
            assert_eq!(check(text).unwrap_err().remedy, remedy, "{text}");
        }
    }
}
