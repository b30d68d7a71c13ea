//! Date: a moment as logs write it, `2026-02-03T04:05:06.789Z` (RFC 3339, always UTC, always milliseconds).

use std::fmt;

use message::Timestamp;

/// A moment as logs write it, RFC 3339 in UTC.
pub fn date(at: Timestamp) -> String {
    Date(at).to_string()
}

/// Displays a moment; see the module. The HTTP date library writes another format and hands out no fields, and a
/// calendar library would be a lot for one conversion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Date(pub(crate) Timestamp);

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, millis) = (self.0.as_secs(), self.0.as_millis() % 1000);
        let (year, month, day) = civil(seconds / 86_400);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// Year, month and day of a day since 1970-01-01 in the Gregorian calendar. Counts in years that begin in March, so
/// that the leap day comes last: every 400 of them have 146,097 days, and the months follow a line of slope 153/5.
fn civil(day: u64) -> (u64, u64, u64) {
    const DAYS_TO_EPOCH: u64 = 719_468; // from 0000-03-01
    const DAYS_IN_ERA: u64 = 146_097;
    let day = day + DAYS_TO_EPOCH;
    let (era, day_of_era) = (day / DAYS_IN_ERA, day % DAYS_IN_ERA);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day_of_month)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_moments() {
        for (millis, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_770_091_506_789, "2026-02-03T04:05:06.789Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(Date(Timestamp::from_millis(millis)).to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn agrees_with_http_dates(seconds in 0..253_402_300_800u64) {
            let at = Timestamp::from_secs(seconds);
            let http = httpdate::fmt_http_date(at.to_system_time());
            let parts: Vec<&str> = http.split(' ').collect(); // Sun, 06 Nov 1994 08:49:37 GMT
            let months = "JanFebMarAprMayJunJulAugSepOctNovDec";
            let month = months.find(parts[2]).unwrap() / 3 + 1;
            let expected = format!("{}-{month:02}-{}T{}.000Z", parts[3], parts[1], parts[4]);
            prop_assert_eq!(Date(at).to_string(), expected);
        }
    }
}
