//! Text: strings of JSON read and written (RFC 8259 §7).

use std::borrow::Cow;

use crate::scan::{JsonKind, kind};

/// The text that a JSON string means; `None` where the value is no string. Half of a surrogate pair, which no text can
/// hold, becomes U+FFFD, as when JavaScript sends it.
pub fn text(json: &str) -> Option<Cow<'_, str>> {
    if kind(json) != JsonKind::Text {
        return None;
    }
    let inner = json.trim_ascii().strip_prefix('"')?.strip_suffix('"')?;
    Some(if inner.contains('\\') { Cow::Owned(unescaped(inner)) } else { Cow::Borrowed(inner) })
}

/// Appends this text as a JSON string.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("a string is written into memory");
}

fn unescaped(inner: &str) -> String {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut following = escape.chars();
        let meant = match following.next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('u') => {
                let (meant, behind) = unicode(following.as_str());
                out.push(meant);
                rest = behind;
                continue;
            }
            Some(itself) => itself,
            None => break,
        };
        out.push(meant);
        rest = following.as_str();
    }
    out.push_str(rest);
    out
}

/// What stands behind `\u`: the character, of both halves where it has two, and what follows.
fn unicode(text: &str) -> (char, &str) {
    let Some((first, rest)) = unit(text) else { return (char::REPLACEMENT_CHARACTER, text) };
    if let Some(meant) = char::from_u32(u32::from(first)) {
        return (meant, rest);
    }
    let pair = rest.strip_prefix("\\u").and_then(unit).and_then(|(second, behind)| {
        let meant = char::decode_utf16([first, second]).next()?.ok()?;
        Some((meant, behind))
    });
    pair.unwrap_or((char::REPLACEMENT_CHARACTER, rest))
}

fn unit(text: &str) -> Option<(u16, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    Some((u16::from_str_radix(digits, 16).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_without_escapes_are_not_copied() {
        assert!(matches!(text(" \"é x\" "), Some(Cow::Borrowed("é x"))));
        assert!(matches!(text("\"\""), Some(Cow::Borrowed(""))));
    }

    #[test]
    fn escapes_mean_what_they_mean() {
        for (json, meant) in [
            (r#""a\"b\\c\/d""#, "a\"b\\c/d"),
            (r#""\b\f\n\r\t""#, "\u{8}\u{c}\n\r\t"),
            (r#""\u00e9\u0000\u20AC!""#, "é\0€!"),
            (r#""\ud83d\ude00.""#, "😀."),
            (r#""\ud83d\ude00\ud83d\ude00""#, "😀😀"),
        ] {
            assert_eq!(text(json).unwrap(), meant);
            assert_eq!(serde_json::from_str::<String>(json).unwrap(), meant);
        }
    }

    #[test]
    fn half_a_pair_becomes_a_replacement() {
        for (json, meant) in [
            (r#""\ud800""#, "\u{fffd}"),
            (r#""a\udc00b""#, "a\u{fffd}b"),
            (r#""\ud800\u0041""#, "\u{fffd}A"),
            (r#""\ud800\ud83d\ude00""#, "\u{fffd}😀"),
        ] {
            assert_eq!(text(json).unwrap(), meant);
        }
    }

    #[test]
    fn only_strings_are_text() {
        for json in ["1", "null", "true", "[\"a\"]", "{}"] {
            assert_eq!(text(json), None);
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for plain in ["", "ann", "a\"\\\r\n\0é😀/"] {
            let mut out = Vec::new();
            write_string(plain, &mut out);
            assert_eq!(text(std::str::from_utf8(&out).unwrap()).unwrap(), plain);
        }
    }
}
