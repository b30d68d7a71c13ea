//! Span: the `t` of a query, read. `2s`, `500ms` or plain seconds like `1.5`; refused with a sentence for people.

use std::time::Duration;

/// Reads a span of time no longer than `longest`.
pub(crate) fn parse(text: Option<&str>, longest: Duration) -> Result<Duration, String> {
    let text = text.ok_or("t is missing: say how long, like ?t=2s or ?t=500ms")?;
    let (number, unit) = match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let seconds_per_unit = match unit {
        "s" => 1.0,
        "ms" => 0.001,
        _ => return Err(format!("t has an unknown unit {unit:?}: use s or ms, like 2s or 500ms")),
    };
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds = number.parse::<f64>().ok().filter(|_| plain);
    let seconds = seconds.ok_or(format!("t is not a span of time: {text:?}; use one like 2s or 500ms"))?;
    Duration::try_from_secs_f64(seconds * seconds_per_unit)
        .ok()
        .filter(|span| *span <= longest)
        .ok_or(format!("t is too long: {text}; at most {} s", longest.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: Duration = Duration::from_mins(1);

    #[test]
    fn seconds_milliseconds_and_plain_numbers_are_read() {
        for (text, millis) in [
            ("2s", 2000),
            ("500ms", 500),
            ("3", 3000),
            ("1.5", 1500),
            ("0.25s", 250),
            ("60s", 60_000),
            ("0", 0),
        ] {
            assert_eq!(parse(Some(text), LONGEST), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn what_is_no_span_is_refused_with_a_remedy() {
        for text in ["", "s", "-1s", "+1s", "1 s", "1m", "inf", "NaN", "1e3", "1s2", "2.3.4", "\u{0}", "١s"]
        {
            let refusal = parse(Some(text), LONGEST).expect_err(text);
            assert!(refusal.contains("500ms"), "{text:?}: {refusal}");
        }
        assert!(parse(None, LONGEST).expect_err("missing").contains("missing"));
    }

    #[test]
    fn spans_over_the_bound_are_refused() {
        for text in ["61s", "60001ms", "60.001", "99999999999999999999999999"] {
            assert!(parse(Some(text), LONGEST).expect_err(text).contains("at most 60 s"), "{text}");
        }
    }
}
