//! Stored: terms as bytes, for tiers outside this process.

use std::time::Duration;

use message::{Skew, Timestamp};

use super::{Rules, Terms};

/// Two clocks that are right may still be so far apart.
const APART: Duration = Duration::from_secs(1);

impl Terms {
    /// Bytes of [`Terms::to_bytes`].
    pub const BYTES: usize = 41;

    /// In a form that does not change: five numbers of 64 bits and one of 8, little-endian. The moment of receipt stands there
    /// as the date it is now, since moments mean nothing to another process.
    pub fn to_bytes(&self, skew: Skew) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let numbers = [
            skew.date_of(self.received_at).as_millis(),
            self.initial_age,
            self.lifetime,
            self.stale_while_revalidate,
            self.stale_if_error,
        ];
        for (place, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes[Self::BYTES - 1] = self.rules.0;
        bytes
    }

    /// What [`Terms::to_bytes`] wrote. What says that it was received later than now was dated by another clock: nobody
    /// knows how old it is, so it counts as stale.
    pub fn from_bytes(bytes: &[u8; Self::BYTES], skew: Skew, now: Timestamp) -> Self {
        let (numbers, _) = bytes.as_chunks::<8>();
        let number = |index: usize| u64::from_le_bytes(numbers[index]);
        let (received_at, lifetime) = (skew.moment_of(Timestamp::from_millis(number(0))), number(2));
        let age_is_known = received_at <= now + APART;
        Terms {
            received_at: received_at.min(now),
            initial_age: if age_is_known { number(1) } else { number(1).max(lifetime) },
            lifetime,
            stale_while_revalidate: number(3),
            stale_if_error: number(4),
            rules: Rules(bytes[Self::BYTES - 1]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_come_back_as_they_were() {
        let terms = Terms {
            received_at: Timestamp::from_millis(1),
            initial_age: 2,
            lifetime: u64::MAX,
            stale_while_revalidate: 4,
            stale_if_error: 5,
            rules: Rules(Rules::NEVER_STALE | Rules::SHARED_WITH_AUTHORIZED),
        };
        let skew = Skew::between(Timestamp::from_secs(1), Timestamp::from_secs(3600));
        assert_eq!(Terms::from_bytes(&terms.to_bytes(skew), skew, terms.received_at), terms);
    }

    #[test]
    fn what_another_clock_dated_later_than_now_is_stale() {
        let now = Timestamp::from_secs(5000);
        let read = |received: Timestamp| {
            let terms = Terms {
                received_at: received,
                initial_age: 2000,
                lifetime: 60_000,
                stale_while_revalidate: 0,
                stale_if_error: 0,
                rules: Rules(0),
            };
            Terms::from_bytes(&terms.to_bytes(Skew::NONE), Skew::NONE, now)
        };
        assert_eq!(read(now).fresh_for(now), 58);
        assert_eq!(read(now + APART).fresh_for(now), 58, "as near as clocks are");
        assert!(read(now + Duration::from_hours(1)).fresh_for(now) <= 0);
        assert_eq!(read(now + Duration::from_hours(1)).received_at(), now);
    }
}
