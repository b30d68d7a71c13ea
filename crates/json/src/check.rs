//! Check: bytes of others in, JSON out where they are one value of it (RFC 8259). Called where an answer comes in.

use serde::de::IgnoredAny;

/// Whether these bytes are one JSON value in UTF-8, with or without white space around it. Depth does not matter: it is
/// looked through without going down into it.
pub fn is_valid(bytes: &[u8]) -> bool {
    check(bytes).is_some()
}

/// The value as text, without the white space around it; `None` where [`is_valid`] says no.
pub fn check(bytes: &[u8]) -> Option<&str> {
    let may_be = matches!(
        bytes.trim_ascii_start().first(),
        Some(b'{' | b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n')
    );
    if !may_be {
        return None;
    }
    // Read as text first: what is skipped is not looked at byte by byte.
    let text = std::str::from_utf8(bytes).ok()?;
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    Some(text.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_is_json() {
        for json in [r#"{ "a" : [1.50, "\u00e9", null] }"#, "1e400", "-0", "true", "null", r#""x""#] {
            assert_eq!(check(json.as_bytes()), Some(json));
            assert_eq!(check(format!(" \r\n\t{json}\n ").as_bytes()), Some(json));
        }
    }

    #[test]
    fn anything_else_is_none() {
        for text in
            ["", " ", "ann", "007", "{", "1 2", "NaN", "[1,]", "{a:1}", "\"a\nb\"", "\u{c}1", "1\u{c}"]
        {
            assert!(!is_valid(text.as_bytes()), "{text:?}");
        }
        for bytes in [&b"\xff"[..], b"\"\xff\"", b"[\"\xc3\"]", b"\xef\xbb\xbf1"] {
            assert!(!is_valid(bytes), "{bytes:?}");
        }
    }

    #[test]
    fn depth_does_no_harm() {
        let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        assert!(is_valid(deep.as_bytes()));
        assert!(!is_valid("[".repeat(1_000_000).as_bytes()));
    }
}
