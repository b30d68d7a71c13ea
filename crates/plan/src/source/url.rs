//! URL: `https://api.example.com:8443` → [`Target`]. In comes the URL of an origin, out goes what to connect to or a
//! reason in plain words. Called for every source and by `up`.

use std::net::{Ipv4Addr, Ipv6Addr};

use message::Scheme;

use crate::meant::Target;
use crate::yaml::fault::{Reason, quoted};
use expression::nearest;

/// Reads the URL of an origin: scheme, host, perhaps a port, and nothing behind it.
pub(crate) fn target(url: &str) -> Result<Target, Reason> {
    // From here on no message can repeat a password.
    if let Some(bare) = without_user(url) {
        bare_target(&bare)?;
        return Err(Reason::new(
            "the URL contains a user name or password",
            format!("write {}", quoted(&bare)),
        ));
    }
    bare_target(url)
}

/// Reads the URL of something that we ask for ourselves: a server, and the path and query of what is there.
pub(crate) fn document(url: &str) -> Result<(Target, String), Reason> {
    let start = url.find("://").map_or(0, |scheme| scheme + 3);
    let path = url[start..].find(['/', '?', '#']).map_or(url.len(), |path| start + path);
    let (server, path) = url.split_at(path);
    let server = target(server)?;
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    if !path.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'#' | b'"' | b'\\')) {
        return Err(Reason::new(
            format!("the path in {} has a character that does not stand in one", quoted(url)),
            "write it percent-encoded, and nothing from `#` on",
        ));
    }
    Ok((server, path))
}

/// The URL without what stands before an `@` in it; `None` when nothing does.
fn without_user(url: &str) -> Option<String> {
    let start = url.find("://").map_or(0, |scheme| scheme + 3);
    let end = url[start..].rfind('@')? + start + 1;
    Some(format!("{}{}", &url[..start], &url[end..]))
}

/// Reads a URL that has no user.
fn bare_target(url: &str) -> Result<Target, Reason> {
    if let Some(odd) = url.chars().find(|c| c.is_whitespace() || c.is_control()) {
        return Err(Reason::new(
            format!("{} contains {}", quoted(url), odd.escape_unicode()),
            "write the URL without spaces and control characters",
        ));
    }
    let (scheme, rest) = scheme(url)?;
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, behind) = rest.split_at(end);
    if !matches!(behind, "" | "/") {
        let short = quoted(&format!("{}://{authority}", scheme.as_str()));
        return Err(Reason::new(
            format!("{} goes on behind the host", quoted(url)),
            format!("write {short}: the origin gets the path of each request as it is"),
        ));
    }
    let (host, port) = host_and_port(authority)
        .map_err(|reason| Reason::new(format!("{}: {}", quoted(url), reason.cause), reason.remedy))?;
    if port == Some(0) {
        return Err(Reason::new(
            format!("{}: nothing can listen on port 0", quoted(url)),
            "write the port that the origin listens on",
        ));
    }
    Ok(Target { scheme, host, port: port.unwrap_or(scheme.default_port()) })
}

/// Splits off the scheme.
fn scheme(url: &str) -> Result<(Scheme, &str), Reason> {
    let Some((scheme, rest)) = url.split_once("://") else {
        let remedy = match url.split_once([':', '/', '?', '#']) {
            _ if url.is_empty() => "write a URL like `http://127.0.0.1:3000`".to_owned(),
            Some(("http" | "https", rest)) => {
                format!("write two slashes behind the colon: `http://{}`", rest.trim_start_matches('/'))
            }
            _ if url.trim_start_matches(':').bytes().all(|byte| byte.is_ascii_digit()) => {
                format!("write `http://localhost:{}`", url.trim_start_matches(':'))
            }
            _ => format!("write {}, or the same with `https`", quoted(&format!("http://{url}"))),
        };
        return Err(Reason::new(format!("{} has no scheme", quoted(url)), remedy));
    };
    match scheme.to_ascii_lowercase().as_str() {
        "http" => Ok((Scheme::Http, rest)),
        "https" => Ok((Scheme::Https, rest)),
        other => {
            let meant = match other {
                "ws" | "h2c" | "tcp" | "grpc" => "http",
                "wss" | "h2" | "tls" | "ssl" | "grpcs" => "https",
                other => nearest(other, ["http", "https"]).unwrap_or("http"),
            };
            Err(Reason::new(
                format!("{} has the unknown scheme {}", quoted(url), quoted(scheme)),
                format!("write {}: only `http` and `https` are known", quoted(&format!("{meant}://{rest}"))),
            ))
        }
    }
}

