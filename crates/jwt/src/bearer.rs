//! Bearer: the token that a request carries in `Authorization: Bearer` (RFC 6750 §2.1). The one reading of that field: what
//! lets a request in and what reads its claims must not find different tokens.

use http::header::AUTHORIZATION;
use message::Fields;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bearer<'a> {
    /// There is none: no `Authorization`, or one of another scheme.
    None,
    /// This one, whatever it is.
    Token(&'a [u8]),
    /// `Authorization` stands there more than once, so that others may read another line.
    Several,
}

/// The token of a request. The scheme counts in any case (RFC 9110 §11.1). What only looks like it, with a tab or nothing behind
/// `Bearer`, is a token too, a bad one: somebody behind us may read it so.
pub fn bearer(fields: Fields<'_>) -> Bearer<'_> {
    let mut lines = fields.all(&AUTHORIZATION);
    let Some(line) = lines.next() else { return Bearer::None };
    if lines.next().is_some() {
        return Bearer::Several;
    }
    match line.trim_ascii().split_at_checked("bearer".len()) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case(b"bearer") && !goes_on(rest) => {
            Bearer::Token(rest.trim_ascii())
        }
        _ => Bearer::None,
    }
}

/// Whether the scheme is a longer word: it goes on with a letter, a digit or another character of a token (RFC 9110 §5.6.2).
fn goes_on(rest: &[u8]) -> bool {
    rest.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};

    use super::*;

    fn found(lines: &[&str]) -> Option<Vec<u8>> {
        let mut fields = HeaderMap::new();
        for line in lines {
            fields.append(AUTHORIZATION, HeaderValue::from_str(line).unwrap());
        }
        match bearer(Fields::Map(&fields)) {
            Bearer::None => None,
            Bearer::Token(token) => Some(token.to_vec()),
            Bearer::Several => Some(b"several".to_vec()),
        }
    }

    #[test]
    fn whatever_somebody_may_take_for_a_token_is_one() {
        for line in ["Bearer a.b.c", "bearer a.b.c", "BEARER   a.b.c ", "Bearer\ta.b.c"] {
            assert_eq!(found(&[line]).as_deref(), Some(&b"a.b.c"[..]), "{line:?}");
        }
        for (line, token) in [("Bearer", ""), ("Bearer ", ""), ("Bearer:x", ":x"), ("Bearer=x", "=x")] {
            assert_eq!(found(&[line]).as_deref(), Some(token.as_bytes()), "{line:?}");
        }
        assert_eq!(found(&["Basic x", "Bearer y"]).as_deref(), Some(&b"several"[..]));
    }

    #[test]
    fn other_schemes_are_none() {
        for line in ["", "Bear", "Basic Bearer", "BearerX y", "Bearer-2 y", "Digest a=b"] {
            assert_eq!(found(&[line]), None, "{line:?}");
        }
        assert_eq!(found(&[]), None);
    }
}
