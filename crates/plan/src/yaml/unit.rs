//! Units: `5s`, `64MiB`, `20%`, `100/s` → durations, bytes, fractions, rates. In comes one word, out goes a value or the
//! reason it is none. Called by the checks of the file and by commands that take such words as arguments.

use std::time::Duration;

use crate::yaml::fault::{Reason, quoted};

/// The longest duration that can be meant: 68 years, as far as HTTP counts (RFC 9111 §1.2.2).
const LONGEST_MILLIS: u64 = (1 << 31) * 1000;

const DURATIONS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
const SIZES: [(&str, u64); 5] =
    [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];
const PER: [(&str, u64); 4] = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];

/// How often something may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many times.
    pub count: u64,
    /// In how long.
    pub per: Duration,
}

/// `50ms`, `5s`, `2m`, `1h`, `1d`.
pub fn duration(text: &str) -> Result<Duration, Reason> {
    let millis = scaled(text, &DURATIONS, "a duration", "s")?;
    if millis > LONGEST_MILLIS {
        return Err(Reason::new(
            format!("{} is too long", quoted(text)),
            "write at most `24855d` (68 years)",
        ));
    }
    Ok(Duration::from_millis(millis))
}

/// `512B`, `64KiB`, `64MiB`, `2GiB`, in bytes.
pub fn size(text: &str) -> Result<u64, Reason> {
    scaled(text, &SIZES, "a size", "MiB")
}

/// `20%` as 0.2; from 0 % to 100 %.
pub fn fraction(text: &str) -> Result<f64, Reason> {
    let wrong = |remedy: &str| Reason::new(format!("{} is not a share", quoted(text)), remedy);
    let Some(number) = text.strip_suffix('%') else {
        return Err(wrong("write it in percent, like `10%`"));
    };
    // `f64` would also read `inf`, `nan`, `1e2` and `-5`.
    if number.is_empty() || number.len() > 12 || !number.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return Err(wrong("write a number and `%`, like `10%`"));
    }
    match number.parse::<f64>() {
        Ok(percent) if percent <= 100.0 => Ok(percent / 100.0),
        Ok(_) => Err(wrong("write at most `100%`")),
        Err(_) => Err(wrong("write a number and `%`, like `10%`")),
    }
}

/// The same, above 0 %.
pub(crate) fn some_fraction(text: &str) -> Result<f64, Reason> {
    match fraction(text)? {
        0.0 => Err(Reason::new(format!("{} is nothing at all", quoted(text)), "write a share above `0%`")),
        share => Ok(share),
    }
}

/// `100/s`, `5/m`, `1000/h`, `10/30s`.
pub fn rate(text: &str) -> Result<Rate, Reason> {
    let wrong = |remedy: &str| Reason::new(format!("{} is not a rate", quoted(text)), remedy);
    let Some((count, per)) = text.split_once('/') else {
        return Err(wrong("write how many in how long, like `100/s`"));
    };
    let unit = PER.iter().find(|(unit, _)| *unit == per).map(|(_, seconds)| Duration::from_secs(*seconds));
    let per = match unit {
        Some(per) => per,
        None if per.starts_with(|c: char| c.is_ascii_digit()) => duration(per)?,
        None => Duration::ZERO,
    };
    if per.is_zero() {
        return Err(wrong(
            "write `/s`, `/m`, `/h` or `/d` after the number, like `100/s`, or a time above zero, like `10/30s`",
        ));
    }
    match number(count) {
        Some(0) => Err(wrong("write a whole number above zero before the slash, like `100/s`")),
        Some(count) => Ok(Rate { count, per }),
        None if !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit()) => Err(Reason::new(
            format!("{} is too large", quoted(count)),
            "write a smaller number, like `100/s`",
        )),
        None => Err(wrong("write a whole number above zero before the slash, like `100/s`")),
    }
}

