//! Needles: what is looked for of a request's fields: their values in pieces, since an origin that repeats something
//! seldom repeats all of it. The smallest that tell something are enough: whoever repeats more repeats those too.

use std::net::IpAddr;

use super::normal;

/// Pieces in their normal form, each with the number of its field.
#[derive(Default)]
pub(super) struct Needles {
    bytes: Vec<u8>,
    ends: Vec<(u32, u8)>,
    /// There was no room for one.
    is_full: bool,
}

/// Shorter pieces stand in answers by chance, unless they hold something that means more there: `en`, `gzip`, `1`.
const TELLING: usize = 8;
/// Bytes of a piece that are looked for: whoever repeats so much of it repeats it.
const LONGEST: usize = 32;
/// Bytes of all of them. Eight kilobytes of cookies, which some browsers send, make two of pieces.
const MOST: usize = 8 * 1024;

/// What every client says in a field that may have several members: it tells nobody from others.
const SAID_BY_ALL: [&str; 28] = [
    "*/*",
    "application/json",
    "application/signed-exchange",
    "application/xhtml+xml",
    "application/xml",
    "audio/*",
    "br",
    "cross-site",
    "deflate",
    "document",
    "font/*",
    "gzip",
    "image/*",
    "image/apng",
    "image/avif",
    "image/svg+xml",
    "image/webp",
    "keep-alive",
    "max-age=0",
    "navigate",
    "no-cache",
    "same-origin",
    "same-site",
    "text/css",
    "text/html",
    "text/plain",
    "video/*",
    "websocket",
];

impl Needles {
    /// Adds what is telling of a value; false when there was no room for all of it. `host`: the one that was asked, which
    /// pages name in good faith.
    pub(super) fn add(&mut self, value: &[u8], host: &[u8], field: u8) -> bool {
        if !self.is_full {
            Pieces { host, field, needles: self }.members(value);
        }
        !self.is_full
    }

    /// Adds an address as origins write it (RFC 5952). It is not read for pieces: what looks like a port is none.
    pub(super) fn add_address(&mut self, address: IpAddr, field: u8) {
        let begin = self.bytes.len();
        normal::push(address.to_string().as_bytes(), &mut self.bytes);
        self.bytes.truncate(begin + LONGEST);
        self.ends.push((self.bytes.len() as u32, field));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Each with the number of its field.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u8)> {
        let mut begin = 0;
        self.ends.iter().map(move |(end, field)| {
            let needle = &self.bytes[begin..*end as usize];
            begin = *end as usize;
            (needle, *field)
        })
    }

    /// False when it would be found everywhere.
    fn push(&mut self, piece: &[u8], field: u8) -> bool {
        let begin = self.bytes.len();
        self.is_full |= begin + LONGEST > MOST;
        if self.is_full {
            return true;
        }
        normal::push(piece, &mut self.bytes);
        let length = normal::without_open_end(&self.bytes[begin..]).len();
        let is_telling = is_telling(&self.bytes[begin..begin + length]);
        self.bytes.truncate(begin + if is_telling { length.min(LONGEST) } else { 0 });
        if is_telling {
            self.ends.push((self.bytes.len() as u32, field));
        }
        is_telling
    }
}

fn is_telling(normal: &[u8]) -> bool {
    normal.len() >= TELLING || memchr::memchr3(b'.', b'/', b'<', normal).is_some() || normal.contains(&b'"')
}

/// Whether a value may hold a needle: all that this is false for need not be compared.
pub(super) fn may_tell(value: &[u8]) -> bool {
    // What means more in an answer, as it is or escaped.
    value.len() >= TELLING || value.iter().any(|byte| b"./<\"%&\\".contains(byte))
}

/// A value on its way to pieces. What these functions give back is whether nothing larger need be looked for.
struct Pieces<'a> {
    host: &'a [u8],
    field: u8,
    needles: &'a mut Needles,
}

