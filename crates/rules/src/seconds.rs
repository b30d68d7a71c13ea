//! Seconds: delta-seconds (RFC 9111 §1.2.2), the whole numbers of `max-age`, `Age` and their kin.

use std::time::Duration;

/// What a number too large to matter becomes: 2^31 (RFC 9111 §1.2.2), some 68 years.
pub const MOST_SECONDS: u32 = 1 << 31;

/// Parses `1*DIGIT`, and nothing else: no sign, no space, no fraction. Overflow gives [`MOST_SECONDS`].
pub fn parse(text: &[u8]) -> Option<u32> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let seconds =
        text.iter().fold(0u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
    Some(clamp(seconds))
}

/// At most [`MOST_SECONDS`].
pub fn clamp(seconds: u64) -> u32 {
    u32::try_from(seconds).map_or(MOST_SECONDS, |seconds| seconds.min(MOST_SECONDS))
}

/// A duration in milliseconds, at most [`MOST_SECONDS`].
pub(crate) fn millis(duration: Duration) -> u64 {
    let most = u64::from(MOST_SECONDS) * 1000;
    u64::try_from(duration.as_millis()).map_or(most, |millis| millis.min(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9111_1_2_2_delta_seconds_are_digits_and_overflow_to_2_31() {
        for (text, expected) in [
            ("0", Some(0)),
            ("007", Some(7)),
            ("2147483647", Some(2_147_483_647)),
            ("2147483648", Some(MOST_SECONDS)),
            ("4294967296", Some(MOST_SECONDS)),
            ("99999999999999999999999999", Some(MOST_SECONDS)),
            ("", None),
            ("-1", None),
            ("+1", None),
            ("1.0", None),
            (" 1", None),
            ("1 ", None),
            ("0x1", None),
            ("1a", None),
            ("٣", None),
        ] {
            assert_eq!(parse(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn durations_are_clamped() {
        assert_eq!(millis(Duration::from_millis(1500)), 1500);
        assert_eq!(millis(Duration::MAX), u64::from(MOST_SECONDS) * 1000);
    }
}
