//! List: the members of a comma-separated field value (RFC 9110 §5.6.1), and what looks like one.
//!
//! Every list-shaped field in this crate is read through here: directives, `Vary`, `Connection`, entity tags.

/// Spaces and tabs off both ends (RFC 9110 §5.6.3, OWS).
pub(crate) fn trim(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// The members of one field line, trimmed, without the empty ones. Commas in quoted strings do not separate.
pub(crate) fn members(line: &[u8]) -> Members<'_> {
    Members { rest: line, escapes: true, closes: true }
}

/// The same for entity tags, in whose quotes a backslash is a byte like any other (RFC 9110 §8.8.3).
pub(crate) fn entity_tags(line: &[u8]) -> Members<'_> {
    Members { rest: line, escapes: false, closes: true }
}

/// See [`members`] and [`entity_tags`].
pub(crate) struct Members<'a> {
    rest: &'a [u8],
    escapes: bool,
    /// Whether every quote so far was closed. After one that was not, commas alone separate: to look once more from each
    /// member to the end of the line would let a line of quotes cost the square of its length.
    closes: bool,
}

impl<'a> Iterator for Members<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        while !self.rest.is_empty() {
            let end = self.member_end();
            let member = trim(&self.rest[..end]);
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            if !member.is_empty() {
                return Some(member);
            }
        }
        None
    }
}

impl Members<'_> {
    /// Where the first member ends. A quote that is never closed is taken for an ordinary byte: otherwise
    /// `x="a, no-store` would hide the `no-store`.
    fn member_end(&mut self) -> usize {
        let mut quoted = false;
        let mut escaped = false;
        for (index, byte) in self.rest.iter().enumerate() {
            match byte {
                b',' if !quoted => return index,
                _ if !self.closes => {}
                _ if escaped => escaped = false,
                b'\\' if quoted && self.escapes => escaped = true,
                b'"' => quoted = !quoted,
                _ => {}
            }
        }
        self.closes &= !quoted;
        let commas = if quoted { self.rest } else { &[] };
        commas.iter().position(|&byte| byte == b',').unwrap_or(self.rest.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Vec<String> {
        members(line.as_bytes()).map(|member| String::from_utf8_lossy(member).into_owned()).collect()
    }

    #[test]
    fn rfc9110_8_8_3_a_backslash_escapes_nothing_in_an_entity_tag() {
        let tags: Vec<_> = entity_tags(br#""a\", W/"b,c" ,"d""#).collect();
        assert_eq!(tags, [&br#""a\""#[..], br#"W/"b,c""#, br#""d""#]);
    }

    #[test]
    fn members_are_found_in_all_their_forms() {
        for (line, expected) in [
            ("", &[][..]),
            (" , ,\t,", &[]),
            ("a", &["a"]),
            ("a,b , c\t,,d", &["a", "b", "c", "d"]),
            (r#"a="x, y",b"#, &[r#"a="x, y""#, "b"]),
            (r#"a="x\", y",b"#, &[r#"a="x\", y""#, "b"]),
            (r#"a="x, no-store"#, &[r#"a="x"#, "no-store"]),
            (r#"a="x\"#, &[r#"a="x\"#]),
        ] {
            assert_eq!(split(line), expected, "{line:?}");
        }
    }

    #[test]
    fn a_line_of_quotes_is_read_in_one_go() {
        let line = "\"\\\",".repeat(200_000);
        assert_eq!(members(line.as_bytes()).count(), 200_000);
    }
}
