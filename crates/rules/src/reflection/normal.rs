//! Normal: text without its escapes and in small letters, so that a value is found in whatever form it is repeated, also
//! one that mixes several or escapes twice. What is looked for and what is looked through go through the same.
//!
//! Resolved are percent-encoding, HTML's character references, and the escapes of JSON and JavaScript. `+` is a space.

/// Appends the normal form.
pub(super) fn push(text: &[u8], out: &mut Vec<u8>) {
    let begin = out.len();
    let mut rest = text;
    while let Some(at) = memchr::memchr3(b'%', b'&', b'\\', rest) {
        plain(&rest[..at], out);
        rest = escaped(&rest[at..], begin, out);
    }
    plain(rest, out);
}

/// Drops what may be the beginning of an escape from the end: what follows it in an answer might complete it.
pub(super) fn without_open_end(normal: &[u8]) -> &[u8] {
    let least = normal.len().saturating_sub(LONGEST);
    let opens = |byte: &u8| matches!(byte, b'%' | b'&' | b'\\');
    let Some(at) = normal[least..].iter().rposition(opens).map(|at| least + at) else { return normal };
    let after = &normal[at + 1..];
    let is_open = match normal[at] {
        b'%' => after.len() < 2,
        b'&' => after.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'#'),
        _ => after.len() < 5,
    };
    if is_open { without_open_end(&normal[..at]) } else { normal }
}

/// No escape is longer: `&#x0000003c;`.
const LONGEST: usize = 12;

/// What no escape can begin in.
fn plain(text: &[u8], out: &mut Vec<u8>) {
    out.extend(text.iter().map(|byte| folded(*byte)));
}

fn folded(byte: u8) -> u8 {
    if byte == b'+' { b' ' } else { byte.to_ascii_lowercase() }
}

/// The text from something on that opens an escape: byte by byte, until so much has passed that nothing can be open. Gives
/// back what is left of it.
fn escaped<'t>(text: &'t [u8], begin: usize, out: &mut Vec<u8>) -> &'t [u8] {
    if let Some((byte, rest)) = simple(text) {
        out.push(byte);
        return rest;
    }
    let mut since = 0;
    for (at, byte) in text.iter().enumerate() {
        since = if matches!(byte, b'%' | b'&' | b'\\') { 0 } else { since + 1 };
        if since > LONGEST {
            return &text[at..];
        }
        out.push(folded(*byte));
        // What was resolved may complete what stands before it.
        while may_end(out) && resolve(begin, out) {
            since = 0;
        }
    }
    &[]
}

/// The commonest escapes, of what opens no other: `\\"` and `%2F`.
fn simple(text: &[u8]) -> Option<(u8, &[u8])> {
    let (byte, rest) = match text {
        [b'\\', byte, rest @ ..] if !b"uUxX".contains(byte) => (*byte, rest),
        [b'%', high, low, rest @ ..] => (u8::try_from(hex(&[*high, *low])?).ok()?, rest),
        _ => return None,
    };
    (!b"%&\\".contains(&byte)).then_some((folded(byte), rest))
}

/// Whether the last byte can be the end of an escape, which most are not.
fn may_end(out: &[u8]) -> bool {
    matches!(out, [.., b'\\', _] | [.., b';' | b'0'..=b'9' | b'a'..=b'f'])
}

/// Resolves the escape that the text ends with, if it does with one. Each time it gets shorter, so that this ends.
fn resolve(begin: usize, out: &mut Vec<u8>) -> bool {
    let text = &out[begin..];
    let (length, code) = match text {
        [.., b'%', high, low] if hex(&[*high, *low]).is_some() => (3, hex(&[*high, *low])),
        [.., b'\\', b'x', high, low] if hex(&[*high, *low]).is_some() => (4, hex(&[*high, *low])),
        [.., b'\\', b'u', a, b, c, d] if hex(&[*a, *b, *c, *d]).is_some() => (6, hex(&[*a, *b, *c, *d])),
        [.., b'\\', b'u' | b'x'] => return false,
        [.., b'\\', byte] => (2, Some(u32::from(*byte))),
        [.., b';'] => match reference(text) {
            Some((length, code)) => (length, Some(code)),
            None => return false,
        },
        _ => return false,
    };
    let is_percent = text[text.len() - length] == b'%';
    let Some(code) = code else { return false };
    out.truncate(out.len() - length);
    match (u8::try_from(code), char::from_u32(code)) {
        // Percent-encoding is of bytes, the others are of characters.
        (Ok(byte), _) if is_percent || byte.is_ascii() => out.push(folded(byte)),
        (_, Some(character)) => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        (_, None) => {}
    }
    true
}