/// A plain whole number, digits only.
pub(crate) fn number(text: &str) -> Option<u64> {
    (text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// A whole number and one of `units`, multiplied out.
fn scaled(text: &str, units: &[(&str, u64)], what: &str, usual: &str) -> Result<u64, Reason> {
    let wrong = |cause: &str, remedy: String| Err(Reason::new(format!("{} {cause}", quoted(text)), remedy));
    let like = format!("like `30{usual}`");
    if let Some(positive) = text.strip_prefix('-') {
        return wrong("is negative", format!("write {what} without the minus, like `{}`", short(positive)));
    }
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    if digits == 0 {
        return wrong(&format!("is not {what}"), format!("write a number and a unit, {like}"));
    }
    if unit.starts_with(['.', ',']) {
        return wrong(
            "is not a whole number",
            format!("write a whole number of a smaller unit ({})", names(units)),
        );
    }
    if unit.is_empty() {
        return wrong(
            "has no unit",
            format!("write `{}{usual}`, or another of {}", short(number), names(units)),
        );
    }
    if unit.starts_with(' ') && units.iter().any(|(name, _)| *name == unit.trim_start()) {
        return wrong(
            "has a space before the unit",
            format!("write `{}{}`", short(number), unit.trim_start()),
        );
    }
    let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        let meant = meant(unit, units).map_or_else(
            || format!("write one of {}", names(units)),
            |name| format!("write `{}{name}`", short(number)),
        );
        return wrong(&format!("has the unknown unit {}", quoted(unit)), meant);
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(*factor)) {
        Some(value) => Ok(value),
        None => wrong("is too large", format!("write a smaller number, {like}")),
    }
}

/// The unit that a common other spelling stands for.
fn meant<'u>(unit: &str, units: &[(&'u str, u64)]) -> Option<&'u str> {
    let name = match unit.trim().to_ascii_lowercase().as_str() {
        "b" | "byte" | "bytes" => "B",
        "k" | "kb" | "kib" => "KiB",
        "mb" | "mib" => "MiB",
        "g" | "gb" | "gib" => "GiB",
        "t" | "tb" | "tib" => "TiB",
        "msec" | "millis" | "millisecond" | "milliseconds" => "ms",
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "min" | "mins" | "minute" | "minutes" => "m",
        "h" | "hr" | "hrs" | "hour" | "hours" => "h",
        "d" | "day" | "days" => "d",
        // `m` and `M` are minutes here and mebibytes there.
        "m" => return units.iter().map(|(name, _)| *name).find(|name| *name == "MiB" || *name == "m"),
        _ => return None,
    };
    units.iter().map(|(known, _)| *known).find(|known| *known == name)
}

/// The names of units for a message.
fn names(units: &[(&str, u64)]) -> String {
    units.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The beginning of a number, long enough to recognise it.
fn short(number: &str) -> String {
    number.chars().take(20).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn durations() {
        for (text, millis) in [
            ("50ms", 50),
            ("5s", 5000),
            ("2m", 120_000),
            ("1h", 3_600_000),
            ("1d", 86_400_000),
            ("0s", 0),
            ("007s", 7000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in
            [("512B", 512), ("64KiB", 65_536), ("64MiB", 67_108_864), ("2GiB", 2_147_483_648), ("0B", 0)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn shares_and_rates() {
        assert_eq!(fraction("10%"), Ok(0.1));
        assert_eq!(fraction("0%"), Ok(0.0));
        assert_eq!(fraction("2.5%"), Ok(0.025));
        assert_eq!(rate("100/s"), Ok(Rate { count: 100, per: Duration::from_secs(1) }));
        assert_eq!(rate("5/m"), Ok(Rate { count: 5, per: Duration::from_mins(1) }));
        for bad in ["10", "%", "-1%", "101%", "inf%", "nan%", "1e1%", "1.2.3%", "..%"] {
            assert!(fraction(bad).is_err(), "{bad}");
        }
        for bad in ["100", "100/", "/s", "0/s", "-1/s", "1/w", "1.5/s", "99999999999999999999/s"] {
            assert!(rate(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn faults_say_what_and_what_instead() {
        for (text, cause, remedy) in [
            ("5", "`5` has no unit", "write `5s`, or another of `ms`, `s`, `m`, `h`, `d`"),
            ("-5s", "`-5s` is negative", "write a duration without the minus, like `5s`"),
            ("5 s", "`5 s` has a space before the unit", "write `5s`"),
            ("5sec", "`5sec` has the unknown unit `sec`", "write `5s`"),
            ("5min", "`5min` has the unknown unit `min`", "write `5m`"),
            ("5M", "`5M` has the unknown unit `M`", "write `5m`"),
            ("5weeks", "`5weeks` has the unknown unit `weeks`", "write one of `ms`, `s`, `m`, `h`, `d`"),
            (
                "1.5s",
                "`1.5s` is not a whole number",
                "write a whole number of a smaller unit (`ms`, `s`, `m`, `h`, `d`)",
            ),
            ("soon", "`soon` is not a duration", "write a number and a unit, like `30s`"),
            ("", "`` is not a duration", "write a number and a unit, like `30s`"),
            (
                "99999999999999999999s",
                "`99999999999999999999s` is too large",
                "write a smaller number, like `30s`",
            ),
            ("9999999h", "`9999999h` is too long", "write at most `24855d` (68 years)"),
        ] {
            assert_eq!(duration(text), Err(Reason::new(cause, remedy)), "{text}");
        }
        assert_eq!(size("64MB"), Err(Reason::new("`64MB` has the unknown unit `MB`", "write `64MiB`")));
        assert_eq!(size("64m"), Err(Reason::new("`64m` has the unknown unit `m`", "write `64MiB`")));
        assert_eq!(
            size("64"),
            Err(Reason::new(
                "`64` has no unit",
                "write `64MiB`, or another of `B`, `KiB`, `MiB`, `GiB`, `TiB`"
            ))
        );
        assert!(size("18446744073709551615TiB").is_err());
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,30}|-?[0-9]{1,22}[a-zA-Z%/. ]{0,4}") {
            let _ = (duration(&text), size(&text), fraction(&text), rate(&text), number(&text));
        }
    }
}
