//! Cache-Control: the syntax of one line of it (RFC 9111 §5.2), whatever the directives in it mean.

use crate::directives::FieldList;
use crate::{list, seconds};

/// One directive as it stands in a line.
pub(crate) struct Directive<'a> {
    /// Its name, case as sent; an unknown one when the member has no readable name.
    pub(crate) name: &'a [u8],
    /// What follows the equals sign.
    pub(crate) argument: Argument<'a>,
    /// All of it.
    pub(crate) member: &'a [u8],
}

/// The argument of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument<'a> {
    /// There is no equals sign.
    None,
    /// A token, or the inside of a quoted string; recipients accept both for all directives.
    Text(&'a [u8]),
    /// The member is no directive: space around the equals sign, a quoted string that does not end where the member
    /// does, bytes that no token may have.
    Malformed,
}

impl Argument<'_> {
    /// As delta-seconds.
    pub(crate) fn seconds(self) -> Option<u32> {
        match self {
            Argument::Text(text) => seconds::parse(text),
            Argument::None | Argument::Malformed => None,
        }
    }

    /// As field names.
    pub(crate) fn fields(self) -> FieldList {
        match self {
            Argument::Text(names) => FieldList::parse(names),
            Argument::None | Argument::Malformed => FieldList::All,
        }
    }
}

/// The directives of a line, in order.
pub(crate) fn directives(line: &[u8]) -> impl Iterator<Item = Directive<'_>> {
    list::members(line).map(|member| match member.iter().position(|&byte| byte == b'=') {
        None => {
            let argument = if is_token(member) { Argument::None } else { Argument::Malformed };
            Directive { name: member, argument, member }
        }
        Some(equals) => {
            let name = &member[..equals];
            let argument = if is_token(name) { argument(&member[equals + 1..]) } else { Argument::Malformed };
            Directive { name: list::trim(name), argument, member }
        }
    })
}

fn argument(text: &[u8]) -> Argument<'_> {
    match text {
        [b'"', inside @ .., b'"'] if is_quotable(inside) => Argument::Text(inside),
        token if token.iter().all(|&byte| is_token_byte(byte)) => Argument::Text(token),
        _ => Argument::Malformed,
    }
}

/// Whether a quoted string with this inside ends where it seems to: no quote without a backslash before it, and no
/// backslash that takes the last quote away (RFC 9110 §5.6.4).
fn is_quotable(inside: &[u8]) -> bool {
    let mut escaped = false;
    for &byte in inside {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return false,
            _ => {}
        }
    }
    !escaped
}

fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|&byte| is_token_byte(byte))
}

/// `tchar` (RFC 9110 §5.6.2).
pub(crate) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(line: &str) -> (String, Argument<'_>) {
        let mut all = directives(line.as_bytes());
        let first = all.next().unwrap();
        assert!(all.next().is_none(), "{line:?}");
        (String::from_utf8_lossy(first.name).into_owned(), first.argument)
    }

    #[test]
    fn rfc9111_5_2_arguments_in_token_and_quoted_form() {
        for (line, name, argument) in [
            ("no-store", "no-store", Argument::None),
            (" No-Store\t", "No-Store", Argument::None),
            ("max-age=5", "max-age", Argument::Text(b"5")),
            ("max-age=\"5\"", "max-age", Argument::Text(b"5")),
            ("private=\"a, b\"", "private", Argument::Text(b"a, b")),
            ("max-age=", "max-age", Argument::Text(b"")),
            ("max-age =5", "max-age", Argument::Malformed),
            ("max-age= 5", "max-age", Argument::Malformed),
            ("max-age=\"5", "max-age", Argument::Malformed),
            ("max-age=\"5\"6", "max-age", Argument::Malformed),
            ("x=\"a\\\"b, no-store\"", "x", Argument::Text(b"a\\\"b, no-store")),
            ("max-age=\"5\\\"", "max-age", Argument::Malformed),
            ("max-age=5;x", "max-age", Argument::Malformed),
            ("=5", "", Argument::Malformed),
            ("public; no-store", "public; no-store", Argument::Malformed),
        ] {
            assert_eq!(only(line), (name.to_owned(), argument), "{line:?}");
        }
    }
}
