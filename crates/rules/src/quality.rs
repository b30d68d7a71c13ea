//! Quality: the members of `Accept`, `Accept-Encoding` and `Accept-Language` with their weights (RFC 9110 §12.4.2).

use crate::list::trim;

/// A weight in thousandths, from 0 (not acceptable) to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Quality(u16);

impl Quality {
    /// Not acceptable.
    pub(crate) const ZERO: Quality = Quality(0);
    /// What holds where no weight is given.
    pub(crate) const ONE: Quality = Quality(1000);

    /// `0` or `1`, and up to three digits after the point.
    fn parse(text: &[u8]) -> Option<Self> {
        let (whole, digits) = match text {
            [whole] => (whole, &[][..]),
            [whole, b'.', digits @ ..] if digits.len() <= 3 => (whole, digits),
            _ => return None,
        };
        if !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let thousandths =
            (0..3).fold(0, |sum, place| sum * 10 + u16::from(digits.get(place).map_or(0, |d| d - b'0')));
        match (whole, thousandths) {
            (b'0', thousandths) => Some(Quality(thousandths)),
            (b'1', 0) => Some(Quality::ONE),
            _ => None,
        }
    }
}

/// What a line names, each with its weight. Neither list knows quotes, so a comma always separates. See [`weighed`].
pub(crate) fn members(line: &[u8]) -> impl Iterator<Item = (&[u8], Quality)> {
    line.split(|&byte| byte == b',').filter_map(weighed)
}

/// What a member names, with its weight. One whose weight cannot be read is as if it were not there; other parameters
/// mean nothing.
pub(crate) fn weighed(member: &[u8]) -> Option<(&[u8], Quality)> {
    let mut parts = member.split(|&byte| byte == b';').map(trim);
    let name = parts.next().filter(|name| !name.is_empty())?;
    let weight = parts.find_map(|parameter| match parameter {
        [b'q' | b'Q', b'=', weight @ ..] => Some(weight),
        _ => None,
    });
    Some((name, weight.map_or(Some(Quality::ONE), Quality::parse)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9110_12_4_2_weights() {
        for (text, expected) in [
            ("1", Some(1000)),
            ("1.", Some(1000)),
            ("1.000", Some(1000)),
            ("0", Some(0)),
            ("0.", Some(0)),
            ("0.5", Some(500)),
            ("0.05", Some(50)),
            ("0.123", Some(123)),
            ("0.1234", None),
            ("1.001", None),
            ("2", None),
            ("-1", None),
            (".5", None),
            ("0.a", None),
            ("", None),
        ] {
            assert_eq!(Quality::parse(text.as_bytes()), expected.map(Quality), "{text:?}");
        }
    }

    #[test]
    fn members_come_with_their_weights() {
        let line = b" a ;q=0.5,, b\t; x=1 ; Q=0 ,c;q=9, ;q=1,d;q";
        let found: Vec<_> = members(line).collect();
        assert_eq!(found, [(&b"a"[..], Quality(500)), (b"b", Quality::ZERO), (b"d", Quality::ONE)]);
    }
}
