//! Scan: valid JSON walked through value by value. A value is skipped by looking for its end alone: brackets are counted,
//! strings are jumped over, and nothing else is looked at. Called by everything that looks inside.
//!
//! Not with `serde_json::value::RawValue`, which checks again what has been checked: this takes half to two thirds of
//! its time (`tests/json/speed.rs`). Not with memchr either: in JSON the next quote is too near for a search to pay.

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` or `false`
    Truth,
    /// A number.
    Number,
    /// A string.
    Text,
    /// An array.
    List,
    /// An object.
    Map,
}

/// What this JSON is. What is none counts as `Null`.
pub fn kind(json: &str) -> JsonKind {
    match json.trim_ascii_start().as_bytes().first() {
        Some(b'{') => JsonKind::Map,
        Some(b'[') => JsonKind::List,
        Some(b'"') => JsonKind::Text,
        Some(b't' | b'f') => JsonKind::Truth,
        Some(b'-' | b'0'..=b'9') => JsonKind::Number,
        _ => JsonKind::Null,
    }
}

/// Whether this holds more values than so many: items and members at every depth, an empty list or map counted as one.
/// What walking through it costs goes by that, and neither by its bytes, which a long text has as well, nor by the items
/// of the outermost list.
pub fn has_more_values(json: &str, most: usize) -> bool {
    let bytes = json.as_bytes();
    // Each takes two bytes at least, its comma counted.
    if bytes.len() / 2 < most {
        return false;
    }
    let (mut at, mut values) = (0, 0_usize);
    while values <= most {
        match bytes.get(at) {
            None => return false,
            Some(b'"') => match string(&bytes[at..]) {
                Some(length) => at += length,
                None => return false,
            },
            Some(byte) => {
                values += usize::from(matches!(byte, b',' | b'[' | b'{'));
                at += 1;
            }
        }
    }
    true
}

/// A place in JSON.
#[derive(Clone, Debug)]
pub(crate) struct Scan<'j> {
    json: &'j str,
    at: usize,
}

impl<'j> Scan<'j> {
    /// At the first value in a list or the first name in a map; `None` where this is neither, as `open` says.
    pub(crate) fn inside(json: &'j str, open: u8) -> Option<Self> {
        let mut scan = Scan { json, at: 0 };
        scan.takes(open).then_some(scan)
    }

    /// Whether this byte comes next; then it is behind.
    pub(crate) fn takes(&mut self, byte: u8) -> bool {
        let next = self.next_byte() == Some(byte);
        self.at += usize::from(next);
        next
    }

    /// The next value, as it stands.
    pub(crate) fn value(&mut self) -> Option<&'j str> {
        let first = self.next_byte()?;
        let start = self.at;
        let rest = &self.json.as_bytes()[start..];
        let length = match first {
            b'"' => string(rest),
            b'{' | b'[' => bracketed(rest),
            _ => rest.iter().position(|byte| is_space(*byte) || matches!(byte, b',' | b']' | b'}')),
        };
        self.at += length.unwrap_or(rest.len());
        // None for what is no value, such as a comma where one should be.
        (self.at > start).then(|| self.json.get(start..self.at))?
    }

    fn next_byte(&mut self) -> Option<u8> {
        let rest = self.json.as_bytes().get(self.at..)?;
        let spaces = rest.iter().position(|byte| !is_space(*byte))?;
        self.at += spaces;
        Some(rest[spaces])
    }
}

/// RFC 8259 §2.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Bytes of the string that these begin with, both quotes counted.
fn string(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Bytes of the list or map that these begin with.
fn bracketed(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (1, 1_usize);
    while depth > 0 {
        match *bytes.get(at)? {
            b'"' => {
                at += string(&bytes[at..])?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_the_first_byte() {
        for (json, expected) in [
            ("null", JsonKind::Null),
            (" true", JsonKind::Truth),
            ("false", JsonKind::Truth),
            ("-1", JsonKind::Number),
            ("\n0", JsonKind::Number),
            ("\"\"", JsonKind::Text),
            ("[]", JsonKind::List),
            ("\t{}", JsonKind::Map),
        ] {
            assert_eq!(kind(json), expected, "{json}");
        }
    }

    #[test]
    fn values_are_counted_at_every_depth() {
        for (json, values) in [
            ("[1,2,3]", 3),
            (r#"["a,b,[","\\",{}]"#, 4),
            (r#"{"a":1,"b":[2,3],"c":{"d":4}}"#, 6),
            ("[[1,2],[3,4]]", 6),
            ("                    7", 0),
        ] {
            assert!(!has_more_values(json, values), "{json}");
            assert!(values == 0 || has_more_values(json, values - 1), "{json}");
        }
    }

    #[test]
    fn values_end_where_they_end() {
        for value in [
            "1.50",
            "null",
            r#""""#,
            r#""a\"b\\""#,
            r#""]}""#,
            "[]",
            r#"[ "]" , [ {} ] , "\\" ]"#,
            r#"{"}":{"a":["}"]},"é":"}"}"#,
        ] {
            for end in ["", ",", "]", " }", "\n"] {
                let json = format!(" {value}{end}");
                assert_eq!(Scan { json: &json, at: 0 }.value(), Some(value), "{json}");
            }
        }
    }
}
