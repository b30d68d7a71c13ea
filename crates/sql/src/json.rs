//! JSON: single values as text, written behind what is there. Called for each cell of each row.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::IgnoredAny;

/// `null`.
pub(crate) fn null(out: &mut Vec<u8>) {
    out.extend_from_slice(b"null");
}

/// `true` or `false`.
pub(crate) fn truth(value: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

/// A whole number, all its digits.
pub(crate) fn integer(value: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// The shortest digits that give the same number again; what is no number is `null`.
pub(crate) fn double(value: f64, out: &mut Vec<u8>) {
    // serde_json writes null for NaN and infinities, and a Vec takes all there is.
    drop(serde_json::to_writer(out, &value));
}

/// The same of one of single precision.
pub(crate) fn single(value: f32, out: &mut Vec<u8>) {
    drop(serde_json::to_writer(out, &value));
}

/// A decimal number, digit for digit. What JSON does not take for one (zeros in front, `NaN`) is made what it is or a
/// string.
pub(crate) fn decimal(digits: &[u8], out: &mut Vec<u8>) {
    let (sign, unsigned) = match digits.strip_prefix(b"-") {
        Some(unsigned) => (&b"-"[..], unsigned),
        None => (&b""[..], digits),
    };
    let zeros = unsigned.iter().take_while(|digit| **digit == b'0').count();
    let significant = match unsigned.get(zeros) {
        Some(b'0'..=b'9') => &unsigned[zeros..],
        _ => &unsigned[zeros.saturating_sub(1)..],
    };
    if significant.first().is_some_and(u8::is_ascii_digit) && is_valid(significant) {
        out.extend_from_slice(sign);
        out.extend_from_slice(significant);
    } else {
        bytes(digits, out);
    }
}

/// JSON of the database, as it is; as a string, if it is none.
pub(crate) fn spliced(text: &[u8], out: &mut Vec<u8>) {
    if is_valid(text) {
        out.extend_from_slice(text);
    } else {
        bytes(text, out);
    }
}

/// Whether this is JSON.
pub(crate) fn is_valid(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

/// A string of these bytes; of their base64 (RFC 4648 §4, with padding), if they are no UTF-8.
pub(crate) fn bytes(value: &[u8], out: &mut Vec<u8>) {
    if let Ok(text) = std::str::from_utf8(value) {
        string(text, out);
    } else {
        out.push(b'"');
        let start = out.len();
        let length = value.len().div_ceil(3) * 4;
        out.resize(start + length, 0);
        let written = STANDARD.encode_slice(value, &mut out[start..]);
        out.truncate(start + written.expect("four characters stand for three bytes"));
        out.push(b'"');
    }
}

/// A string (RFC 8259 §7).
pub(crate) fn string(text: &str, out: &mut Vec<u8>) {
    let text = text.as_bytes();
    out.reserve(text.len() + 2);
    out.push(b'"');
    let mut written = 0;
    for (index, byte) in text.iter().enumerate() {
        let Some(escape) = ESCAPES[*byte as usize] else { continue };
        out.extend_from_slice(&text[written..index]);
        written = index + 1;
        out.push(b'\\');
        out.push(escape);
        if escape == b'u' {
            out.extend_from_slice(b"00");
            out.push(HEX[(byte >> 4) as usize]);
            out.push(HEX[(byte & 15) as usize]);
        }
    }
    out.extend_from_slice(&text[written..]);
    out.push(b'"');
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// What stands behind the backslash, for the bytes that need one.
const ESCAPES: [Option<u8>; 256] = {
    let mut escapes = [None; 256];
    let mut byte = 0;
    while byte < 32 {
        escapes[byte] = Some(b'u');
        byte += 1;
    }
    escapes[0x08] = Some(b'b');
    escapes[0x09] = Some(b't');
    escapes[0x0a] = Some(b'n');
    escapes[0x0c] = Some(b'f');
    escapes[0x0d] = Some(b'r');
    escapes[b'"' as usize] = Some(b'"');
    escapes[b'\\' as usize] = Some(b'\\');
    escapes
};

/// `2024-01-31`.
pub(crate) fn date(year: i64, month: u32, day: u32, out: &mut Vec<u8>) {
    if year < 0 {
        out.push(b'-');
    }
    digits(year.unsigned_abs(), 4, out);
    out.push(b'-');
    digits(month.into(), 2, out);
    out.push(b'-');
    digits(day.into(), 2, out);
}

/// `12:34:56`, with as much of a fraction as there is.
pub(crate) fn time(hours: u64, minutes: u32, seconds: u32, microseconds: u32, out: &mut Vec<u8>) {
    digits(hours, 2, out);
    out.push(b':');
    digits(minutes.into(), 2, out);
    out.push(b':');
    digits(seconds.into(), 2, out);
    if microseconds > 0 {
        out.push(b'.');
        digits(microseconds.into(), 6, out);
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

/// At least this many digits.
fn digits(value: u64, width: usize, out: &mut Vec<u8>) {
    let mut buffer = itoa::Buffer::new();
    let text = buffer.format(value);
    out.extend(std::iter::repeat_n(b'0', width.saturating_sub(text.len())));
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn decimals_keep_their_digits_and_stay_json() {
        for (digits, json) in [
            ("12345678901234567890.10", "12345678901234567890.10"),
            ("-0.50", "-0.50"),
            ("0007.5", "7.5"),
            ("0000", "0"),
            ("000.25", "0.25"),
            ("-00", "-0"),
            ("NaN", "\"NaN\""),
            ("-", "\"-\""),
            ("", "\"\""),
            ("--1", "\"--1\""),
            ("1]", "\"1]\""),
        ] {
            assert_eq!(written(|out| decimal(digits.as_bytes(), out)), json);
        }
    }

    #[test]
    fn what_is_no_number_is_null() {
        assert_eq!(written(|out| double(f64::NAN, out)), "null");
        assert_eq!(written(|out| double(f64::NEG_INFINITY, out)), "null");
        assert_eq!(written(|out| single(0.1, out)), "0.1");
        assert_eq!(written(|out| double(7.0, out)), "7.0");
    }

    #[test]
    fn bytes_are_text_or_base64() {
        assert_eq!(written(|out| bytes("ä\u{0}\u{1f}\n\"\\".as_bytes(), out)), r#""ä\u0000\u001f\n\"\\""#);
        assert_eq!(written(|out| bytes(&[0xff, 0xfe, 0, 1], out)), "\"//4AAQ==\"");
    }

    #[test]
    fn fractions_are_written_where_there_are_some() {
        assert_eq!(written(|out| time(1, 2, 3, 0, out)), "01:02:03");
        assert_eq!(written(|out| time(838, 2, 3, 500_000, out)), "838:02:03.5");
        assert_eq!(written(|out| date(2024, 1, 31, out)), "2024-01-31");
    }

    proptest! {
        #[test]
        fn strings_read_back_as_they_were(text in ".*") {
            let json = written(|out| string(&text, out));
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
