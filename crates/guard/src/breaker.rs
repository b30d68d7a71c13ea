//! Breaker: whether a target that keeps failing is to be asked at all.
//!
//! In: a rule, and that enough has failed; then what became of each probe. Out: whether the next call may pass, and how long
//! until one may. A pure state machine: the time is an argument. Shared by all cores as a `SharedBreaker`; `record` knows
//! what is enough, and `window` how many calls there were of late.

pub(crate) mod record;
mod window;

use std::time::{Duration, Instant};

use crate::backoff::Backoff;

/// When a breaker opens, how long it rests and what closes it again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BreakerRule {
    /// What opens it.
    pub opens: Opens,
    /// How long it is open before the first probe; no longer than `longest_rest`.
    pub first_rest: Duration,
    /// It rests twice as long after each probe that fails, up to this.
    pub longest_rest: Duration,
    /// So many probes in a row must succeed to close it, one after another: a target that is dead costs nobody more than
    /// one call a rest. None counts as one.
    pub probes: u32,
}

/// What opens a breaker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Opens {
    /// So many failures in a row. None counts as one.
    InARow(u32),
    /// So large a share of failures. Told by a failure: a success does not open it, even if it makes the calls enough.
    Share {
        /// Of one, to a millionth. What is not between zero and one is the nearest that is.
        share: f64,
        /// Calls count that have ended within this time, to a tenth of it. At least 100 milliseconds.
        window: Duration,
        /// Of fewer calls nothing is said: the first failure of the day is no reason.
        fewest: u32,
    },
}

/// Whether a call may be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BreakerDecision {
    /// It may.
    Pass,
    /// It may, and what becomes of it decides whether others may.
    Probe,
    /// It may not.
    Refused,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Breaker {
    /// None: it is closed.
    open: Option<Open>,
    rests: Backoff,
    probes: u32,
}

#[derive(Debug)]
struct Open {
    /// The rest: since when, and how long.
    since: Instant,
    rest: Duration,
    /// A probe is under way.
    is_probing: bool,
    /// Probes that have failed since it opened.
    failed: u32,
    /// Probes that have succeeded since the last that failed.
    succeeded: u32,
}

impl Breaker {
    /// A closed one.
    pub(crate) fn new(rule: &BreakerRule) -> Self {
        let rests = Backoff::new(rule.first_rest, rule.longest_rest);
        Breaker { open: None, rests, probes: rule.probes }
    }

    /// How long until a probe may pass, as far as is known: no time at all where it is closed, or where what becomes of
    /// the probe under way decides.
    pub(crate) fn rest(&self, now: Instant) -> Duration {
        match &self.open {
            Some(Open { since, rest, is_probing: false, .. }) => {
                rest.saturating_sub(now.saturating_duration_since(*since))
            }
            Some(_) | None => Duration::ZERO,
        }
    }

    /// What `try_pass` would say, without taking the probe.
    pub(crate) fn would_pass(&self, now: Instant) -> bool {
        self.open.as_ref().is_none_or(|open| !open.is_probing) && self.rest(now).is_zero()
    }

    /// Whether a call may be made. A probe has to be followed by `probe_succeeded`, `probe_failed` or `abandoned`.
    pub(crate) fn try_pass(&mut self, now: Instant) -> BreakerDecision {
        let would_pass = self.would_pass(now);
        match &mut self.open {
            None => BreakerDecision::Pass,
            Some(open) if would_pass => {
                open.is_probing = true;
                BreakerDecision::Probe
            }
            Some(_) => BreakerDecision::Refused,
        }
    }

    /// Enough has failed.
    pub(crate) fn open(&mut self, now: Instant) {
        self.rest_after(0, now);
    }

