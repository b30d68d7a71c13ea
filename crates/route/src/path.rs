//! Path: which request paths no route ever takes. In comes a path as it was sent; called by the router, and by `server`
//! to answer 400 rather than 404.
//!
//! Routes compare with the path's raw bytes, and so does the cache's key; the origin decodes them. A path that the origin
//! may walk somewhere else than it says (THREATS C and D: `/static/..%2faccount`) would be matched by one route and
//! answered by the resources of another, so such paths are refused instead of being normalised: rewriting them would be
//! one more reading of the same message.

/// Whether the path may mean something else to an origin than to us:
///
/// - a `.` or `..` segment, also percent-encoded, also behind an encoded or overlong slash (`..%2f`, `%c0%ae%c0%ae/`),
///   also before path parameters (`..;x`);
/// - a backslash, which some servers read as a slash (an encoded one only where it makes a dot segment);
/// - a control character, raw or encoded (`%00`, `%0a`).
///
/// `//`, `%2f` and `;x` by themselves are allowed: every reader keeps them, and the key is what the origin sees.
pub fn refuses(path: &str) -> bool {
    let mut suspicious = false;
    let mut before = 0;
    for &byte in path.as_bytes() {
        if byte < 0x20 || byte == 0x7f || byte == b'\\' {
            return true;
        }
        suspicious |= byte == b'%' || (byte == b'.' && before == b'/');
        before = byte;
    }
    // Most paths end here, after one pass.
    suspicious && misleads(path.as_bytes())
}

/// The thorough look: decodes once and follows the segments.
fn misleads(path: &[u8]) -> bool {
    let mut segment = Segment::Start;
    let mut rest = path;
    while let Some((read, behind)) = next(rest) {
        rest = behind;
        match read {
            Read::Control => return true,
            Read::Slash | Read::Semicolon if segment.is_dots() => return true,
            Read::Slash => segment = Segment::Start,
            Read::Dot => segment = segment.dot(),
            Read::Semicolon | Read::Other => segment = Segment::Name,
        }
    }
    segment.is_dots()
}

/// What has been seen of a segment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Segment {
    Start,
    Dot,
    DotDot,
    Name,
}

impl Segment {
    fn dot(self) -> Self {
        match self {
            Segment::Start => Segment::Dot,
            Segment::Dot => Segment::DotDot,
            Segment::DotDot | Segment::Name => Segment::Name,
        }
    }

    fn is_dots(self) -> bool {
        matches!(self, Segment::Dot | Segment::DotDot)
    }
}

/// What an origin may read at one place of a path.
enum Read {
    Slash,
    Dot,
    Semicolon,
    Control,
    Other,
}

/// Reads one character as the most lenient origin would: decoded, with overlong UTF-8 taken for what it hides.
fn next(path: &[u8]) -> Option<(Read, &[u8])> {
    let (byte, rest) = decode(path)?;
    let (byte, rest) = match byte {
        // Overlong: two bytes for a character that has one.
        0xc0 | 0xc1 => match decode(rest) {
            Some((low, rest)) if low & 0xc0 == 0x80 => ((byte & 1) << 6 | low & 0x3f, rest),
            _ => (byte, rest),
        },
        // Overlong: three bytes.
        0xe0 => match decode(rest).and_then(|(middle, rest)| Some((middle, decode(rest)?))) {
            Some((middle @ (0x80 | 0x81), (low, rest))) if low & 0xc0 == 0x80 => {
                ((middle & 1) << 6 | low & 0x3f, rest)
            }
            _ => (byte, rest),
        },
        _ => (byte, rest),
    };
    let read = match byte {
        b'/' | b'\\' => Read::Slash,
        b'.' => Read::Dot,
        b';' => Read::Semicolon,
        0..=0x1f | 0x7f => Read::Control,
        _ => Read::Other,
    };
    Some((read, rest))
}

/// The next byte, percent-decoded. A `%` without two digits stands for itself.
fn decode(path: &[u8]) -> Option<(u8, &[u8])> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    match path {
        [] => None,
        [b'%', high, low, rest @ ..] => match (digit(high), digit(low)) {
            (Some(high), Some(low)) => Some((high << 4 | low, rest)),
            _ => Some((b'%', &path[1..])),
        },
        [byte, rest @ ..] => Some((*byte, rest)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn refuses_what_misleads() {
        for path in [
            "/.",
            "/..",
            "/a/../b",
            "/a/./b",
            "/a/..",
            "/%2e",
            "/%2E%2e/a",
            "/.%2e/a",
            "/a/%2e./b",
            "/static/..%2faccount",
            "/static/%2e%2e%2Faccount",
            "/static%2f..%2faccount",
            "/static/..%5caccount",
            "/static%5c..%5caccount",
            "/a\\b",
            "/a\\..\\b",
            "/..;/a",
            "/a/..;x=y/b",
            "/a/.;/b",
            "/..%3b/a",
            "/a%00.css",
            "/a%0a",
            "/a%0D%0Ab",
            "/a%7f",
            "/a\u{0}",
            "/a\n",
            "/a\u{7f}",
            "/%c0%ae%c0%ae/a",
            "/%c0%ae./a",
            "/..%c0%afa",
            "/..%e0%80%afa",
            "/..%c1%9ca",
            "/%e0%80%ae%e0%80%ae/",
            "/%c0%80",
        ] {
            assert!(refuses(path), "{path:?}");
        }
    }

    #[test]
    fn lets_the_rest_through() {
        for path in [
            "/",
            "",
            "*",
            "//",
            "//a",
            "/a.css",
            "/.well-known/x",
            "/...",
            "/.../a",
            "/..a",
            "/a..",
            "/.a.",
            "/a/b.c/d",
            "/%2ea",
            "/a%2fb",
            "/a%5cb",
            "/a;x=..",
            "/a;x/b",
            "/%252e%252e/",
            "/%",
            "/%2",
            "/%zz",
            "/100%",
            "/caf%c3%a9",
            "/%e4%bd%a0",
            "/%c0",
            "/%e0",
            "/%e0%a4%85",
            "/日本",
            "/a b",
        ] {
            assert!(!refuses(path), "{path:?}");
        }
    }

    /// The quick pass may only skip paths that the thorough look would let through.
    fn thorough(path: &str) -> bool {
        path.bytes().any(|byte| byte == b'\\') || misleads(path.as_bytes())
    }

    proptest! {
        #[test]
        fn the_quick_pass_misses_nothing(path in "/([a./%\\\\;25cefCEF0\u{1}]|%2e|%2f|%c0|%ae|\\.\\.){0,16}") {
            prop_assert_eq!(refuses(&path), thorough(&path), "{:?}", path);
        }

        #[test]
        fn never_panics(path in "\\PC{0,40}|[%a-f0-9]{0,20}") {
            let _ = refuses(&path);
        }
    }
}
