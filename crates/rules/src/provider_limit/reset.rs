//! Reset: when a quota is whole again, in all the ways that is written. Used by `fields`.

use std::time::Duration;

use message::Timestamp;

use super::{LONGEST, number};
use crate::date;

/// Of a quota that was whole again so long ago nothing is known. Shorter, two clocks differ.
const LATEST: Duration = Duration::from_hours(1);

/// How long until then. Numbers are told apart by their size: seconds from now on (below three years of them), seconds since
/// 1970 (a GitHub of 2001 to 5138), milliseconds since 1970. Otherwise a duration as Go writes it, or a date (RFC 3339 in UTC,
/// or RFC 9110 §5.6.7).
pub(super) fn read(text: &str, now: Timestamp) -> Option<Duration> {
    if let Some(number) = number(text) {
        return match number {
            ..1e8 => duration(number),
            1e9..1e11 => until(Timestamp::from_millis((number * 1e3) as u64), now),
            1e12..1e14 => until(Timestamp::from_millis(number as u64), now),
            _ => None,
        };
    }
    if let Ok(duration) = humantime::parse_duration(text) {
        return (duration <= LONGEST).then_some(duration);
    }
    until(date(text)?, now)
}

/// Seconds, as a duration that is no longer than makes sense.
pub(super) fn duration(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok().filter(|duration| *duration <= LONGEST)
}

fn date(text: &str) -> Option<Timestamp> {
    let Ok(date) = humantime::parse_rfc3339_weak(text) else { return date::parse(text.as_bytes()) };
    let since_epoch = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Timestamp::from_millis(u64::try_from(since_epoch.as_millis()).ok()?))
}

fn until(then: Timestamp, now: Timestamp) -> Option<Duration> {
    (now.since(then) <= LATEST).then(|| then.since(now)).filter(|duration| *duration <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_however_it_is_written() {
        // 2024-03-01T12:00:00Z
        let now = Timestamp::from_secs(1_709_294_400);
        for (text, expected) in [
            ("0", Some(0)),
            ("60", Some(60_000)),
            ("0.25", Some(250)),
            ("86400", Some(86_400_000)),
            ("1709294460", Some(60_000)),
            ("1709294460.5", Some(60_500)),
            ("1709294399", Some(0)),
            ("1709294460123", Some(60_123)),
            ("1s", Some(1000)),
            ("6m0s", Some(360_000)),
            ("12ms", Some(12)),
            ("1m26.4s", Some(86_400)),
            ("2024-03-01T12:01:00Z", Some(60_000)),
            ("2024-03-01T12:01:00.5Z", Some(60_500)),
            ("2024-03-01T12:01:00+00:00", Some(60_000)),
            ("2024-03-01 12:01:00", Some(60_000)),
            ("Fri, 01 Mar 2024 12:01:00 GMT", Some(60_000)),
            // Long past, too far off, or no time.
            ("1509294400", None),
            ("2016-03-01T12:00:00Z", None),
            ("99999999", None),
            ("500000000", None),
            ("9999999999", None),
            ("1709294460123456", None),
            ("9999-12-31T23:59:59Z", None),
            ("40000d", None),
            ("-1", None),
            ("+1", None),
            ("1e3", None),
            ("NaN", None),
            ("inf", None),
            (".", None),
            ("1.2.3", None),
            ("", None),
            ("soon", None),
        ] {
            assert_eq!(read(text, now), expected.map(Duration::from_millis), "{text:?}");
        }
    }
}