impl Pieces<'_> {
    /// `a, b`
    fn members(&mut self, value: &[u8]) -> bool {
        if is_url(value) {
            return self.url(value);
        }
        if is_said_by_all(value) && (!value.contains(&b'/') || value == b"*/*") {
            return true;
        }
        if !value.contains(&b',') {
            return self.parameters(value) || self.take(value);
        }
        let mut is_done = false;
        for member in value.split(|byte| *byte == b',') {
            let member = trimmed(member);
            is_done |= is_said_by_all(member) || self.parameters(member) || self.take(member);
        }
        is_done || self.take(value)
    }

    /// `a; b=c`, and the cookies of a line.
    fn parameters(&mut self, member: &[u8]) -> bool {
        let is_one = !member.contains(&b';');
        let mut is_done = false;
        for part in member.split(|byte| *byte == b';') {
            let part = if is_one { part } else { trimmed(part) };
            is_done |= (!is_one && is_said_by_all(part)) || self.pair(part) || (!is_one && self.take(part));
        }
        is_done
    }

    /// `b=c`: the value; of the name only what could be no name.
    fn pair(&mut self, part: &[u8]) -> bool {
        if is_url(part) {
            return self.url(part);
        }
        let Some(at) = memchr::memchr(b'=', part) else { return self.host(part) };
        let (name, value) = (trimmed(&part[..at]), trimmed(&part[at + 1..]));
        let is_weight = name.eq_ignore_ascii_case(b"q")
            && value.iter().all(|byte| b"01.".contains(byte) || byte.is_ascii_digit());
        if is_weight || is_said_by_all(part) {
            return true;
        }
        let is_name = !name.iter().any(|byte| b"<\"".contains(byte));
        let is_done = !is_name && self.take(name);
        (if is_url(value) { self.url(value) } else { self.host(value) || self.take(value) }) || is_done
    }

    /// `a.example:8080`: origins leave out the port.
    fn host(&mut self, text: &[u8]) -> bool {
        let host = without_port(text);
        if host.eq_ignore_ascii_case(self.host) {
            return host.len() == text.len();
        }
        host.len() < text.len() && self.take(host)
    }

    /// An absolute URL: its host, where that is not the one that was asked; of its path and its parameters what holds more
    /// than plain characters, since pages link to one another.
    fn url(&mut self, url: &[u8]) -> bool {
        let rest = memchr::memmem::find(url, b"://").map_or(url, |at| &url[at + 3..]);
        let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let host = without_port(authority);
        let mut is_done = !host.eq_ignore_ascii_case(self.host) && self.take(host);
        for part in rest.split(|byte| b"?&#=".contains(byte)) {
            let is_plain = part.iter().all(|byte| byte.is_ascii_alphanumeric() || b"/._~-+".contains(byte));
            is_done |= !is_plain && self.take(part);
        }
        is_done || self.take(url)
    }

    fn take(&mut self, piece: &[u8]) -> bool {
        self.needles.push(piece, self.field)
    }
}

fn is_url(text: &[u8]) -> bool {
    text.starts_with(b"https://") || text.starts_with(b"http://")
}

fn is_said_by_all(text: &[u8]) -> bool {
    SAID_BY_ALL.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

/// Without white space around it, and without quotes.
fn trimmed(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii();
    let text = text.strip_prefix(b"\"").unwrap_or(text);
    text.strip_suffix(b"\"").unwrap_or(text)
}

/// The text as it is where it does not end with a port.
pub(super) fn without_port(text: &[u8]) -> &[u8] {
    let Some(at) = memchr::memrchr(b':', text) else { return text };
    let (host, port) = (&text[..at], &text[at + 1..]);
    let is_port = (1..=5).contains(&port.len()) && port.iter().all(u8::is_ascii_digit);
    let is_host = host.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-_[]:".contains(byte));
    if is_port && is_host { host } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: &str) -> Vec<String> {
        let mut needles = Needles::default();
        needles.add(value.as_bytes(), b"a.example", 0);
        needles.iter().map(|(needle, _)| String::from_utf8_lossy(needle).into_owned()).collect()
    }

    #[test]
    fn a_value_is_looked_for_in_its_smallest_telling_pieces() {
        for (value, expected) in [
            ("some thing", &["some thing"][..]),
            ("evil-member-1, other", &["evil-member-1"]),
            ("a=evil-value-1; b=2; c=<x", &["evil-value-1", "<x"]),
            ("theme=dark; sid=1", &["theme=dark"]),
            ("text/x;profile=\"evil-profile\"", &["text/x", "evil-profile"]),
            ("text/html,application/xhtml+xml,*/*;q=0.8", &[]),
            ("text/html", &["text/html"]),
            ("*/*", &[]),
            ("evil.example:8080", &["evil.example"]),
            ("a.example:1337", &["a.example:1337"]),
            ("a.example", &[]),
            ("http://evil.example:8080/x?y=plain", &["evil.example"]),
            ("https://a.example/x?y=<script>", &["<script>"]),
            ("https://a.example/x?y=plain", &["https://a.example/x?y=plain"]),
            ("x.io", &["x.io"]),
            ("\"><", &["\"><"]),
            ("%3Cb", &["<b"]),
            ("en", &[]),
            ("max-age=0", &[]),
            ("gzip, deflate, br", &[]),
        ] {
            assert_eq!(of(value), expected, "{value}");
        }
    }

    #[test]
    fn the_beginning_of_a_long_piece_is_enough() {
        let long = "x".repeat(10_000);
        assert_eq!(of(&long), ["x".repeat(LONGEST)]);
    }
}
