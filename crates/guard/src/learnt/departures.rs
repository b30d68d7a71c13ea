//! Departures: calls at a pace, with some at once for whoever has made none for a while. In: the pace, and when a call wants to go.
//! Out: when it may. Used by `learnt`.
//!
//! As GCRA, but the pace is another each time it is asked, so what is kept is the last departure and not the next.

use super::Moment;

/// So late a call may be without the next ones waiting for longer, in seconds: timers fire late.
const LATE: f64 = 0.02;

/// How quickly calls may follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    /// None: never. Infinite: whenever they come.
    pub(super) per_second: f64,
    /// So many may go at once after a quiet time.
    pub(super) credit: f64,
    /// So many are under way that no more go at once until some are back.
    pub(super) is_crowded: bool,
}

impl Pace {
    /// None to keep.
    pub(super) const FREE: Pace = Pace { per_second: f64::INFINITY, credit: f64::MAX, is_crowded: false };

    /// Seconds from one to the next.
    pub(super) fn interval(&self) -> f64 {
        self.per_second.max(0.0).recip()
    }
}

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Departures {
    /// When the last would have gone, had they all gone when they were due.
    last: Moment,
}

impl Departures {
    /// None so far.
    pub(super) const NONE: Departures = Departures { last: Moment::NEG_INFINITY };

    /// When the next is due. At an infinite pace it always is.
    pub(super) fn next(self, pace: Pace, now: Moment) -> Moment {
        let interval = pace.interval();
        if interval.is_infinite() {
            return Moment::INFINITY;
        }
        let caught_up = now - interval - (pace.credit * interval).max(LATE);
        self.last.max(caught_up) + interval
    }

    /// One goes, now.
    pub(super) fn go(&mut self, pace: Pace, now: Moment) {
        self.last = self.next(pace, now).min(now);
    }

    /// They begin anew: what was not made before is not caught up on.
    pub(super) fn restart(&mut self, now: Moment) {
        self.last = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(per_second: f64, credit: f64) -> Pace {
        Pace { per_second, credit, is_crowded: false }
    }

    /// How many go at once, at ten a second otherwise.
    fn burst(departures: &mut Departures, credit: f64, now: f64) -> usize {
        let goes = |departures: &mut Departures| {
            let is_due = departures.next(pace(10.0, credit), now) <= now;
            if is_due {
                departures.go(pace(10.0, credit), now);
            }
            is_due
        };
        (0..100).take_while(|_| goes(departures)).count()
    }

    #[test]
    fn they_keep_the_pace_whatever_it_is() {
        let mut departures = Departures::NONE;
        assert_eq!(burst(&mut departures, 0.0, 5.0), 1);
        departures.restart(5.0);
        let next = |per_second| departures.next(pace(per_second, 0.0), 5.0);
        assert!((next(10.0) - 5.1).abs() < 1e-9 && (next(2.0) - 5.5).abs() < 1e-9);
        assert!(next(0.0).is_infinite() && next(f64::INFINITY) <= 5.0);
        // Each a little late, and yet ten in a second.
        let mut now = 5.0;
        for _ in 0..10 {
            now = departures.next(pace(10.0, 0.0), now) + 0.002;
            departures.go(pace(10.0, 0.0), now);
        }
        assert!(now < 6.01, "{now}");
    }

    #[test]
    fn after_a_quiet_time_some_go_at_once() {
        let mut departures = Departures::NONE;
        assert_eq!(burst(&mut departures, 5.0, 100.0), 6);
        assert_eq!(burst(&mut departures, 5.0, 100.35), 3);
        assert_eq!(burst(&mut departures, 5.0, 100.36), 0);
        departures.restart(200.0);
        assert_eq!(burst(&mut departures, 5.0, 200.0), 0);
    }
}
