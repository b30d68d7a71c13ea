//! Refresh: when keys are fetched: at once, then ahead of their end, again when somebody asks for newer ones, and with pauses
//! while it fails; never two at once, and never sooner than the cooldown allows. In: the time, and what became of fetches. Out:
//! how long until the next. Pure; `remote` does it.

use std::time::{Duration, Instant};

use guard::Backoff;

/// The longest pause while fetches fail, unless the cooldown is longer.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// See the module.
#[derive(Debug)]
pub(super) struct Refresh {
    cooldown: Duration,
    backoff: Backoff,
    /// When the last fetch ended; `None`: there was none.
    ended: Option<Instant>,
    /// When the next is due; `None`: at once.
    due: Option<Instant>,
    /// In a row.
    failures: u32,
    /// Somebody waits for one that has not begun.
    is_asked: bool,
    is_under_way: bool,
}

impl Refresh {
    pub(super) fn new(cooldown: Duration) -> Self {
        Refresh {
            cooldown,
            backoff: Backoff::new(cooldown, LONGEST_PAUSE.max(cooldown)),
            ended: None,
            due: None,
            failures: 0,
            is_asked: false,
            is_under_way: false,
        }
    }

    /// How long until the next fetch is to begin. One that was begun and has not ended was broken off, and begins again.
    pub(super) fn wait(&self, now: Instant) -> Duration {
        match self.due {
            Some(due) if !self.is_asked && !self.is_under_way => due.saturating_duration_since(now),
            _ => Duration::ZERO,
        }
    }

    /// Somebody needs newer keys.
    ///
    /// # Errors
    /// How long it is too soon for another fetch.
    pub(super) fn ask(&mut self, now: Instant) -> Result<(), Duration> {
        if !self.is_under_way
            && let Some(ended) = self.ended
        {
            let left = self.cooldown.saturating_sub(now.saturating_duration_since(ended));
            if !left.is_zero() {
                return Err(left);
            }
            self.is_asked = true;
        }
        Ok(())
    }

    /// A fetch begins.
    pub(super) fn begin(&mut self) {
        self.is_asked = false;
        self.is_under_way = true;
    }

    /// It brought keys that are up to date for so long.
    pub(super) fn succeed(&mut self, now: Instant, lifetime: Duration) {
        self.failures = 0;
        self.end(now, (lifetime / 5 * 4).max(self.cooldown));
    }

    /// It brought nothing.
    pub(super) fn fail(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        self.end(now, self.backoff.after(self.failures));
    }

    fn end(&mut self, now: Instant, pause: Duration) {
        self.is_under_way = false;
        self.ended = Some(now);
        self.due = Some(now + pause);
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
        refresh.succeed(start, seconds(600));
        assert_eq!(refresh.wait(start), seconds(480));
        assert_eq!(refresh.wait(start + seconds(481)), Duration::ZERO);
    }

    #[test]
    fn whoever_asks_waits_for_the_one_fetch_under_way_or_begins_one_after_the_cooldown() {
        let (mut refresh, start) = (Refresh::new(COOLDOWN), Instant::now());
        assert_eq!(refresh.ask(start), Ok(()), "the first is due anyway");
        refresh.begin();
        assert_eq!(refresh.ask(start), Ok(()));
        refresh.succeed(start, seconds(600));
        assert_eq!(refresh.wait(start), seconds(480), "who asked meanwhile has had it");
        assert_eq!(refresh.ask(start + seconds(4)), Err(seconds(6)));
        assert_eq!(refresh.wait(start + seconds(4)), seconds(476));
        assert_eq!(refresh.ask(start + seconds(10)), Ok(()));
        assert_eq!(refresh.wait(start + seconds(10)), Duration::ZERO);
        assert_eq!(refresh.ask(start + seconds(10)), Ok(()), "both wait for the same");
    }

    #[test]
    fn failures_are_followed_by_longer_and_longer_pauses() {
        let (mut refresh, now) = (Refresh::new(COOLDOWN), Instant::now());
        for pause in [10, 20, 40, 60, 60] {
            refresh.begin();
            refresh.fail(now);
            assert_eq!(refresh.wait(now), seconds(pause));
        }
        refresh.begin();
        refresh.succeed(now, seconds(600));
        refresh.begin();
        refresh.fail(now);
        assert_eq!(refresh.wait(now), seconds(10), "a success counts them anew");
    }

    #[test]
    fn a_fetch_that_was_broken_off_begins_again() {
        let (mut refresh, now) = (Refresh::new(COOLDOWN), Instant::now());
        refresh.begin();
        refresh.succeed(now, seconds(600));
        refresh.begin();
        assert_eq!(refresh.wait(now), Duration::ZERO);
    }

    proptest! {
        /// Clients ask as they like; the provider answers or not.
        #[test]
        fn fetches_are_never_closer_than_the_cooldown(events in prop::collection::vec((0..30_u64, any::<bool>(), 1..1000_u64), 1..100)) {
            let (mut refresh, mut now) = (Refresh::new(COOLDOWN), Instant::now());
            let mut last = None;
            for (passed, succeeds, lifetime) in events {
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
                if succeeds { refresh.succeed(now, seconds(lifetime)) } else { refresh.fail(now) }
            }
        }
    }
}