    /// The target did its work. Says whether that closed the breaker; otherwise the next probe may pass at once.
    pub(crate) fn probe_succeeded(&mut self) -> bool {
        let Some(open) = &mut self.open else { return false };
        open.is_probing = false;
        open.succeeded += 1;
        let is_enough = open.succeeded >= self.probes;
        if is_enough {
            self.close();
        }
        is_enough
    }

    /// It did not: the breaker rests for longer than before.
    pub(crate) fn probe_failed(&mut self, now: Instant) {
        if let Some(open) = &self.open {
            self.rest_after(open.failed.saturating_add(1), now);
        }
    }

    /// Nothing is known of the probe: whoever asked went away, or nothing was sent. The next may pass at once.
    pub(crate) fn abandoned(&mut self) {
        if let Some(open) = &mut self.open {
            open.is_probing = false;
        }
    }

    /// The target is well.
    pub(crate) fn close(&mut self) {
        self.open = None;
    }

    fn rest_after(&mut self, failed: u32, now: Instant) {
        let rest = self.rests.after(failed.saturating_add(1));
        self.open = Some(Open { since: now, rest, is_probing: false, failed, succeeded: 0 });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const RULE: BreakerRule = BreakerRule {
        opens: Opens::InARow(5),
        first_rest: SECOND,
        longest_rest: Duration::from_secs(5),
        probes: 1,
    };

    fn opened(rule: BreakerRule, now: Instant) -> Breaker {
        let mut breaker = Breaker::new(&rule);
        breaker.open(now);
        breaker
    }

    #[test]
    fn it_lets_one_probe_through_after_its_rest() {
        let start = Instant::now();
        let mut breaker = Breaker::new(&RULE);
        assert_eq!((breaker.try_pass(start), breaker.rest(start)), (BreakerDecision::Pass, Duration::ZERO));
        breaker.open(start);
        assert_eq!((breaker.try_pass(start), breaker.rest(start)), (BreakerDecision::Refused, SECOND));
        let almost = start + Duration::from_millis(999);
        assert_eq!(breaker.try_pass(almost), BreakerDecision::Refused);
        assert_eq!(breaker.rest(almost), Duration::from_millis(1));
        assert_eq!(breaker.try_pass(start + SECOND), BreakerDecision::Probe);
        assert_eq!(breaker.try_pass(start + SECOND), BreakerDecision::Refused, "one probe at a time");
    }

    #[test]
    fn failed_probes_double_the_rest_up_to_the_longest() {
        let mut now = Instant::now();
        let mut breaker = opened(RULE, now);
        for rest in [1, 2, 4, 5, 5] {
            assert_eq!(breaker.rest(now), rest * SECOND);
            assert!(!breaker.would_pass(now + Duration::from_millis(u64::from(rest) * 1000 - 1)));
            now += rest * SECOND;
            assert_eq!(breaker.try_pass(now), BreakerDecision::Probe);
            breaker.probe_failed(now);
        }
    }

    #[test]
    fn a_probe_that_is_lost_makes_room_for_another() {
        let start = Instant::now();
        let mut breaker = opened(RULE, start);
        assert_eq!(breaker.try_pass(start + SECOND), BreakerDecision::Probe);
        breaker.abandoned();
        assert_eq!(breaker.try_pass(start + SECOND), BreakerDecision::Probe);
        assert!(breaker.probe_succeeded());
        assert_eq!(breaker.try_pass(start + SECOND), BreakerDecision::Pass);
    }

    #[test]
    fn so_many_probes_in_a_row_close_it_one_after_another() {
        let start = Instant::now();
        let mut breaker = opened(BreakerRule { probes: 3, ..RULE }, start);
        let mut now = start + SECOND;
        for _ in 0..2 {
            assert_eq!(breaker.try_pass(now), BreakerDecision::Probe);
            assert_eq!(breaker.try_pass(now), BreakerDecision::Refused);
            assert!(!breaker.probe_succeeded(), "the next may pass at once");
        }
        assert_eq!(breaker.try_pass(now), BreakerDecision::Probe);
        breaker.probe_failed(now);
        now += 2 * SECOND;
        for is_last in [false, false, true] {
            assert_eq!(breaker.try_pass(now), BreakerDecision::Probe, "they are counted anew");
            assert_eq!(breaker.probe_succeeded(), is_last);
        }
    }

    #[test]
    fn a_short_rest_is_short_from_the_first() {
        let start = Instant::now();
        let mut breaker = opened(BreakerRule { longest_rest: SECOND / 10, ..RULE }, start);
        assert_eq!(breaker.try_pass(start + SECOND / 10), BreakerDecision::Probe);
    }

    #[test]
    fn a_rest_without_end_does_not_overflow() {
        let start = Instant::now();
        let rule = BreakerRule { first_rest: Duration::MAX, longest_rest: Duration::MAX, ..RULE };
        let breaker = opened(rule, start + SECOND);
        assert_eq!(breaker.rest(start), Duration::MAX, "also by a clock that is a little behind");
    }

    /// What may happen, one after another.
    #[derive(Clone, Copy, Debug)]
    enum Event {
        Open,
        Ask,
        Succeed,
        Fail,
        Abandon,
        Wait(u64),
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            1 => Just(Event::Open),
            4 => Just(Event::Ask),
            1 => Just(Event::Succeed),
            2 => Just(Event::Fail),
            1 => Just(Event::Abandon),
            1 => (0..3000_u64).prop_map(Event::Wait),
        ]
    }