/// The length and the meaning of the character reference that the text ends with.
fn reference(text: &[u8]) -> Option<(usize, u32)> {
    let tail = &text[text.len().saturating_sub(LONGEST)..text.len() - 1];
    let at = memchr::memrchr(b'&', tail)?;
    let code = match &tail[at + 1..] {
        b"lt" => u32::from(b'<'),
        b"gt" => u32::from(b'>'),
        b"amp" => u32::from(b'&'),
        b"quot" => u32::from(b'"'),
        b"apos" => u32::from(b'\''),
        b"sol" => u32::from(b'/'),
        b"bsol" => u32::from(b'\\'),
        b"nbsp" => u32::from(b' '),
        [b'#', b'x', digits @ ..] if !digits.is_empty() => hex(digits)?,
        [b'#', digits @ ..] => std::str::from_utf8(digits).ok()?.parse().ok()?,
        _ => return None,
    };
    Some((tail.len() - at + 1, code))
}

fn hex(digits: &[u8]) -> Option<u32> {
    digits
        .iter()
        .try_fold(0_u32, |number, digit| Some(number.checked_mul(16)? + char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normal(text: &str) -> String {
        let mut out = Vec::new();
        push(text.as_bytes(), &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn escapes_of_every_kind_are_resolved() {
        for text in [
            "<A/b>",
            "%3CA%2Fb%3E",
            "%3ca%2fb%3e",
            "&lt;A/b&gt;",
            "&#60;a&#47;b&#62;",
            "&#x3C;a&#x2f;b&#x3E;",
            "\\u003ca\\/b\\u003E",
            "\\x3ca\\x2Fb\\x3e",
            "&#060;a&sol;b&gt;",
            "%253Ca/b%26gt%3B",
            "&amp;lt;a/b>",
        ] {
            assert_eq!(normal(text), "<a/b>", "{text}");
        }
        assert_eq!(normal("a+b%20c&nbsp;d"), "a b c d");
        assert_eq!(normal("say \\\"hi\\\""), "say \"hi\"");
        assert_eq!(normal("\\u00e9%C3%A9&#233;\u{e9}"), "\u{e9}".repeat(4));
    }

    #[test]
    fn what_is_no_escape_stays() {
        for text in
            ["100% of it", "%", "%4", "%zz", "a & b", "&nosuch;", "&#;", "&#xg;", "\\u12", "&;", "50%;"]
        {
            assert_eq!(normal(text), text, "{text}");
        }
    }

    #[test]
    fn an_open_end_is_dropped() {
        for (text, expected) in [
            ("abc", "abc"),
            ("abc%", "abc"),
            ("abc%4", "abc"),
            ("abc&", "abc"),
            ("abc&#x3", "abc"),
            ("abc\\", "abc"),
            ("abc\\u00", "abc"),
            ("abc%&", "abc"),
            ("a & b", "a & b"),
            ("100% sure", "100% sure"),
            ("%&\\", ""),
        ] {
            assert_eq!(without_open_end(text.as_bytes()), expected.as_bytes(), "{text}");
        }
    }

    /// One of the ways in which a character may be written.
    fn written(character: char, way: u8) -> String {
        let code = u32::from(character);
        match way {
            0 => character.to_string(),
            1 => format!("%{code:02X}"),
            2 => format!("%{code:02x}"),
            3 => format!("&#{code};"),
            4 => format!("&#x{code:x};"),
            5 => format!("\\u{code:04x}"),
            6 => format!("%25{code:02X}"),
            _ if "\"\\/".contains(character) => format!("\\{character}"),
            _ => character.to_string(),
        }
    }

    proptest! {
        /// Whatever is escaped, however, it is found; each character may be escaped in a way of its own, but for one behind
        /// a backslash, and those that open an escape.
        #[test]
        fn what_was_escaped_is_as_what_was_not(pieces in prop::collection::vec(("[ -~]", 0_u8..8), 1..12)) {
            let plain: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
            let opens = |text: &str| ["%", "&", "\\"].contains(&text);
            let mut is_after = false;
            let mut written_so = String::new();
            for (text, way) in &pieces {
                let way = if opens(text) { 1 } else if is_after { 0 } else { *way };
                is_after = text == "\\";
                written_so += &written(text.chars().next().unwrap(), way);
            }
            prop_assert_eq!(normal(&plain), normal(&written_so), "{}", written_so);
        }

        #[test]
        fn it_is_never_longer_than_twice_and_the_same_when_done_twice(text in "[%&\\\\;#xut0-9a-fA-F<é]{0,40}") {
            let once = normal(&text);
            prop_assert!(once.len() <= 2 * text.len());
            prop_assert_eq!(normal(&once), once);
        }
    }
}
