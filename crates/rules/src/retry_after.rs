//! `Retry-After` (RFC 9110 §10.2.3): how long whoever answered wants to be left alone.

use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;
use message::Timestamp;

use crate::date;

/// In seconds, or until a date; `None` where it is missing, stands there twice or says neither. `now`: by the clock that
/// dates are compared with.
pub fn retry_after(fields: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let mut values = fields.get_all(RETRY_AFTER).iter();
    let text = values.next()?.as_bytes().trim_ascii();
    if values.next().is_some() || text.is_empty() {
        return None;
    }
    if text.iter().all(u8::is_ascii_digit) {
        // What is too long to be counted is too long to be waited for.
        let seconds = std::str::from_utf8(text).ok()?.parse().unwrap_or(u32::MAX);
        return Some(Duration::from_secs(u64::from(seconds)));
    }
    let until = date::parse(text)?;
    Some(if until > now { until.since(now) } else { Duration::ZERO })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn told(value: &'static str) -> Option<u64> {
        let fields = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(value))]);
        let now = date::parse(b"Sun, 06 Nov 1994 08:49:00 GMT").unwrap();
        retry_after(&fields, now).map(|wait| wait.as_secs())
    }

    #[test]
    fn seconds_and_dates_are_read() {
        assert_eq!(told("120"), Some(120));
        assert_eq!(told("0"), Some(0));
        assert_eq!(told("Sun, 06 Nov 1994 08:49:37 GMT"), Some(37));
        assert_eq!(told("Sun, 06 Nov 1994 08:00:00 GMT"), Some(0));
        for long in ["9999999999", "9999999999999999999", "99999999999999999999999"] {
            assert_eq!(told(long), Some(u64::from(u32::MAX)), "{long}");
        }
    }

    #[test]
    fn what_says_neither_says_nothing() {
        for value in ["", "soon", "-1", "1.5", "1, 2"] {
            assert_eq!(told(value), None, "{value}");
        }
        let twice = HeaderValue::from_static("1");
        let fields = HeaderMap::from_iter([(RETRY_AFTER, twice.clone()), (RETRY_AFTER, twice)]);
        let mut doubled = fields;
        doubled.append(RETRY_AFTER, HeaderValue::from_static("2"));
        assert_eq!(retry_after(&doubled, Timestamp::from_secs(0)), None);
    }
}
