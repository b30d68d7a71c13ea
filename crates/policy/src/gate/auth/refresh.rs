//! Refresh: when keys are fetched: when [`Renewal`] says so, and again when somebody asks for newer ones; never two at once, and
//! never sooner than the cooldown allows. In: the time, and what became of fetches. Out: how long until the next. Pure;
//! `remote` does it.

use std::time::{Duration, Instant};

use guard::Renewal;

/// See the module.
#[derive(Debug)]
pub(super) struct Refresh {
    renewal: Renewal,
    cooldown: Duration,
    /// When the last fetch ended; `None`: there was none.
    ended: Option<Instant>,
    /// Somebody waits for one that has not begun.
    is_asked: bool,
    is_under_way: bool,
}

impl Refresh {
    pub(super) fn new(cooldown: Duration) -> Self {
        Refresh { renewal: Renewal::default(), cooldown, ended: None, is_asked: false, is_under_way: false }
    }

    /// How long until the next fetch is to begin. One that was begun and has not ended was broken off, and begins again.
    pub(super) fn wait(&self, now: Instant) -> Duration {
        if self.is_asked || self.is_under_way {
            return Duration::ZERO;
        }
        self.renewal.due_in(now).max(self.cooldown_left(now))
    }

    /// Somebody needs newer keys.
    ///
    /// # Errors
    /// How long it is too soon for another fetch.
    pub(super) fn ask(&mut self, now: Instant) -> Result<(), Duration> {
        if self.is_under_way || self.is_asked {
            return Ok(());
        }
        match self.cooldown_left(now) {
            Duration::ZERO => {
                self.is_asked = true;
                Ok(())
            }
            left => Err(left),
        }
    }

    /// A fetch begins.
    pub(super) fn begin(&mut self) {
        self.is_asked = false;
        self.is_under_way = true;
    }

    /// It brought keys that are up to date for so long. `random`: as for [`Renewal::renewed`].
    pub(super) fn succeed(&mut self, now: Instant, lifetime: Duration, random: f64) {
        self.renewal.renewed(now, lifetime, random);
        self.end(now);
    }

    /// It brought nothing.
    pub(super) fn fail(&mut self, now: Instant, random: f64) {
        self.renewal.failed(now, Duration::ZERO, random);
        self.end(now);
    }

    fn end(&mut self, now: Instant) {
        self.is_under_way = false;
        self.ended = Some(now);
    }

    fn cooldown_left(&self, now: Instant) -> Duration {
        let since = self.ended.map(|ended| now.saturating_duration_since(ended));
        since.map_or(Duration::ZERO, |since| self.cooldown.saturating_sub(since))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COOLDOWN: Duration = Duration::from_secs(10);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn keys_are_fetched_at_once_and_then_ahead_of_their_end() {
        let (mut refresh, start) = (Refresh::new(COOLDOWN), Instant::now());
        assert_eq!(refresh.wait(start), Duration::ZERO);
        refresh.begin();
        refresh.succeed(start, seconds(600), 0.0);
        assert_eq!(refresh.wait(start), seconds(450));
        assert_eq!(refresh.wait(start + seconds(451)), Duration::ZERO);
    }

    #[test]
    fn whoever_asks_waits_for_the_one_fetch_under_way_or_begins_one_after_the_cooldown() {
        let (mut refresh, start) = (Refresh::new(COOLDOWN), Instant::now());
        assert_eq!(refresh.ask(start), Ok(()), "the first is due anyway");
        refresh.begin();
        assert_eq!(refresh.ask(start), Ok(()));
        refresh.succeed(start, seconds(600), 0.0);
        assert_eq!(refresh.wait(start), seconds(450), "who asked meanwhile has had it");
        assert_eq!(refresh.ask(start + seconds(4)), Err(seconds(6)));
        assert_eq!(refresh.wait(start + seconds(4)), seconds(446));
        assert_eq!(refresh.ask(start + seconds(10)), Ok(()));
        assert_eq!(refresh.wait(start + seconds(10)), Duration::ZERO);
        assert_eq!(refresh.ask(start + seconds(10)), Ok(()), "both wait for the same");
    }

    #[test]
    fn while_it_fails_the_cooldown_counts_too() {
        let (mut refresh, now) = (Refresh::new(COOLDOWN), Instant::now());
        for pause in [10, 10, 10, 10, 16, 32, 60] {
            refresh.begin();
            refresh.fail(now, 1.0);
            assert_eq!(refresh.wait(now), seconds(pause));
        }
    }

    #[test]
    fn a_fetch_that_was_broken_off_begins_again() {
        let (mut refresh, now) = (Refresh::new(COOLDOWN), Instant::now());
        refresh.begin();
        refresh.succeed(now, seconds(600), 0.0);
        refresh.begin();
        assert_eq!(refresh.wait(now), Duration::ZERO);
    }

    proptest! {
        /// Clients ask as they like; the provider answers or not.
        #[test]
        fn fetches_are_never_closer_than_the_cooldown(
            events in prop::collection::vec((0..30_u64, any::<bool>(), 1..1000_u64, 0.0..1.0), 1..100),
        ) {
            let (mut refresh, mut now) = (Refresh::new(COOLDOWN), Instant::now());
            let mut last = None;
            for (passed, succeeds, lifetime, random) in events {
                now += seconds(passed);
                let _ = refresh.ask(now);
                if !refresh.wait(now).is_zero() {
                    continue;
                }
                if let Some(last) = last {
                    prop_assert!(now - last >= COOLDOWN);
                }
                last = Some(now);
                refresh.begin();
                if succeeds {
                    refresh.succeed(now, seconds(lifetime), random);
                } else {
                    refresh.fail(now, random);
                }
            }
        }
    }
}
