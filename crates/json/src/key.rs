//! Key: what a value is compared by when lists are joined. Two values are equal where they mean the same: `"a"` and
//! `"\u0061"`, or `1`, `1.0` and `10e-1`. Numbers are never rounded.

use std::borrow::Cow;

use crate::scan::{JsonKind, kind};
use crate::text::text;

/// See the module.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key<'j> {
    Truth(bool),
    Text(Cow<'j, str>),
    Number(Decimal<'j>),
}

/// The digits without zeros at the ends, and ten to the power of what they are multiplied with.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Decimal<'j> {
    negative: bool,
    digits: Cow<'j, str>,
    exponent: i64,
}

impl<'j> Key<'j> {
    /// `None` where nothing can be joined by it: `null`, as in SQL, lists and maps.
    pub(crate) fn of(json: &'j str) -> Option<Self> {
        match kind(json) {
            JsonKind::Truth => Some(Key::Truth(json.trim_ascii() == "true")),
            JsonKind::Text => Some(Key::Text(text(json)?)),
            JsonKind::Number => Some(Key::Number(Decimal::of(json.trim_ascii()))),
            JsonKind::Null | JsonKind::List | JsonKind::Map => None,
        }
    }
}

impl<'j> Decimal<'j> {
    fn of(number: &'j str) -> Self {
        let (negative, absolute) = match number.strip_prefix('-') {
            Some(absolute) => (true, absolute),
            None => (false, number),
        };
        let (mantissa, power) = absolute.split_once(['e', 'E']).unwrap_or((absolute, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits =
            if fraction.is_empty() { Cow::Borrowed(whole) } else { Cow::Owned([whole, fraction].concat()) };
        let end = digits.trim_end_matches('0').len();
        let start = digits.len() - digits.trim_start_matches('0').len();
        if end <= start {
            return Decimal { negative: false, digits: Cow::Borrowed(""), exponent: 0 };
        }
        let zeros = digits.len() - end;
        match exponent(power, fraction.len(), zeros) {
            Some(exponent) => Decimal { negative, digits: cut(digits, start, end), exponent },
            // A power beyond all measure is equal to itself, as it is spelled.
            None => Decimal { negative, digits: Cow::Borrowed(absolute), exponent: 0 },
        }
    }
}

fn exponent(power: &str, behind_the_dot: usize, zeros: usize) -> Option<i64> {
    let power: i64 = power.parse().ok()?;
    power.checked_sub_unsigned(behind_the_dot as u64)?.checked_add_unsigned(zeros as u64)
}

fn cut(digits: Cow<'_, str>, start: usize, end: usize) -> Cow<'_, str> {
    match digits {
        Cow::Borrowed(digits) => Cow::Borrowed(&digits[start..end]),
        Cow::Owned(digits) => Cow::Owned(digits[start..end].to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_the_same_is_equal() {
        for same in [
            &["1", "1.0", "10e-1", "0.1E+1", "100e-2"][..],
            &["0", "-0", "0.0", "0e999999999999999999999", "-0.00e5"],
            &["1200", "1.2e3", "12E2"],
            &["1.5", "1.50", "0.15e1"],
            &["-7", "-7.0"],
            &["9007199254740993", "9007199254740993.0"],
            &["1e99999999999999999999"],
            &["true", " true "],
            &["\"a\"", "\"\\u0061\""],
        ] {
            for json in same {
                assert_eq!(Key::of(json), Key::of(same[0]), "{json}");
            }
        }
    }

    #[test]
    fn what_differs_is_not() {
        let all = [
            "1",
            "-1",
            "10",
            "0",
            "0.1",
            "1.5",
            "9007199254740993",
            "9007199254740992",
            "1e400",
            "1e401",
            "1e99999999999999999999",
            "\"1\"",
            "\"true\"",
            "true",
            "false",
            "\"\"",
        ];
        for (at, one) in all.iter().enumerate() {
            for other in &all[at + 1..] {
                assert_ne!(Key::of(one), Key::of(other), "{one} {other}");
            }
        }
    }

    #[test]
    fn nothing_is_joined_by_null_lists_and_maps() {
        for json in ["null", "[1]", "{}"] {
            assert_eq!(Key::of(json), None);
        }
    }
}
