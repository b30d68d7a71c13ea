//! Interest: which of a request's fields concern the cache, found in one pass.

use http::HeaderMap;
use message::Fields;
use plan::CachePolicy;
use rules::RequestDirectives;

/// Which fields are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Interest(u16);

const AUTHORIZATION: u16 = 1;
const DIRECTIVES: u16 = 1 << 1;
/// If-None-Match, If-Modified-Since: evaluated against the stored answer.
const CONDITION: u16 = 1 << 2;
/// If-Match, If-Unmodified-Since: only the origin can tell.
const ORIGIN_CONDITION: u16 = 1 << 3;
const RANGE: u16 = 1 << 4;
const UPGRADE: u16 = 1 << 5;

impl Interest {
    pub(crate) fn of(fields: Fields<'_>) -> Self {
        match fields {
            Fields::Wire(lines) => {
                Interest(lines.iter().fold(0, |all, line| all | interest_in(line.name.as_bytes())))
            }
            Fields::Map(map) => Interest::in_map(map),
        }
    }

    fn in_map(map: &HeaderMap) -> Self {
        Interest(map.keys().fold(0, |all, name| all | interest_in(name.as_str().as_bytes())))
    }

    /// The answer to give is not the stored one as it is: 304, 206, 412, 416.
    pub(crate) fn shapes_the_answer(self) -> bool {
        self.0 & (CONDITION | RANGE) != 0
    }

    /// Why nothing stored can answer, in a word: the origin must decide.
    pub(crate) fn bypass(self) -> Option<&'static str> {
        match self.0 & (ORIGIN_CONDITION | UPGRADE) {
            0 => None,
            UPGRADE => Some("upgrade"),
            _ => Some("condition"),
        }
    }

    pub(crate) fn authorization(self) -> bool {
        self.0 & AUTHORIZATION != 0
    }

    pub(crate) fn range(self) -> bool {
        self.0 & RANGE != 0
    }

    /// The request's directives, where the policy honours them.
    pub(crate) fn directives(self, fields: Fields<'_>, policy: &CachePolicy) -> RequestDirectives {
        if self.0 & DIRECTIVES == 0 || !policy.rules.client_directives {
            return RequestDirectives::default();
        }
        RequestDirectives::of(fields)
    }
}

/// Dispatches on the length before comparing: most names are of no interest and cost one jump.
fn interest_in(name: &[u8]) -> u16 {
    let is = |word: &str| name.eq_ignore_ascii_case(word.as_bytes());
    match name.len() {
        5 if is("range") => RANGE,
        6 if is("pragma") => DIRECTIVES,
        7 if is("upgrade") => UPGRADE,
        8 if is("if-match") => ORIGIN_CONDITION,
        13 if is("authorization") => AUTHORIZATION,
        13 if is("cache-control") => DIRECTIVES,
        13 if is("if-none-match") => CONDITION,
        17 if is("if-modified-since") => CONDITION,
        19 if is("if-unmodified-since") => ORIGIN_CONDITION,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_whatever_their_case() {
        let line = |name| httparse_line(name);
        let lines = [line("HOST"), line("rAnGe"), line("Authorization"), line("Ranges")];
        let interest = Interest::of(Fields::Wire(&lines));
        assert!(interest.range() && interest.authorization() && interest.shapes_the_answer());
        assert_eq!(interest.bypass(), None);
        assert_eq!(Interest::of(Fields::Wire(&[line("Upgrade")])).bypass(), Some("upgrade"));
        assert_eq!(Interest::of(Fields::Wire(&[line("If-Match")])).bypass(), Some("condition"));
    }

    fn httparse_line(name: &'static str) -> httparse::Header<'static> {
        httparse::Header { name, value: b"x" }
    }
}
