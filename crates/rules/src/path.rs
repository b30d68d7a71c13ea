//! Path: the one form in which paths are matched, keyed, purged and sent on; those that are refused because readers
//! disagree about where they lead; and what of the others servers still read in more ways than one.
//!
//! In comes a target as it was sent. `server` reads every request's, `plan`, `admin` and `compose` what is written or
//! made here. A plain path costs one pass and no copy.
//!
//! Only what RFC 3986 §6.2.2 calls the same is made the same: octets that need no encoding are decoded, the others have
//! their digits in upper case. Resolving more (`..`, `//`, `%2F`) would be one more reading of the same message beside
//! the origin's, so it is refused, or left as it is, and [`Shape`] says so.

use std::borrow::Cow;

/// A request's target in its one form.
#[derive(Clone, Debug)]
pub struct Target<'a> {
    text: Cow<'a, str>,
    /// Where the path ends.
    path: usize,
    shape: Shape,
}

/// What in a path is read in more ways than one. Servers choose each for themselves, and then for the whole path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape(u16);

impl Shape {
    /// Something that may as well stand there in another encoding.
    pub const ENCODED: Shape = Shape(1);
    /// Capitals: some servers ignore letter case.
    pub const CAPITALS: Shape = Shape(1 << 1);
    /// Slashes without a segment between them: some merge them.
    pub const EMPTY: Shape = Shape(1 << 2);
    /// A slash at the end: some ignore it.
    pub const SLASH_AT_END: Shape = Shape(1 << 3);
    /// A semicolon: some drop it with what follows in the segment.
    pub const PARAMETERS: Shape = Shape(1 << 4);
    /// `%2F`: some take it for a slash.
    pub const SLASH: Shape = Shape(1 << 5);
    /// `%5C`: some take it for a slash as well.
    pub const BACKSLASH: Shape = Shape(1 << 6);

    // For the first pass only: what makes the thorough look necessary, or unnecessary.
    const PERCENT: u16 = 1 << 8;
    const DOT: u16 = 1 << 9;
    const REFUSED: u16 = 1 << 10;

    /// Whether all of `other` is in it.
    pub fn has(self, other: Shape) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether anything of `other` is in it.
    pub fn has_any(self, other: Shape) -> bool {
        self.0 & other.0 != 0
    }

    /// With all of `other`.
    #[must_use]
    pub const fn with(self, other: Shape) -> Shape {
        Shape(self.0 | other.0)
    }

    /// Without `other`.
    #[must_use]
    pub const fn without(self, other: Shape) -> Shape {
        Shape(self.0 & !other.0)
    }

    /// All that has some of what is in this, this itself and nothing included.
    pub fn parts(self) -> impl Iterator<Item = Shape> {
        let mut next = Some(self.0);
        std::iter::from_fn(move || {
            let part = next?;
            next = if part == 0 { None } else { Some((part - 1) & self.0) };
            Some(Shape(part))
        })
    }
}

/// What each byte of a path says by itself.
static BYTES: [u16; 256] = {
    let mut table = [Shape::ENCODED.0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => 0,
            b'A'..=b'Z' => Shape::CAPITALS.0,
            b';' => Shape::ENCODED.0 | Shape::PARAMETERS.0,
            b'%' => Shape::ENCODED.0 | Shape::PERCENT,
            0..=0x1f | 0x7f | b'\\' => Shape::REFUSED,
            _ => Shape::ENCODED.0,
        };
        byte += 1;
    }
    table
};

impl<'a> Target<'a> {
    /// Reads a target, `/path?query` or `*`. `None` where the path may lead an origin somewhere else than it says:
    ///
    /// - a `.` or `..` segment, also percent-encoded, also behind an encoded or overlong slash (`..%2f`,
    ///   `%c0%ae%c0%ae/`), also before path parameters (`..;x`);
    /// - a backslash, which some servers read as a slash (an encoded one only where it makes a dot segment);
    /// - a control character, raw or encoded (`%00`, `%0a`).
    pub fn read(sent: &'a str) -> Option<Self> {
        let (path, shape) = look(sent.as_bytes());
        if shape & Shape::REFUSED != 0 {
            return None;
        }
        if shape & (Shape::PERCENT | Shape::DOT) == 0 {
            // Most end here, after one pass.
            return Some(Target { text: Cow::Borrowed(sent), path, shape: Shape(shape) });
        }
        if misleads(&sent.as_bytes()[..path]) {
            return None;
        }
        let text = normalized(sent);
        let (path, shape) = look(text.as_bytes());
        // The digits of `%2F` are no letters.
        let shape = Shape(shape & 0xff).without(Shape::CAPITALS).with(encoded(&text.as_bytes()[..path]));
        Some(Target { text, path, shape })
    }

    /// Path and query.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The path, without the query.
    pub fn path(&self) -> &str {
        &self.text[..self.path]
    }

    /// What in the path is read in more ways than one.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The target, where it is not as it was sent.
    pub fn into_changed(self) -> Option<String> {
        match self.text {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text),
        }
    }
}

/// One pass: where the path ends, and what its bytes say.
fn look(target: &[u8]) -> (usize, u16) {
    let mut shape = 0;
    let mut before = 0;
    let mut end = target.len();
    for (at, &byte) in target.iter().enumerate() {
        if byte == b'?' {
            end = at;
            break;
        }
        shape |= BYTES[usize::from(byte)];
        if before == b'/' {
            shape |= match byte {
                b'/' => Shape::EMPTY.0,
                b'.' => Shape::DOT,
                _ => 0,
            };
        }
        before = byte;
    }
    if before == b'/' && end > 1 {
        shape |= Shape::SLASH_AT_END.0;
    }
    (end, shape)
}

