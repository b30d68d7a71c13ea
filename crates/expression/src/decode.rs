//! Decode: percent-encoded bytes of a path or a query → the bytes they stand for. Called by `slot`, without allocating.

/// How the bytes of a value were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coding {
    /// As they are.
    Plain,
    /// Percent-encoded: paths.
    Percent,
    /// Percent-encoded, and `+` for a space: queries.
    Form,
}

/// The decoded bytes. A `%` without two digits stands for itself: refusing it would make the value missing, and with it
/// a key that others share.
pub(crate) fn decoded(raw: &[u8], coding: Coding) -> impl Iterator<Item = u8> {
    let mut rest = raw;
    std::iter::from_fn(move || {
        let (&byte, behind) = rest.split_first()?;
        rest = behind;
        Some(match (byte, coding) {
            (b'+', Coding::Form) => b' ',
            (b'%', Coding::Percent | Coding::Form) => match escape(behind) {
                Some(decoded) => {
                    rest = &behind[2..];
                    decoded
                }
                None => byte,
            },
            _ => byte,
        })
    })
}

/// Appends the decoded bytes.
pub(crate) fn write(raw: &[u8], coding: Coding, out: &mut Vec<u8>) {
    let encoded = match coding {
        Coding::Plain => false,
        Coding::Percent => raw.contains(&b'%'),
        Coding::Form => raw.iter().any(|byte| matches!(byte, b'%' | b'+')),
    };
    if encoded {
        out.extend(decoded(raw, coding));
    } else {
        out.extend_from_slice(raw);
    }
}

/// The byte two hexadecimal digits stand for.
fn escape(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    match digits {
        [high, low, ..] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(raw: &str, coding: Coding) -> Vec<u8> {
        let mut out = Vec::new();
        write(raw.as_bytes(), coding, &mut out);
        out
    }

    #[test]
    fn decodes_as_the_place_wants_it() {
        assert_eq!(read("a%20b+c", Coding::Form), b"a b c");
        assert_eq!(read("a%20b+c", Coding::Percent), b"a b+c");
        assert_eq!(read("a%20b+c", Coding::Plain), b"a%20b+c");
        assert_eq!(read("%C3%a9%fF", Coding::Form), b"\xc3\xa9\xff");
    }

    #[test]
    fn what_is_no_escape_stands_for_itself() {
        for raw in ["%", "%4", "%zz", "a%", "%%"] {
            assert_eq!(read(raw, Coding::Form), raw.as_bytes(), "{raw}");
        }
        assert_eq!(read("%%41", Coding::Form), b"%A");
    }
}
