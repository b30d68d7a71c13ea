//! Authority: host and port as they stand in `Host`, checked and brought into one form.
//!
//! Called by `request` for every head and by the listeners for the key of every request, so it reads bytes once and
//! copies only what has to change.

use std::borrow::Cow;

use message::Scheme;

/// Whether these bytes are `host [":" port]` and nothing else: a registered name of letters, digits, `-`, `.`, `_`, or
/// an IPv4 address, or an IPv6 address in brackets.
///
/// Narrower than RFC 3986 §3.2.2, which allows `,`, `;`, `%41` and the like in names: nobody's DNS does, and each of
/// them is read differently by somebody. User information and paths are refused with the rest.
pub fn is_authority(authority: &[u8]) -> bool {
    if authority.first() == Some(&b'[') {
        return is_bracketed(authority);
    }
    let name = authority.iter().position(|&byte| !NAME[usize::from(byte)]).unwrap_or(authority.len());
    let (name, rest) = authority.split_at(name);
    !name.is_empty() && name[0] != b'.' && !name.ends_with(b"..") && is_port_or_nothing(rest)
}

/// Bytes of a registered name.
static NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = matches!(byte as u8, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_');
        byte += 1;
    }
    table
};

fn is_bracketed(authority: &[u8]) -> bool {
    let Some(end) = memchr::memchr(b']', authority) else { return false };
    let address = std::str::from_utf8(&authority[1..end]).ok();
    address.is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok())
        && is_port_or_nothing(&authority[end + 1..])
}

fn is_port_or_nothing(rest: &[u8]) -> bool {
    match rest {
        [] | [b':'] => true,
        [b':', port @ ..] => {
            port.len() <= 5
                && port.iter().all(u8::is_ascii_digit)
                && port.iter().fold(0_u32, |number, byte| number * 10 + u32::from(byte - b'0')) <= 65_535
        }
        _ => false,
    }
}

/// The one form of an authority that [`is_authority`] accepts: lower case, without the scheme's default port, an empty
/// port or a trailing dot. Borrowed when it already is, as it nearly always is.
pub fn normalize_authority(authority: &str, scheme: Scheme) -> Cow<'_, str> {
    let (host, port) = split_port(authority);
    let kept_host = host.strip_suffix('.').filter(|kept| !kept.is_empty()).unwrap_or(host);
    let kept_port = port.filter(|port| !port.is_empty() && port.parse() != Ok(scheme.default_port()));
    let kept_port_length = kept_port.map_or(0, |port| port.len() + 1);
    let is_lower = !host.bytes().any(|byte| byte.is_ascii_uppercase());
    if is_lower && kept_host.len() == host.len() {
        return Cow::Borrowed(&authority[..host.len() + kept_port_length]);
    }
    let mut normal = String::with_capacity(authority.len());
    normal.push_str(kept_host);
    normal.make_ascii_lowercase();
    if let Some(port) = kept_port {
        normal.push(':');
        normal.push_str(port);
    }
    Cow::Owned(normal)
}

/// Host and port, split at the colon behind the host.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.as_bytes().iter().rposition(|&byte| byte == b':' || byte == b']') {
        Some(at) if authority.as_bytes()[at] == b':' => (&authority[..at], Some(&authority[at + 1..])),
        _ => (authority, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_checked() {
        for good in [
            "a",
            "a.b",
            "A.b:80",
            "a.:80",
            "a:",
            "127.0.0.1:8080",
            "[::1]",
            "[::1]:443",
            "x_y",
            "a-b.c:65535",
        ] {
            assert!(is_authority(good.as_bytes()), "{good}");
        }
        let bad = [
            "", ":80", ".", ".a", "a..", "a..:80", "a, b", "a,b", "a b", "u@a", "a/b", "a:65536", "a:8x",
            "a:+1", "a:123456", "[::1", "[::g]", "[::1]x", "::1", "a:1:2", "a%41", "a;b", "a\0", "ä", "a#",
            "a?", "a\\b", "[]", "a\"", "http://a",
        ];
        for bad in bad {
            assert!(!is_authority(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn authorities_have_one_form() {
        let cases = [
            ("a", "a"),
            ("A.Example", "a.example"),
            ("a:80", "a"),
            ("a:443", "a:443"),
            ("a.", "a"),
            ("a.:80", "a"),
            ("A.:81", "a:81"),
            ("[::1]:80", "[::1]"),
            ("[::A]:81", "[::a]:81"),
            ("a:", "a"),
            ("a:080", "a"),
        ];
        for (sent, normal) in cases {
            assert_eq!(normalize_authority(sent, Scheme::Http), normal, "{sent}");
        }
        assert_eq!(normalize_authority("a:443", Scheme::Https), "a");
        assert!(matches!(normalize_authority("a:80", Scheme::Http), Cow::Borrowed("a")));
        assert!(matches!(normalize_authority("a:8080", Scheme::Http), Cow::Borrowed("a:8080")));
    }
}
