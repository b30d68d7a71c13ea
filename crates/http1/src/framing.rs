//! Framing: where a message's content ends (RFC 9112 §6). Decided while a head is read; obeyed by `Decoder`.

use message::{Error, Kind, Result};

/// Content framing of one message (RFC 9112 §6.3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// No content.
    Empty,
    /// Exactly this many bytes.
    Length(u64),
    /// Chunks, then perhaps trailers.
    Chunked,
    /// All bytes until the peer closes the connection; responses only.
    UntilClose,
}

/// Reads a `Content-Length` as the one decimal number it must be: digits only, no sign, list or leading zero.
pub(crate) fn content_length(value: &[u8], fault: Kind) -> Result<u64> {
    let leading_zero = value.len() > 1 && value[0] == b'0';
    if value.is_empty() || leading_zero {
        return Err(Error::new(fault, "Content-Length is not a plain decimal number"));
    }
    value.iter().try_fold(0_u64, |length, &byte| {
        if !byte.is_ascii_digit() {
            return Err(Error::new(fault, "Content-Length is not a plain decimal number"));
        }
        length
            .checked_mul(10)
            .and_then(|length| length.checked_add(u64::from(byte - b'0')))
            .ok_or_else(|| Error::new(fault, "Content-Length is too large"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_length_is_a_plain_decimal_number() {
        let good: [(&[u8], u64); 4] =
            [(b"0", 0), (b"5", 5), (b"10", 10), (b"18446744073709551615", u64::MAX)];
        for (value, length) in good {
            assert_eq!(content_length(value, Kind::MalformedRequest).unwrap(), length);
        }
        let bad: [&[u8]; 14] = [
            b"+5",
            b"-5",
            b"0x5",
            b"5_0",
            b"05",
            b"",
            b"5 5",
            b"5,5",
            b"5, 5",
            b"5\t",
            b"5;",
            b"00",
            b"18446744073709551616",
            b"99999999999999999999999",
        ];
        for value in bad {
            assert!(content_length(value, Kind::MalformedRequest).is_err(), "{:?}", value.escape_ascii());
        }
    }
}
