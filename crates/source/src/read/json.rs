//! JSON: values as JSON, written one behind another. A value that is JSON itself stays as it is, byte for byte; any
//! other becomes a string. Called by `form`.

use message::Result;

use super::form::no_text;

/// Appends one value. Fails where it is no text: JSON has no bytes, and made readable they would be others.
pub(super) fn write_value(value: &[u8], out: &mut Vec<u8>) -> Result<()> {
    if json::is_valid(value) {
        out.extend_from_slice(value);
        return Ok(());
    }
    write_string(value, out)
}

/// Appends a string.
pub(super) fn write_string(value: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let text = std::str::from_utf8(value).map_err(|_| no_text())?;
    json::write_string(text, out);
    Ok(())
}

/// Appends a number as Redis writes it; JSON has no infinite ones.
pub(super) fn write_number(number: &[u8], out: &mut Vec<u8>) -> Result<()> {
    if number.ends_with(b"inf") { write_string(number, out) } else { write_value(number, out) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: impl AsRef<[u8]>) -> String {
        let mut out = Vec::new();
        write_value(value.as_ref(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_is_json_stays_byte_for_byte() {
        for json in [r#"{ "a" : [1.50, "\u00e9", null] }"#, "1e400", "-0", "true", "null", r#""x""#, " [] "] {
            assert_eq!(written(json), json);
        }
    }

    #[test]
    fn any_other_text_becomes_a_string() {
        for (value, json) in [
            ("ann", r#""ann""#),
            ("", r#""""#),
            ("007", r#""007""#),
            ("{", r#""{""#),
            ("a\"\\\r\n\0", r#""a\"\\\r\n\u0000""#),
            ("NaN", r#""NaN""#),
            ("\"a\nb\"", r#""\"a\nb\"""#),
        ] {
            assert_eq!(written(value), json, "{value:?}");
        }
    }

    #[test]
    fn depth_does_no_harm() {
        let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        assert_eq!(written(&deep), deep);
        assert!(written("[".repeat(1_000_000)).starts_with("\"["));
    }

    #[test]
    fn bytes_are_no_json() {
        for bytes in [&b"\xff"[..], b"\"\xff\"", b"[\"\xc3\"]"] {
            assert!(write_value(bytes, &mut Vec::new()).is_err());
        }
    }
}
