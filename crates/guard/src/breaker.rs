//! Breaker: whether a target that keeps failing is to be asked at all. A pure state machine; time is an argument.
//!
//! In: what became of each call. Out: whether the next may pass. Shared by all cores as a `SharedBreaker`.

use std::time::{Duration, Instant};

use crate::backoff::Backoff;

/// So many failures in a row open the breaker.
const FAILURES: u32 = 5;
/// How long it stays open before the first probe, unless it may rest for less; then twice as long each time.
const PAUSE: Duration = Duration::from_secs(1);

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
    state: State,
    /// How long it stays open before the first probe, and between probes.
    pauses: Backoff,
}

#[derive(Debug)]
enum State {
    Closed {
        failures: u32,
    },
    /// `probes`: so many have failed since it opened.
    Open {
        until: Instant,
        probes: u32,
    },
    Probing {
        probes: u32,
    },
}

impl Breaker {
    /// A closed one, which is open for no longer than `rest` between probes.
    pub(crate) fn new(rest: Duration) -> Self {
        Breaker { state: State::Closed { failures: 0 }, pauses: Backoff::new(PAUSE, rest) }
    }

    /// Closed, and nothing has failed lately.
    pub(crate) fn is_untroubled(&self) -> bool {
        matches!(self.state, State::Closed { failures: 0 })
    }

