//! Renewal: when something that expires is fetched anew: well before it does, not at once after a failure, and not whenever somebody
//! says that it is no good.
//!
//! In: what came of each fetch, and who was refused with what there is. Out: when to fetch next, and whether what there is may still
//! be used. Who fetches, and what, is no business of it: a token, for one.

use std::time::{Duration, Instant};

use crate::Backoff;

/// After failed fetches; half of it is random.
const FAILURES: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_mins(1));
/// Between two times that what there is is dropped because somebody was refused.
const REFUSALS: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_mins(1));
/// Refusals further apart than this have nothing to do with each other.
const UNRELATED: Duration = Duration::from_mins(5);
/// Whoever is asked is left alone at its own word for no longer than this.
const PATIENCE: Duration = Duration::from_mins(5);
/// It is used no more so long before it expires, or a tenth of its lifetime where that is shorter: a call takes its time to get there.
const MARGIN: Duration = Duration::from_secs(10);
/// Nothing is fetched anew sooner than this after it was fetched.
const SOONEST: Duration = Duration::from_secs(1);
/// Nothing is held for longer than a year.
const LONGEST: Duration = Duration::from_hours(24 * 365);

/// See the module.
#[derive(Debug, Default)]
pub struct Renewal {
    /// From when on it is not used any more; `None`: there is nothing.
    expires: Option<Instant>,
    /// When to fetch; `None`: at once.
    due: Option<Instant>,
    /// Fetches that failed, in a row.
    failures: u32,
    refused: Option<Instant>,
    refusals: u32,
}

impl Renewal {
    /// It was fetched, and is good for so long. Fetched anew when between 75 and 90 % of that have passed, by a number drawn from
    /// [0, 1): those that began together are not to come together.
    pub fn renewed(&mut self, now: Instant, lifetime: Duration, random: f64) {
        let lifetime = lifetime.min(LONGEST);
        self.expires = Some(now + lifetime.saturating_sub(MARGIN.min(lifetime / 10)));
        self.due = Some(now + lifetime.mul_f64(0.75 + 0.15 * share(random)).max(SOONEST));
        self.failures = 0;
    }

    /// A fetch failed, and whoever was asked wants to be left alone for so long. What there is goes on to be used as long as it is good.
    pub fn failed(&mut self, now: Instant, asked_for: Duration, random: f64) {
        self.failures = self.failures.saturating_add(1);
        let pause = FAILURES.after(self.failures);
        self.due = Some(now + pause.mul_f64(0.5 + 0.5 * share(random)).max(asked_for.min(PATIENCE)));
    }

    /// Somebody was refused with what there is: it is good no more, and fetched anew at once, unless fetches fail. False: that has
    /// happened too often of late for this to be the reason, and everything stays as it is.
    pub fn refuse(&mut self, now: Instant) -> bool {
        let since = self.refused.map(|refused| now.saturating_duration_since(refused));
        if since.is_some_and(|since| since < REFUSALS.after(self.refusals)) {
            return false;
        }
        if since.is_some_and(|since| since > UNRELATED) {
            self.refusals = 0;
        }
        self.refused = Some(now);
        self.refusals = self.refusals.saturating_add(1);
        self.expires = None;
        if self.failures == 0 {
            self.due = None;
        }
        true
    }

    /// Whether what there is may be used.
    pub fn is_good(&self, now: Instant) -> bool {
        self.expires.is_some_and(|expires| now < expires)
    }

    /// For how long it may be used.
    pub fn good_for(&self, now: Instant) -> Duration {
        self.expires.map_or(Duration::ZERO, |expires| expires.saturating_duration_since(now))
    }

    /// How long until the next fetch.
    pub fn due_in(&self, now: Instant) -> Duration {
        self.due.map_or(Duration::ZERO, |due| due.saturating_duration_since(now))
    }

    /// Whether the last fetch failed.
    pub fn is_failing(&self) -> bool {
        self.failures > 0
    }
}

