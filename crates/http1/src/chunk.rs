//! Chunk: the line before a chunk's data (RFC 9112 §7.1): size in hex, perhaps extensions. Read by `Decoder`.

use message::{Error, Kind, Result};

/// Bytes of one chunk line at most, its CRLF included.
pub(crate) const MAX_LINE: usize = 1024;

/// A chunk line at the beginning of `buffer`: its length, its CRLF included, and the chunk's size.
/// `None`: not complete yet.
pub(crate) fn parse_line(buffer: &[u8], fault: Kind) -> Result<Option<(usize, u64)>> {
    let bad = |detail| Err(Error::new(fault, detail));
    let window = &buffer[..buffer.len().min(MAX_LINE)];
    let Some(end) = memchr::memchr(b'\n', window) else {
        return if buffer.len() < MAX_LINE { Ok(None) } else { bad("a chunk line is too long") };
    };
    let Some(line) = window[..end].strip_suffix(b"\r") else {
        return bad("a chunk line ends in a bare line feed");
    };
    let digits = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    if digits == 0 || digits > 16 {
        return bad("a chunk size is not a number of 1 to 16 hex digits");
    }
    if !are_extensions(&line[digits..]) {
        return bad("something other than well-formed extensions follows a chunk size");
    }
    let size = line[..digits].iter().fold(0_u64, |size, &digit| size << 4 | u64::from(hex_value(digit)));
    Ok(Some((end + 1, size)))
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

/// `*( ";" token [ "=" ( token / quoted-string ) ] )`, without the white space that RFC 9112 §7.1.1 calls bad.
fn are_extensions(mut rest: &[u8]) -> bool {
    while let Some(extension) = rest.strip_prefix(b";") {
        let Some(behind_name) = behind_token(extension) else { return false };
        rest = match behind_name.strip_prefix(b"=") {
            None => behind_name,
            Some(value) => {
                let behind_value =
                    if value.first() == Some(&b'"') { behind_quoted(value) } else { behind_token(value) };
                let Some(behind_value) = behind_value else { return false };
                behind_value
            }
        };
    }
    rest.is_empty()
}

fn behind_token(text: &[u8]) -> Option<&[u8]> {
    let length = text.iter().position(|&byte| !is_token_byte(byte)).unwrap_or(text.len());
    (length > 0).then(|| &text[length..])
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// RFC 9110 §5.6.4; `text` begins with the opening quote.
fn behind_quoted(text: &[u8]) -> Option<&[u8]> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(&text[at + 1..]),
            b'\\' => {
                if !is_quotable(*text.get(at + 1)?) {
                    return None;
                }
                at += 2;
            }
            &byte if is_quotable(byte) => at += 1,
            _ => return None,
        }
    }
}

fn is_quotable(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &[u8]) -> Result<Option<(usize, u64)>> {
        parse_line(line, Kind::MalformedRequest)
    }

    #[test]
    fn good_lines() {
        let cases: [(&[u8], u64); 9] = [
            (b"0\r\n", 0),
            (b"5\r\n", 5),
            (b"fF\r\n", 255),
            (b"00000000000000a0\r\n", 160),
            (b"ffffffffffffffff\r\n", u64::MAX),
            (b"5;a\r\n", 5),
            (b"5;a=b;c\r\n", 5),
            (b"5;a=\"b; c\\\"\"\r\n", 5),
            (b"5;a=\"\"\r\n", 5),
        ];
        for (line, size) in cases {
            assert_eq!(parse(line).unwrap(), Some((line.len(), size)), "{}", line.escape_ascii());
            for end in 0..line.len() {
                assert_eq!(parse(&line[..end]).unwrap(), None);
            }
        }
    }

    #[test]
    fn bad_lines() {
        let cases: [&[u8]; 29] = [
            b"0x5\r\n",
            b"+5\r\n",
            b"-1\r\n",
            b"-5\r\n",
            b"5_\r\n",
            b"5_0\r\n",
            b" 5\r\n",
            b"5 \r\n",
            b"5\t\r\n",
            b"\r\n",
            b"00000000000000005\r\n",
            b"10000000000000000\r\n",
            b"5;\r\n",
            b"5;;a\r\n",
            b"5; a\r\n",
            b"5 ;a\r\n",
            b"5;a=\r\n",
            b"5;a =b\r\n",
            b"5;a\r;b\r\n",
            b"5;a\0\r\n",
            b"5;a=\"b\r\n",
            b"5;a=\"\0\"\r\n",
            b"5\n",
            b"5;a\n",
            b"5\r\r\n",
            b"g\r\n",
            b"5,5\r\n",
            b"5.\r\n",
            b"5;a=\"\\\r\n",
        ];
        for line in cases {
            assert!(parse(line).is_err(), "{}", line.escape_ascii());
        }
        let mut long = b"5;".to_vec();
        long.resize(64 * 1024, b'a');
        assert!(parse(&long).is_err());
    }
}
