//! Dates for origins: how tests make answers old without waiting.

use std::time::{Duration, SystemTime};

/// The HTTP date this many seconds from now; negative: in the past.
pub fn http_date(seconds_from_now: i64) -> String {
    #[allow(clippy::disallowed_methods, reason = "an origin of its own, outside the program under test")]
    let now = SystemTime::now();
    let distance = Duration::from_secs(seconds_from_now.unsigned_abs());
    httpdate::fmt_http_date(if seconds_from_now < 0 { now - distance } else { now + distance })
}
