//! Date: HTTP dates in fields (RFC 9110 §5.6.7), which origins get wrong in every way there is.

use http::header::DATE;
use http::{HeaderMap, HeaderName, HeaderValue};
use message::Timestamp;

/// What a field that should hold one date holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldDate {
    /// The field is not there.
    Missing,
    /// It is there, but not as one valid date.
    Invalid,
    /// It says this moment.
    At(Timestamp),
}

impl FieldDate {
    /// Reads the field; several lines are invalid, even equal ones, as `Expires` is (RFC 9111 §4.2.1).
    pub fn of(fields: &HeaderMap, name: &HeaderName) -> Self {
        let mut lines = fields.get_all(name).iter();
        match (lines.next(), lines.next()) {
            (None, _) => FieldDate::Missing,
            (Some(line), None) => parse(line.as_bytes()).map_or(FieldDate::Invalid, FieldDate::At),
            (Some(_), Some(_)) => FieldDate::Invalid,
        }
    }

    /// The moment, if it is one.
    pub fn at(self) -> Option<Timestamp> {
        match self {
            FieldDate::At(at) => Some(at),
            FieldDate::Missing | FieldDate::Invalid => None,
        }
    }
}

/// Parses the three forms of an HTTP date. Dates before 1970 are taken for invalid, as every use here is an age or
/// a lifetime, which both are nonsense then.
pub fn parse(text: &[u8]) -> Option<Timestamp> {
    let date = httpdate::parse_http_date(std::str::from_utf8(text).ok()?).ok()?;
    let since_epoch = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Timestamp::from_secs(since_epoch.as_secs()))
}

/// Adds the `Date` that an answer lacks: whoever stores or forwards it must (RFC 9110 §6.6.1).
pub fn append_missing(response: &mut HeaderMap, received: Timestamp) {
    // 9999-12-31T23:59:59Z: no HTTP date lies behind it, and the formatter would panic.
    const LAST: Timestamp = Timestamp::from_secs(253_402_300_799);
    if response.contains_key(DATE) {
        return;
    }
    let text = httpdate::fmt_http_date(received.min(LAST).to_system_time());
    if let Ok(value) = HeaderValue::try_from(text) {
        response.insert(DATE, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9110_5_6_7_all_three_forms_and_nothing_else() {
        let at = Some(Timestamp::from_secs(784_111_777));
        for (text, expected) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", at),
            ("Sunday, 06-Nov-94 08:49:37 GMT", at),
            ("Sun Nov  6 08:49:37 1994", at),
            ("Sun, 06 Nov 1994 08:49:37 UTC", None),
            ("Mon, 06 Nov 1994 08:49:37 GMT", None),
            ("Sun, 31 Feb 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 1894 08:49:37 GMT", None),
            ("0", None),
            ("-1", None),
            ("", None),
            ("Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", None),
            ("\u{ff}", None),
        ] {
            assert_eq!(parse(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn rfc9110_6_6_1_a_missing_date_is_added() {
        let mut response = HeaderMap::new();
        append_missing(&mut response, Timestamp::from_secs(784_111_777));
        assert_eq!(response[DATE], "Sun, 06 Nov 1994 08:49:37 GMT");
        append_missing(&mut response, Timestamp::from_secs(0));
        assert_eq!(response[DATE], "Sun, 06 Nov 1994 08:49:37 GMT");
        let mut response = HeaderMap::new();
        append_missing(&mut response, Timestamp::from_millis(u64::MAX));
        assert_eq!(response[DATE], "Fri, 31 Dec 9999 23:59:59 GMT");
    }
}