    proptest! {
        /// Whatever happens: it refuses only while it is open, at most one probe is under way, it closes by as many
        /// probes in a row as it should, what it says of the rest is true, and after the longest somebody may pass.
        #[test]
        fn it_never_locks_out_for_good(probes in 0..4_u32, events in proptest::collection::vec(event(), 0..200)) {
            let mut now = Instant::now();
            let mut breaker = Breaker::new(&BreakerRule { probes, ..RULE });
            let (mut is_open, mut is_probing, mut in_a_row) = (false, false, 0);
            for event in events {
                match event {
                    Event::Open if !is_open => {
                        breaker.open(now);
                        (is_open, in_a_row) = (true, 0);
                    }
                    Event::Ask => {
                        let (foretold, rest) = (breaker.would_pass(now), breaker.rest(now));
                        let decision = breaker.try_pass(now);
                        prop_assert_eq!(foretold, decision != BreakerDecision::Refused);
                        match decision {
                            BreakerDecision::Pass => prop_assert!(!is_open),
                            BreakerDecision::Probe => {
                                prop_assert!(is_open && !is_probing && rest.is_zero());
                                is_probing = true;
                            }
                            BreakerDecision::Refused => {
                                prop_assert!(is_open && (is_probing || !rest.is_zero()));
                                prop_assert!(is_probing || breaker.would_pass(now + rest));
                            }
                        }
                    }
                    Event::Succeed if is_probing => {
                        (is_probing, in_a_row) = (false, in_a_row + 1);
                        let has_closed = breaker.probe_succeeded();
                        prop_assert_eq!(has_closed, in_a_row == probes.max(1));
                        is_open = !has_closed;
                    }
                    Event::Fail if is_probing => {
                        (is_probing, in_a_row) = (false, 0);
                        breaker.probe_failed(now);
                        prop_assert!(breaker.rest(now) >= RULE.first_rest);
                    }
                    Event::Abandon if is_probing => {
                        is_probing = false;
                        breaker.abandoned();
                        prop_assert!(breaker.would_pass(now));
                    }
                    Event::Wait(milliseconds) => now += Duration::from_millis(milliseconds),
                    Event::Open | Event::Succeed | Event::Fail | Event::Abandon => {}
                }
            }
            if is_probing {
                breaker.abandoned();
            }
            prop_assert_ne!(breaker.try_pass(now + RULE.longest_rest), BreakerDecision::Refused);
        }
    }
}
