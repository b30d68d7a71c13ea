//! Date: the `Date` field (RFC 9110 §6.6.1), formatted once a second per core and copied from then on.
//!
//! Called by `http1` and `http2` for answers that come without one, and by handlers that write a head themselves.

use std::cell::RefCell;

use http::HeaderValue;
use message::{Clock, Timestamp};

/// Bytes of an IMF-fixdate, `Sun, 06 Nov 1994 08:49:37 GMT`.
const LENGTH: usize = 29;

#[derive(Clone, Copy)]
struct Formatted {
    /// Seconds since the epoch that `text` stands for.
    second: u64,
    text: [u8; LENGTH],
}

thread_local! {
    static LAST: RefCell<Option<Formatted>> = const { RefCell::new(None) };
}

/// Appends the date alone, `Sun, 06 Nov 1994 08:49:37 GMT`: neither the field's name nor a line end.
pub fn write(out: &mut Vec<u8>) {
    out.extend_from_slice(&text(Clock::date()));
}

/// The date as a field value.
pub(crate) fn value() -> HeaderValue {
    HeaderValue::from_bytes(&text(Clock::date()))
        .expect("a date is letters, digits, spaces, commas and colons")
}

fn text(now: Timestamp) -> [u8; LENGTH] {
    LAST.with_borrow_mut(|last| match last {
        Some(formatted) if formatted.second == now.as_secs() => formatted.text,
        _ => last.insert(format(now)).text,
    })
}

fn format(now: Timestamp) -> Formatted {
    let mut text = [b' '; LENGTH];
    let formatted = httpdate::fmt_http_date(now.to_system_time());
    for (place, byte) in text.iter_mut().zip(formatted.bytes()) {
        *place = byte;
    }
    Formatted { second: now.as_secs(), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_changes_with_the_second_only() {
        let first = text(Timestamp::from_millis(784_111_777_000));
        assert_eq!(&first, b"Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(text(Timestamp::from_millis(784_111_777_999)), first);
        assert_eq!(&text(Timestamp::from_millis(784_111_778_000)), b"Sun, 06 Nov 1994 08:49:38 GMT");
        assert_eq!(text(Timestamp::from_millis(784_111_777_000)), first, "a clock that went back");
    }

    #[test]
    fn both_forms_are_the_same_date() {
        let mut out = Vec::new();
        write(&mut out);
        assert_eq!(out.len(), LENGTH);
        assert_eq!(value().len(), LENGTH);
    }
}
