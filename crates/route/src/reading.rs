//! Path reading: a path as one kind of server reads it. Called by the router for paths whose shape allows several.
//!
//! Nothing is copied: segments are decoded while they are compared, so a reading costs what the trie looks at of it.

use std::cmp::Ordering;

use rules::path::{Shape, lenient};

use crate::trie::{self, Path};

/// What is left of a path, and how it is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathReading<'p> {
    rest: &'p [u8],
    folds: Shape,
}

/// A segment, and how it is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment<'p> {
    bytes: &'p [u8],
    folds: Shape,
}

impl<'p> PathReading<'p> {
    /// A path, read by whoever folds these. `None`: it has no segments, as `*` of `OPTIONS *`.
    pub(crate) fn of(path: &'p str, folds: Shape) -> Option<Self> {
        let rest = path.as_bytes().strip_prefix(b"/")?;
        Some(PathReading { rest, folds }.without_empty())
    }

    /// The segment up to the next slash, whatever it holds.
    fn cut(self) -> (Segment<'p>, Option<Self>) {
        let PathReading { rest, folds } = self;
        let mut behind = rest;
        let mut length = 0;
        while let Some((byte, next)) = lenient(behind) {
            let is_slash = match byte {
                b'/' => behind[0] == b'/' || folds.has(Shape::SLASH),
                b'\\' => folds.has(Shape::BACKSLASH),
                _ => false,
            };
            if is_slash {
                let segment = Segment { bytes: &rest[..length], folds };
                return (segment, Some(PathReading { rest: next, folds }));
            }
            length = rest.len() - next.len();
            behind = next;
        }
        (Segment { bytes: rest, folds }, None)
    }

    /// Without the empty segments at its beginning, where slashes are merged. The last segment stays.
    fn without_empty(mut self) -> Self {
        if self.folds.has(Shape::EMPTY) {
            while let (segment, Some(rest)) = self.cut()
                && trie::Segment::is_empty(segment)
            {
                self = rest;
            }
        }
        self
    }

    fn is_slash_at_end(self) -> bool {
        let (segment, rest) = self.cut();
        rest.is_none() && trie::Segment::is_empty(segment)
    }
}

impl<'p> Path for PathReading<'p> {
    type Segment = Segment<'p>;

    fn split(self) -> (Segment<'p>, Option<Self>) {
        let (segment, rest) = self.cut();
        let rest = rest.map(PathReading::without_empty);
        let ends = self.folds.has(Shape::SLASH_AT_END) && rest.is_some_and(PathReading::is_slash_at_end);
        (segment, rest.filter(|_| !ends))
    }
}

impl Segment<'_> {
    /// What it is taken for.
    fn read(self) -> impl Iterator<Item = u8> {
        let Segment { mut bytes, folds } = self;
        std::iter::from_fn(move || {
            let (byte, rest) = lenient(bytes)?;
            bytes = rest;
            Some(byte).filter(|byte| *byte != b';' || !folds.has(Shape::PARAMETERS))
        })
        .fuse()
        .map(move |byte| if folds.has(Shape::CAPITALS) { byte.to_ascii_lowercase() } else { byte })
    }
}

impl trie::Segment for Segment<'_> {
    fn is_empty(self) -> bool {
        self.read().next().is_none()
    }

    fn order(self, literal: &[u8]) -> Ordering {
        literal.iter().copied().cmp(self.read())
    }
}

/// A literal of a pattern as it stands in the trie that readings are looked up in.
pub(crate) fn literal(written: &str, folds: Shape) -> Box<[u8]> {
    Segment { bytes: written.as_bytes(), folds }.read().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(path: &str, folds: &[Shape]) -> Vec<String> {
        let folds = folds.iter().fold(Shape::default(), |all, one| all.with(*one));
        let mut out = Vec::new();
        let mut rest = PathReading::of(path, folds);
        while let Some(reading) = rest {
            let (segment, behind) = reading.split();
            out.push(String::from_utf8(segment.read().collect()).unwrap());
            rest = behind;
        }
        out
    }

    #[test]
    fn each_fold_is_what_some_servers_do() {
        let (slash, backslash, empty) = (Shape::SLASH, Shape::BACKSLASH, Shape::EMPTY);
        let (end, parameters, capitals) = (Shape::SLASH_AT_END, Shape::PARAMETERS, Shape::CAPITALS);
        for (path, folds, expected) in [
            ("/a%2Fb", &[][..], &["a/b"][..]),
            ("/a%2Fb", &[slash], &["a", "b"]),
            ("/a%c0%afb", &[slash], &["a", "b"]),
            ("/%f0%80%81%ad%u006d%u002fb", &[slash], &["mm", "b"]),
            ("/a%5Cb", &[slash], &["a\\b"]),
            ("/a%5Cb", &[backslash], &["a", "b"]),
            ("//a//b", &[], &["", "a", "", "b"]),
            ("//a//b/", &[empty], &["a", "b", ""]),
            ("//a//b//", &[empty, end], &["a", "b"]),
            ("/a/", &[end], &["a"]),
            ("/a%2F", &[slash, end], &["a"]),
            ("/", &[end, empty], &[""]),
            ("//", &[end, empty], &[""]),
            ("/a;x/b;y=/c", &[parameters], &["a", "b", "c"]),
            ("/a%3Bx/b", &[parameters], &["a", "b"]),
            ("/;x/a", &[parameters, empty], &["a"]),
            ("/a;x", &[], &["a;x"]),
            ("/A%21b", &[capitals], &["a!b"]),
            ("*", &[], &[]),
        ] {
            assert_eq!(segments(path, folds), expected, "{path} {folds:?}");
        }
    }
}
