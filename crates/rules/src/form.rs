//! Form: the names and values of a query as their reader sees them: `+` is a space and `%XX` a byte
//! (application/x-www-form-urlencoded). For comparing them; nothing is ever sent decoded.

/// The bytes that a piece of a query stands for. What is no valid `%XX` stands for itself.
pub(crate) fn decoded(text: &str) -> Decoded<'_> {
    decoded_bytes(text.as_bytes())
}

/// The same, of what may be no text.
pub(crate) fn decoded_bytes(text: &[u8]) -> Decoded<'_> {
    Decoded { rest: text }
}

/// See [`decoded`].
#[derive(Clone)]
pub(crate) struct Decoded<'a> {
    rest: &'a [u8],
}

impl Iterator for Decoded<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        let (&first, rest) = self.rest.split_first()?;
        self.rest = rest;
        match (first, rest) {
            (b'+', _) => Some(b' '),
            (b'%', [high, low, after @ ..]) => match (hex(*high), hex(*low)) {
                (Some(high), Some(low)) => {
                    self.rest = after;
                    Some(high << 4 | low)
                }
                _ => Some(b'%'),
            },
            (other, _) => Some(other),
        }
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// Appends what a piece of a query stands for in one form: letters, digits and `-._~` as they are, all else as `%XX`.
pub(crate) fn write(text: &str, out: &mut String) {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    for byte in decoded(text) {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.extend(['%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
}

/// A parameter's name, and its value where there is an equals sign.
pub(crate) fn split(parameter: &str) -> (&str, Option<&str>) {
    parameter.split_once('=').map_or((parameter, None), |(name, value)| (name, Some(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_of_a_query_is_read_as_a_form_would() {
        for (text, expected) in [
            ("", ""),
            ("a+b%20c", "a b c"),
            ("%75tm%5fx", "utm_x"),
            ("%2575", "%75"),
            ("%", "%"),
            ("%2", "%2"),
            ("%zz%+1", "%zz% 1"),
            ("%%41", "%A"),
        ] {
            assert_eq!(decoded(text).collect::<Vec<_>>(), expected.as_bytes(), "{text}");
        }
        assert_eq!(
            (split("a=b=c"), split("a"), split("=")),
            (("a", Some("b=c")), ("a", None), ("", Some("")))
        );
    }
}
