//! Decimal: a number with a fraction as it was written, where a database takes floats or integers. Pure. Called by those
//! who bind values.
//!
//! A float is bound only where it says the same: `19.99` does, `12345678901234567.89` does not.

/// The float that is written with the same digits.
pub(crate) fn as_written(digits: &str) -> Option<f64> {
    let double = digits.parse::<f64>().ok()?;
    (double.to_string() == digits).then_some(double)
}

/// The float that is the same number, `1.5` for `1.50`.
pub(crate) fn same(digits: &str) -> Option<f64> {
    let double = digits.parse::<f64>().ok().filter(|double| double.is_finite())?;
    (parts(digits)? == parts(&format!("{double:e}"))?).then_some(double)
}

/// The whole number that is the same: `7` for `7.0` and `7e0`.
pub(crate) fn whole(digits: &str) -> Option<i128> {
    let double = same(digits).filter(|double| double.fract() == 0.0 && double.abs() < 1e15)?;
    Some(double as i128)
}

/// Whether it is negative, its digits without zeros at the ends, and the power of ten that they are multiplied with.
fn parts(number: &str) -> Option<(bool, String, i64)> {
    let absolute = number.strip_prefix('-').unwrap_or(number);
    let (mantissa, power) = absolute.split_once(['e', 'E']).unwrap_or((absolute, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let digits = all.trim_end_matches('0');
    let zeros = all.len() - digits.len();
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some((false, String::new(), 0));
    }
    let power: i64 = power.parse().ok()?;
    let power = power.checked_sub_unsigned(fraction.len() as u64)?.checked_add_unsigned(zeros as u64)?;
    Some((absolute.len() < number.len(), digits.to_owned(), power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_says_the_same_or_is_not_used() {
        for (digits, as_it_is, number) in [
            ("19.99", Some(19.99), Some(19.99)),
            ("-0.1", Some(-0.1), Some(-0.1)),
            ("1.50", None, Some(1.5)),
            ("1e3", None, Some(1000.0)),
            ("-0.0", None, Some(-0.0)),
            ("0.000", None, Some(0.0)),
            ("12345678901234567.89", None, None),
            ("0.12345678901234567890", None, None),
            ("1e400", None, None),
            ("1e99999999999999999999", None, None),
        ] {
            assert_eq!(as_written(digits), as_it_is, "{digits}");
            assert_eq!(same(digits), number, "{digits}");
        }
        assert_eq!(whole("7.0"), Some(7));
        assert_eq!(whole("-70e-1"), Some(-7));
        assert_eq!((whole("7.5"), whole("1e300")), (None, None));
    }
}