/// The text of a target, or of the beginning of one, in its one form; a query stays as it is. Idempotent: a path with a
/// `%` that encodes nothing stays as it is, since what is decoded behind it could make it encode something.
pub fn normalized(target: &str) -> Cow<'_, str> {
    let end = memchr::memchr(b'?', target.as_bytes()).unwrap_or(target.len());
    let (path, query) = target.split_at(end);
    let Some(first) = memchr::memchr(b'%', path.as_bytes()) else { return Cow::Borrowed(target) };
    let mut out = String::with_capacity(target.len());
    out.push_str(&path[..first]);
    let mut rest = &path[first..];
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        match triplet(rest.as_bytes()) {
            Some(byte) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                out.push(char::from(byte));
            }
            Some(_) => out.extend(rest[..3].chars().map(|digit| digit.to_ascii_uppercase())),
            None => return Cow::Borrowed(target),
        }
        rest = &rest[3..];
    }
    out.push_str(rest);
    out.push_str(query);
    if out == target { Cow::Borrowed(target) } else { Cow::Owned(out) }
}

/// Whether text that is made of values, and not yet encoded, holds what no path may: a control character, or a segment
/// of dots behind any slash.
pub fn misleads_decoded(text: &[u8]) -> bool {
    let mut segment = Segment::Start;
    for &byte in text {
        if byte < 0x20 || byte == 0x7f {
            return true;
        }
        if segment.ends_in_dots(byte) {
            return true;
        }
        segment = segment.then(byte);
    }
    segment.is_dots()
}

/// Whether a path, or one segment of it, is read by nobody, or leads somewhere else than it says: the thorough look, which
/// decodes once and follows the segments.
pub fn misleads(path: &[u8]) -> bool {
    let mut segment = Segment::Start;
    let mut rest = path;
    while let Some((byte, behind)) = lenient(rest) {
        rest = behind;
        if byte < 0x20 || byte == 0x7f || segment.ends_in_dots(byte) {
            return true;
        }
        segment = segment.then(byte);
    }
    segment.is_dots()
}

/// What only the thorough look finds.
fn encoded(path: &[u8]) -> Shape {
    let mut shape = Shape::default();
    let mut rest = path;
    while let Some((byte, behind)) = lenient(rest) {
        let is_encoded = rest.len() - behind.len() > 1;
        shape = shape.with(match byte {
            b'/' if is_encoded => Shape::SLASH,
            b'\\' => Shape::BACKSLASH,
            b';' => Shape::PARAMETERS,
            b'A'..=b'Z' => Shape::CAPITALS,
            _ => Shape::default(),
        });
        rest = behind;
    }
    shape
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
    fn then(self, byte: u8) -> Self {
        match (byte, self) {
            (b'/' | b'\\', _) => Segment::Start,
            (b'.', Segment::Start) => Segment::Dot,
            (b'.', Segment::Dot) => Segment::DotDot,
            _ => Segment::Name,
        }
    }

    /// Whether it is dots up to this byte, and no more of it follows.
    fn ends_in_dots(self, byte: u8) -> bool {
        matches!(byte, b'/' | b'\\' | b';') && self.is_dots()
    }

    fn is_dots(self) -> bool {
        matches!(self, Segment::Dot | Segment::DotDot)
    }
}

/// Reads one byte as the most lenient origin would: decoded, `%u006D` too, with overlong UTF-8 taken for what it hides.
/// Gives back what stands behind it.
pub fn lenient(path: &[u8]) -> Option<(u8, &[u8])> {
    if let Some(read) = wide(path) {
        return Some(read);
    }
    let (byte, rest) = decode(path)?;
    let hidden = match byte {
        // Overlong: two bytes for a character that has one.
        0xc0 | 0xc1 => match decode(rest) {
            Some((low, rest)) if low & 0xc0 == 0x80 => Some(((byte & 1) << 6 | low & 0x3f, rest)),
            _ => None,
        },
        // Overlong: three bytes.
        0xe0 => match decode(rest).and_then(|(middle, rest)| Some((middle, decode(rest)?))) {
            Some((middle @ (0x80 | 0x81), (low, rest))) if low & 0xc0 == 0x80 => {
                Some(((middle & 1) << 6 | low & 0x3f, rest))
            }
            _ => None,
        },
        // Overlong: four bytes.
        0xf0 => match decode(rest).and_then(|(second, rest)| Some((second, decode(rest)?))) {
            Some((0x80, (middle @ (0x80 | 0x81), rest))) => match decode(rest) {
                Some((low, rest)) if low & 0xc0 == 0x80 => Some(((middle & 1) << 6 | low & 0x3f, rest)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    Some(hidden.unwrap_or((byte, rest)))
}

/// The ASCII character of the `%uXXXX` that the path begins with, as servers of Windows read it.
fn wide(path: &[u8]) -> Option<(u8, &[u8])> {
    match path {
        [b'%', b'u' | b'U', b'0', b'0', high @ b'0'..=b'7', low, rest @ ..] => {
            Some((triplet(&[b'%', *high, *low])?, rest))
        }
        _ => None,
    }
}

/// The next byte, percent-decoded. A `%` without two digits stands for itself.
pub(crate) fn decode(path: &[u8]) -> Option<(u8, &[u8])> {
    let (&first, rest) = path.split_first()?;
    Some(triplet(path).map_or((first, rest), |byte| (byte, &path[3..])))
}

/// The byte of the `%XX` that the text begins with.
fn triplet(text: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    match text {
        [b'%', high, low, ..] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    }
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