/// Reads `host`, `host:port`, `1.2.3.4:port`, `[::1]:port`. The host comes back in lower case and without brackets.
pub(crate) fn host_and_port(text: &str) -> Result<(String, Option<u16>), Reason> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((address, "")) => (address, None),
            Some((address, port)) if port.starts_with(':') => (address, Some(&port[1..])),
            _ => {
                return Err(Reason::new(
                    "the brackets do not close",
                    "write an IPv6 address like `[::1]:3000`",
                ));
            }
        },
        None if text.matches(':').count() > 1 => {
            return Err(Reason::new(
                "an IPv6 address needs brackets",
                format!("write it like `[::1]:3000`, here perhaps `[{}]`", short(text)),
            ));
        }
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let port = port.map(self::port).transpose()?;
    if text.starts_with('[') {
        let Ok(address) = host.parse::<Ipv6Addr>() else {
            return Err(Reason::new(
                format!("{} is not an IPv6 address", quoted(host)),
                "write an IPv6 address between the brackets, like `[::1]`",
            ));
        };
        return Ok((address.to_string(), port));
    }
    Ok((name(host)?, port))
}

/// Reads a port, digits only.
pub(crate) fn port(digits: &str) -> Result<u16, Reason> {
    crate::yaml::unit::number(digits).and_then(|port| u16::try_from(port).ok()).ok_or_else(|| {
        Reason::new(
            format!("{} is not a port", quoted(digits)),
            "write a number from 1 to 65535 after the colon",
        )
    })
}

/// Checks a host name (RFC 1123, and `_`, which container networks use) or an IPv4 address, and puts it in lower case.
/// One trailing dot is dropped: TLS and `Host` do not carry it.
pub(crate) fn name(host: &str) -> Result<String, Reason> {
    let wrong = |cause: &str, remedy: &str| Err(Reason::new(format!("{} {cause}", quoted(host)), remedy));
    let bare = host.strip_suffix('.').unwrap_or(host);
    if bare.is_empty() {
        return Err(Reason::new("the host is missing", "write a host name or an address, like `127.0.0.1`"));
    }
    if !bare.is_ascii() {
        return wrong("is not an ASCII host name", "write its ASCII form, which begins with `xn--`");
    }
    let label_fits = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if bare.len() > 253 || !bare.split('.').all(label_fits) {
        return wrong("is not a host name", "write letters, digits, `-` and dots, like `api.example.com`");
    }
    // Names do not end in a number (RFC 1123 §2.1), so this was meant as an address.
    let last = bare.rsplit('.').next().unwrap_or(bare);
    if last.bytes().all(|b| b.is_ascii_digit()) && bare.parse::<Ipv4Addr>().is_err() {
        return wrong("is not an IPv4 address", "write four numbers from 0 to 255, like `127.0.0.1`");
    }
    Ok(bare.to_ascii_lowercase())
}

