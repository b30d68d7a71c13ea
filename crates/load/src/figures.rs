//! Figures: numbers as people read them. Used by `compare`.

use std::time::Duration;

/// A whole number with its thousands apart: `124,300`.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A rate: whole from a hundred on, else with a decimal.
pub(crate) fn rate(value: f64) -> String {
    if value >= 100.0 { number(value.round() as u64) } else { format!("{value:.1}") }
}

/// A span of time to three digits, in the unit that suits it.
pub(crate) fn span(span: Duration) -> String {
    let micros = span.as_secs_f64() * 1e6;
    if micros < 1e3 {
        format!("{micros:.0} µs")
    } else if micros < 1e6 {
        format!("{} ms", three_digits(micros / 1e3))
    } else {
        format!("{} s", three_digits(micros / 1e6))
    }
}

/// How often `part` goes into `whole`: `136 ×`; nothing to say where one of them is zero.
pub(crate) fn times(whole: f64, part: f64) -> String {
    if whole > 0.0 && part > 0.0 { format!("{} ×", three_digits(whole / part)) } else { "–".to_owned() }
}

/// An amount of bytes: `3.42 MB`.
pub(crate) fn bytes(value: f64) -> String {
    let units = [("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let unit = units.into_iter().find(|(_, size)| value >= *size);
    unit.map_or_else(
        || format!("{value:.0} B"),
        |(name, size)| format!("{} {name}", three_digits(value / size)),
    )
}

fn three_digits(value: f64) -> String {
    if value >= 100.0 {
        number(value.round() as u64)
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_readable() {
        assert_eq!(
            [0, 999, 1000, 124_300, 1_000_000].map(number),
            ["0", "999", "1,000", "124,300", "1,000,000"]
        );
        assert_eq!([0.0, 4.96, 899.61, 12_274.13].map(rate), ["0.0", "5.0", "900", "12,274"]);
        let spans =
            [7, 420, 1600, 16_270, 225_160, 1_500_000, 120_000_000].map(Duration::from_micros).map(span);
        assert_eq!(spans, ["7 µs", "420 µs", "1.60 ms", "16.3 ms", "225 ms", "1.50 s", "120 s"]);
        assert_eq!(times(12_274.0, 899.0), "13.7 ×");
        assert_eq!(times(1.0, 0.0), "–");
        assert_eq!([12.0, 197_520.0, 3_420_000.0].map(bytes), ["12 B", "198 kB", "3.42 MB"]);
    }
}