    /// Whether it lets everything through: not open, nor tried with a probe.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed { .. })
    }

    /// What `try_pass` would say, without taking the probe.
    pub(crate) fn would_pass(&self, now: Instant) -> bool {
        match self.state {
            State::Closed { .. } => true,
            State::Open { until, .. } => now >= until,
            State::Probing { .. } => false,
        }
    }

    /// Whether a call may be made. A probe has to be followed by `succeeded`, `failed` or `abandoned`.
    pub(crate) fn try_pass(&mut self, now: Instant) -> BreakerDecision {
        match self.state {
            State::Closed { .. } => BreakerDecision::Pass,
            State::Open { until, probes } if now >= until => {
                self.state = State::Probing { probes };
                BreakerDecision::Probe
            }
            State::Open { .. } | State::Probing { .. } => BreakerDecision::Refused,
        }
    }

    /// The target did its work. Says whether that closed the breaker. Of those that passed before it opened, none does:
    /// their replies may be as old as the failure.
    pub(crate) fn succeeded(&mut self, probe: bool) -> bool {
        match self.state {
            State::Closed { .. } => self.state = State::Closed { failures: 0 },
            State::Probing { .. } if probe => {
                self.state = State::Closed { failures: 0 };
                return true;
            }
            State::Open { .. } | State::Probing { .. } => {}
        }
        false
    }

    /// The target did work that did not pass here. Says whether that closed the breaker.
    pub(crate) fn revived(&mut self) -> bool {
        let was_closed = self.is_closed();
        if !was_closed {
            self.state = State::Closed { failures: 0 };
        }
        !was_closed
    }

    /// It did not. Says whether that opened the breaker, which a failed probe does again.
    pub(crate) fn failed(&mut self, probe: bool, now: Instant) -> bool {
        let probes = match self.state {
            State::Closed { failures } if failures + 1 < FAILURES => {
                self.state = State::Closed { failures: failures + 1 };
                return false;
            }
            State::Closed { .. } => 0,
            State::Probing { probes } if probe => probes.saturating_add(1),
            State::Open { .. } | State::Probing { .. } => return false,
        };
        self.state = State::Open { until: now + self.pauses.after(probes.saturating_add(1)), probes };
        true
    }

    /// Nothing is known: whoever asked went away, or nothing was sent. The next may be the probe.
    pub(crate) fn abandoned(&mut self, probe: bool, now: Instant) {
        if let State::Probing { probes } = self.state
            && probe
        {
            self.state = State::Open { until: now, probes };
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REST: Duration = Duration::from_secs(5);

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::new(REST);
        for _ in 0..FAILURES {
            assert_eq!(breaker.try_pass(now), BreakerDecision::Pass);
            breaker.failed(false, now);
        }
        breaker
    }

    #[test]
    fn the_fifth_failure_in_a_row_opens_it_for_a_second() {
        let start = Instant::now();
        let mut breaker = opened(start);
        assert_eq!(breaker.try_pass(start), BreakerDecision::Refused);
        assert_eq!(breaker.try_pass(start + Duration::from_millis(999)), BreakerDecision::Refused);
        assert_eq!(breaker.try_pass(start + PAUSE), BreakerDecision::Probe);
        assert_eq!(breaker.try_pass(start + PAUSE), BreakerDecision::Refused, "one probe at a time");
    }

    #[test]
    fn a_success_in_between_starts_the_count_anew() {
        let now = Instant::now();
        let mut breaker = Breaker::new(REST);
        for _ in 0..10 {
            for _ in 1..FAILURES {
                assert!(!breaker.failed(false, now));
            }
            breaker.succeeded(false);
        }
        assert_eq!(breaker.try_pass(now), BreakerDecision::Pass);
    }

    #[test]
    fn failed_probes_double_the_pause_up_to_five_seconds() {
        let mut now = Instant::now();
        let mut breaker = opened(now);
        for pause in [1, 2, 4, 5, 5] {
            assert!(!breaker.would_pass(now + Duration::from_millis(pause * 1000 - 1)));
            now += Duration::from_secs(pause);
            assert_eq!(breaker.try_pass(now), BreakerDecision::Probe);
            assert!(breaker.failed(true, now));
        }
    }

    #[test]
    fn a_probe_that_succeeds_closes_it_and_one_that_is_lost_makes_room_for_another() {
        let start = Instant::now();
        let mut breaker = opened(start);
        let now = start + PAUSE;
        assert_eq!(breaker.try_pass(now), BreakerDecision::Probe);
        breaker.abandoned(true, now);
        assert_eq!(breaker.try_pass(now), BreakerDecision::Probe);
        assert!(breaker.succeeded(true));
        assert_eq!(breaker.try_pass(now), BreakerDecision::Pass);
    }

    #[test]
    fn replies_of_before_neither_close_it_nor_keep_it_open() {
        let start = Instant::now();
        let mut breaker = opened(start);
        assert!(!breaker.succeeded(false));
        assert!(!breaker.failed(false, start + PAUSE));
        assert_eq!(breaker.try_pass(start + PAUSE), BreakerDecision::Probe);
    }

    #[test]
    fn a_short_rest_is_short_from_the_first() {
        let start = Instant::now();
        let mut breaker = Breaker::new(Duration::from_millis(100));
        (0..FAILURES).for_each(|_| {
            breaker.failed(false, start);
        });
        assert_eq!(breaker.try_pass(start + Duration::from_millis(100)), BreakerDecision::Probe);
    }

    #[test]
    fn who_is_heard_of_otherwise_need_not_be_probed() {
        let start = Instant::now();
        let mut breaker = opened(start);
        assert!(breaker.revived());
        assert_eq!(breaker.try_pass(start), BreakerDecision::Pass);
        breaker.failed(false, start);
        assert!(!breaker.revived() && !breaker.is_untroubled(), "what fails while it is heard of is counted");
    }

    /// What may happen to one request after another.
    #[derive(Clone, Copy, Debug)]
    enum Event {
        Ask,
        Succeed,
        Fail,
        Abandon,
        Wait(u64),
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            3 => Just(Event::Ask),
            1 => Just(Event::Succeed),
            3 => Just(Event::Fail),
            1 => Just(Event::Abandon),
            1 => (0..3000_u64).prop_map(Event::Wait),
        ]
    }

    proptest! {
        /// Whatever happens: at most one probe is under way, it opens only by failures, and after the longest pause
        /// somebody may pass.
        #[test]
        fn it_never_locks_out_for_good(events in proptest::collection::vec(event(), 0..200)) {
            let mut now = Instant::now();
            let mut breaker = Breaker::new(REST);
            let mut under_way: Vec<bool> = Vec::new();
            let mut failures_in_a_row = 0;
            for event in events {
                match event {
                    Event::Ask => {
                        let foretold = breaker.would_pass(now);
                        let verdict = breaker.try_pass(now);
                        prop_assert_eq!(foretold, verdict != BreakerDecision::Refused);
                        match verdict {
                            BreakerDecision::Refused => prop_assert!(failures_in_a_row >= FAILURES),
                            passed => under_way.push(passed == BreakerDecision::Probe),
                        }
                    }
                    Event::Succeed => if let Some(probe) = under_way.pop()
                        && (breaker.succeeded(probe) || breaker.is_untroubled())
                    {
                        failures_in_a_row = 0;
                    },
                    Event::Fail => if let Some(probe) = under_way.pop() {
                        failures_in_a_row += 1;
                        breaker.failed(probe, now);
                    },
                    Event::Abandon => if let Some(probe) = under_way.pop() {
                        breaker.abandoned(probe, now);
                    },
                    Event::Wait(milliseconds) => now += Duration::from_millis(milliseconds),
                }
                prop_assert!(under_way.iter().filter(|probe| **probe).count() <= 1);
            }
            for probe in under_way {
                breaker.abandoned(probe, now);
            }
            prop_assert_ne!(breaker.try_pass(now + REST), BreakerDecision::Refused);
        }
    }
}
