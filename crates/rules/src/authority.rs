//! Authority: host and port of a URL, compared as they are meant (RFC 3986 §6.2.3). Called where a response names a URL: to forget what
//! it puts out of date, and to tell whether it is one of ours.

use message::Scheme;

/// Whether an authority as written is the other one: in any letter case, with the default port of its scheme or without, with a
/// trailing dot or without. User information makes it another.
pub fn is_same(scheme: Scheme, written: &str, other: &str) -> bool {
    split(written, scheme) == split(other, scheme)
}

fn split(authority: &str, scheme: Scheme) -> (String, Option<u16>) {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (authority, ""),
    };
    let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
    (host, if port.is_empty() { Some(scheme.default_port()) } else { port.parse().ok() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities_are_the_same_however_they_are_written() {
        for (written, other, same) in [
            ("A.example", "a.example", true),
            ("a.example:80", "a.example", true),
            ("a.example.:", "a.example:80", true),
            ("[::1]:80", "[::1]", true),
            ("[::1]:8080", "[::1]:8080", true),
            ("a.example:443", "a.example", false),
            ("a.example:99999", "a.example", false),
            ("me@a.example", "a.example", false),
        ] {
            assert_eq!(is_same(Scheme::Http, written, other), same, "{written} {other}");
        }
        assert!(is_same(Scheme::Https, "a.example:443", "a.example"));
    }
}
