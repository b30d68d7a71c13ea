//! Age: how old an answer was when it arrived (RFC 9111 §4.2.3).

use std::time::Duration;

use http::HeaderMap;
use http::header::{AGE, DATE};
use message::Timestamp;

use crate::date::FieldDate;
use crate::{Exchange, list, seconds};

/// The resolution of `Date`.
const SECOND: Duration = Duration::from_secs(1);

/// `corrected_initial_age`: the larger of what `Age` says (plus the time the answer took) and what `Date` says.
pub(crate) fn initial(exchange: &Exchange<'_>) -> Duration {
    let response_delay = exchange.received_at.since(exchange.requested_at);
    let corrected_age = Duration::from_secs(u64::from(stated(exchange.response))) + response_delay;
    corrected_age.max(apparent(exchange))
}

/// `apparent_age`. A `Date` in the future gives none, nor does one that is missing or bad: the answer is then dated
/// by its arrival.
///
/// A `Date` within a second before the request gives none either. It is cut to whole seconds, so such an answer may
/// have been made for this very request, and how long that took is in `response_delay` already. Taking the cut for age
/// would cost an answer with `max-age=1` half its life.
fn apparent(exchange: &Exchange<'_>) -> Duration {
    let FieldDate::At(date) = FieldDate::of(exchange.response, &DATE) else {
        return Duration::ZERO;
    };
    if date + SECOND > exchange.skew.date_of(exchange.requested_at) {
        return Duration::ZERO;
    }
    Timestamp::from_secs(exchange.skew.date_of(exchange.received_at).as_secs()).since(date)
}

/// What `Age` says, in seconds. Of a list or of several lines the first member counts, and a field that is not a
/// whole number does not count at all (RFC 9111 §5.1).
pub(crate) fn stated(response: &HeaderMap) -> u32 {
    let first = response.get(AGE).and_then(|line| list::members(line.as_bytes()).next());
    first.and_then(seconds::parse).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use http::{HeaderValue, Method, StatusCode};
    use message::{Fields, Skew};

    use super::*;

    const NOW: u64 = 784_111_777; // Sun, 06 Nov 1994 08:49:37 GMT

    fn initial_age(lines: &[(&'static str, &str)], requested_millis: u64, received_millis: u64) -> u64 {
        let mut response = HeaderMap::new();
        for (name, value) in lines {
            response.append(*name, HeaderValue::from_str(value).unwrap());
        }
        let exchange = Exchange {
            method: &Method::GET,
            request: Fields::Wire(&[]),
            status: StatusCode::OK,
            response: &response,
            personal: false,
            requested_at: Timestamp::from_millis(requested_millis),
            received_at: Timestamp::from_millis(received_millis),
            skew: Skew::NONE,
        };
        let age = initial(&exchange);
        // The same with the clock set by an hour since the start.
        let hour = Duration::from_hours(1);
        let moved = Exchange {
            requested_at: exchange.requested_at + hour,
            received_at: exchange.received_at + hour,
            skew: Skew::between(exchange.received_at + hour, exchange.received_at),
            ..exchange
        };
        assert_eq!(initial(&moved), age);
        age.as_millis() as u64
    }

    #[test]
    fn rfc9111_4_2_3_the_larger_of_age_and_date_counts() {
        let now = NOW * 1000;
        for (lines, expected) in [
            (&[][..], 0),
            (&[("date", "Sun, 06 Nov 1994 08:49:37 GMT")], 0),
            (&[("date", "Sun, 06 Nov 1994 08:49:27 GMT")], 10_000),
            (&[("date", "Sun, 06 Nov 1994 09:49:37 GMT")], 0),
            (&[("date", "yesterday")], 0),
            (&[("date", "Sun, 06 Nov 1994 08:49:27 GMT"), ("age", "30")], 30_000),
            (&[("date", "Sun, 06 Nov 1994 08:48:37 GMT"), ("age", "30")], 60_000),
            (&[("date", "Sun, 06 Nov 1994 08:48:37 GMT"), ("date", "Sun, 06 Nov 1994 08:48:37 GMT")], 0),
        ] {
            assert_eq!(initial_age(lines, now, now), expected, "{lines:?}");
        }
    }

    #[test]
    fn rfc9111_4_2_3_the_time_the_answer_took_is_part_of_its_age() {
        let now = NOW * 1000;
        assert_eq!(initial_age(&[], now - 250, now), 250);
        assert_eq!(initial_age(&[("age", "3")], now - 250, now), 3250);
        assert_eq!(initial_age(&[], now, now - 250), 0, "a clock that went back");
    }

    #[test]
    fn the_cut_of_date_to_seconds_is_not_age() {
        let now = NOW * 1000;
        let date = [("date", "Sun, 06 Nov 1994 08:49:37 GMT")];
        assert_eq!(initial_age(&date, now + 999, now + 1100), 101);
        assert_eq!(initial_age(&date, now + 1000, now + 1100), 1000);
    }

    #[test]
    fn rfc9111_5_1_odd_age_fields() {
        for (lines, expected) in [
            (&[("age", "7")][..], 7),
            (&[("age", "007")], 7),
            (&[("age", "7, 9")], 7),
            (&[("age", "7"), ("age", "9")], 7),
            (&[("age", "-7")], 0),
            (&[("age", "+7")], 0),
            (&[("age", "7.0")], 0),
            (&[("age", "seven")], 0),
            (&[("age", "seven"), ("age", "7")], 0),
            (&[("age", "\"7\"")], 0),
            (&[("age", "")], 0),
            (&[("age", "99999999999999999999")], u64::from(seconds::MOST_SECONDS)),
        ] {
            assert_eq!(initial_age(lines, 0, 0), expected * 1000, "{lines:?}");
        }
    }
}