/// The beginning of a text, for a remedy.
fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_targets() {
        for (url, scheme, host, port, authority) in [
            ("http://localhost:3000", Scheme::Http, "localhost", 3000, "localhost:3000"),
            ("http://localhost:3000/", Scheme::Http, "localhost", 3000, "localhost:3000"),
            ("HTTPS://API.Example.com.", Scheme::Https, "api.example.com", 443, "api.example.com"),
            ("http://10.0.0.1", Scheme::Http, "10.0.0.1", 80, "10.0.0.1"),
            ("http://[::1]:8080", Scheme::Http, "::1", 8080, "[::1]:8080"),
            ("https://[2001:DB8:0::1]", Scheme::Https, "2001:db8::1", 443, "[2001:db8::1]"),
            ("http://my_service-1:81", Scheme::Http, "my_service-1", 81, "my_service-1:81"),
        ] {
            let target = target(url).unwrap_or_else(|reason| panic!("{url}: {reason}"));
            assert_eq!((target.scheme, target.host.as_str(), target.port), (scheme, host, port), "{url}");
            assert_eq!(target.authority(), authority);
        }
    }

    #[test]
    fn explains_what_is_wrong() {
        for (url, cause, remedy) in [
            ("", "`` has no scheme", "write a URL like `http://127.0.0.1:3000`"),
            ("3000", "`3000` has no scheme", "write `http://localhost:3000`"),
            (":3000", "`:3000` has no scheme", "write `http://localhost:3000`"),
            (
                "localhost:3000",
                "`localhost:3000` has no scheme",
                "write `http://localhost:3000`, or the same with `https`",
            ),
            (
                "example.com",
                "`example.com` has no scheme",
                "write `http://example.com`, or the same with `https`",
            ),
            ("http:/x", "`http:/x` has no scheme", "write two slashes behind the colon: `http://x`"),
            (
                "ftp://x",
                "`ftp://x` has the unknown scheme `ftp`",
                "write `http://x`: only `http` and `https` are known",
            ),
            (
                "wss://x",
                "`wss://x` has the unknown scheme `wss`",
                "write `https://x`: only `http` and `https` are known",
            ),
            (
                "htps://x",
                "`htps://x` has the unknown scheme `htps`",
                "write `https://x`: only `http` and `https` are known",
            ),
            (
                "http://x/api",
                "`http://x/api` goes on behind the host",
                "write `http://x`: the origin gets the path of each request as it is",
            ),
            (
                "http://x?a",
                "`http://x?a` goes on behind the host",
                "write `http://x`: the origin gets the path of each request as it is",
            ),
            ("http://me:secret@x", "the URL contains a user name or password", "write `http://x`"),
            (
                "http://",
                "`http://`: the host is missing",
                "write a host name or an address, like `127.0.0.1`",
            ),
            (
                "http://:80",
                "`http://:80`: the host is missing",
                "write a host name or an address, like `127.0.0.1`",
            ),
            ("http://x:", "`http://x:`: `` is not a port", "write a number from 1 to 65535 after the colon"),
            (
                "http://x:+80",
                "`http://x:+80`: `+80` is not a port",
                "write a number from 1 to 65535 after the colon",
            ),
            (
                "http://x:65536",
                "`http://x:65536`: `65536` is not a port",
                "write a number from 1 to 65535 after the colon",
            ),
            (
                "http://x:0",
                "`http://x:0`: nothing can listen on port 0",
                "write the port that the origin listens on",
            ),
            (
                "http://1.2.3.256",
                "`http://1.2.3.256`: `1.2.3.256` is not an IPv4 address",
                "write four numbers from 0 to 255, like `127.0.0.1`",
            ),
            (
                "http://::1:80",
                "`http://::1:80`: an IPv6 address needs brackets",
                "write it like `[::1]:3000`, here perhaps `[::1:80]`",
            ),
            (
                "http://[::1",
                "`http://[::1`: the brackets do not close",
                "write an IPv6 address like `[::1]:3000`",
            ),
            (
                "http://[fe80::1%25eth0]",
                "`http://[fe80::1%25eth0]`: `fe80::1%25eth0` is not an IPv6 address",
                "write an IPv6 address between the brackets, like `[::1]`",
            ),
            (
                "http://bücher.example",
                "`http://bücher.example`: `bücher.example` is not an ASCII host name",
                "write its ASCII form, which begins with `xn--`",
            ),
            (
                "http://a..b",
                "`http://a..b`: `a..b` is not a host name",
                "write letters, digits, `-` and dots, like `api.example.com`",
            ),
            (
                "http://a b",
                "`http://a b` contains \\u{20}",
                "write the URL without spaces and control characters",
            ),
        ] {
            assert_eq!(target(url), Err(Reason::new(cause, remedy)), "{url}");
        }
    }

    #[test]
    fn never_repeats_a_password() {
        for url in [
            "http://me:secret@x",
            "http://me:secret@x/path",
            "http://me:secret@x:0",
            "me:secret@x",
            "ftp://me:se/cr@secret@x",
        ] {
            let reason = target(url).unwrap_err();
            assert!(!reason.to_string().contains("secret"), "{reason}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(url in "(https?://)?\\PC{0,40}") {
            let _ = target(&url);
        }
    }
}