/// What is no share is none.
fn share(random: f64) -> f64 {
    if (0.0..=1.0).contains(&random) { random } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn it_is_fetched_anew_before_it_expires_and_not_by_all_at_once() {
        let (mut renewal, now) = (Renewal::default(), Instant::now());
        assert!(!renewal.is_good(now) && renewal.due_in(now).is_zero());
        for (random, due) in [(0.0, 2700), (0.5, 2970), (1.0, 3240), (f64::NAN, 2700)] {
            renewal.renewed(now, 3600 * SECOND, random);
            assert_eq!(renewal.due_in(now).as_secs(), due, "{random}");
        }
        assert_eq!(renewal.good_for(now), 3590 * SECOND);
        renewal.renewed(now, 10 * SECOND, 0.0);
        assert_eq!(renewal.good_for(now), 9 * SECOND);
        assert!(!renewal.is_good(now + 9 * SECOND));
    }

    #[test]
    fn what_is_good_for_no_time_is_not_fetched_all_the_time() {
        let (mut renewal, now) = (Renewal::default(), Instant::now());
        renewal.renewed(now, Duration::ZERO, 0.0);
        assert_eq!((renewal.is_good(now), renewal.due_in(now)), (false, SOONEST));
        renewal.renewed(now, Duration::MAX, 1.0);
        assert!(renewal.good_for(now) < LONGEST);
    }

    #[test]
    fn a_failure_leaves_what_there_is_and_pauses_grow() {
        let (mut renewal, now) = (Renewal::default(), Instant::now());
        renewal.renewed(now, 100 * SECOND, 0.0);
        let late = now + 75 * SECOND;
        let pauses: Vec<_> = (0..8)
            .map(|_| {
                renewal.failed(late, Duration::ZERO, 1.0);
                renewal.due_in(late).as_secs()
            })
            .collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert!(renewal.is_good(late) && renewal.is_failing());
        renewal.failed(late, Duration::ZERO, 0.0);
        assert_eq!(renewal.due_in(late), 30 * SECOND, "half of it at least");
        renewal.failed(late, 90 * SECOND, 1.0);
        assert_eq!(renewal.due_in(late), 90 * SECOND, "as it asks for");
        renewal.failed(late, Duration::MAX, 1.0);
        assert_eq!(renewal.due_in(late), PATIENCE);
        renewal.renewed(late, 100 * SECOND, 0.0);
        assert!(!renewal.is_failing());
    }

    #[test]
    fn refusals_drop_it_ever_more_seldom() {
        let (mut renewal, now) = (Renewal::default(), Instant::now());
        let at = |renewal: &mut Renewal, seconds: u32| {
            let now = now + seconds * SECOND;
            let dropped = renewal.refuse(now);
            assert!(!dropped || !renewal.is_good(now) && renewal.due_in(now).is_zero());
            renewal.renewed(now, 3600 * SECOND, 0.0);
            dropped
        };
        let dropped: Vec<_> = (0..70).filter(|seconds| at(&mut renewal, *seconds)).collect();
        assert_eq!(dropped, [0, 1, 3, 7, 15, 31, 63]);
        assert!(at(&mut renewal, 1000) && at(&mut renewal, 1001), "as if for the first time");
    }

    #[test]
    fn a_refusal_does_not_hurry_fetches_that_fail() {
        let (mut renewal, now) = (Renewal::default(), Instant::now());
        renewal.renewed(now, 100 * SECOND, 0.0);
        renewal.failed(now, Duration::ZERO, 1.0);
        assert!(renewal.refuse(now));
        assert_eq!((renewal.is_good(now), renewal.due_in(now)), (false, SECOND));
    }

    proptest! {
        /// Whatever lifetimes are given, fails and is refused: fetched as often as it is due, there is no storm.
        #[test]
        fn fetches_are_bounded(events in proptest::collection::vec((0..100_000_u64, any::<bool>(), any::<bool>(), 0.0..1.0), 1..300)) {
            let (mut renewal, start) = (Renewal::default(), Instant::now());
            let (mut now, mut fetches) = (start, 0_u64);
            for (lifetime, fails, refused, random) in events {
                now += renewal.due_in(now);
                fetches += 1;
                if fails {
                    renewal.failed(now, Duration::ZERO, random);
                } else {
                    renewal.renewed(now, Duration::from_millis(lifetime), random);
                }
                if refused {
                    renewal.refuse(now);
                }
            }
            // One each half second at most, and those that refusals ask for, of which there are at most one a second.
            prop_assert!(fetches <= 3 * ((now - start).as_secs() + 1) + 7);
        }
    }
}
