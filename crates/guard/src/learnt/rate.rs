//! Rate: how many calls a second a provider takes of us that says no more than "too many". In: refusals. Out: a rate. Used
//! by `learnt`.
//!
//! As CUBIC (RFC 9438) finds its window: a refusal tells which rate is too high. The rate is lowered a little, soon comes close
//! to that one again, stays there for long, and then rises faster and faster, since the limit may be another by now. Each instance
//! does so on its own. Those who call the most are refused the most, so no share grows for ever; but what is not announced is
//! not shared evenly.

use super::Moment;
use super::tally::{Mark, Tally};

/// By how much of itself it is lowered.
const CUT: f64 = 0.04;
/// It is back after so many seconds,
const SECONDS: f64 = 300.0;
/// or after so many calls where that is longer: whoever calls seldom is not to be refused every other time;
const CALLS: f64 = 100.0;
/// or after so many windows: a limit is only met at the end of one. In seconds, no longer than the last.
const WINDOWS: f64 = 4.0;
const MOST_SECONDS: f64 = 14_400.0;
/// At first so many calls in a window are taken for granted: others may have used the rest.
const FEW: f64 = 10.0;
/// What is believed counts for as much as so many calls, against what a refusal says.
const BELIEF: f64 = 15.0;
/// No refusal takes more than this part of what is believed.
const LEAST: f64 = 0.5;
/// Calls a second. A lower rate is no rate.
const SLOWEST: f64 = 1.0 / 3600.0;
/// Seconds by which a time that is told in whole ones may be too long, and a bit.
const ROUNDED: f64 = 1.5;
/// After so many times as long without a refusal nothing is known any more.
const FORGOTTEN: f64 = 12.0;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// Calls a second, at which one was refused.
    refused_at: f64,
    since: Moment,
    /// The first call that was made under it.
    first: u64,
    /// Until then the provider wanted no calls.
    until: Moment,
    /// Seconds: the longest that it wanted none.
    window: f64,
}

impl Rate {
    /// A call was refused, and nobody is to call until then. `resumed`: the first that was made after the last pause. A call
    /// teaches nothing that was made before the last refusal was heard, or before the time that was told then.
    pub(super) fn learn(
        known: Option<Rate>,
        refused: Mark,
        resumed: Option<Mark>,
        until: Moment,
        tally: &Tally,
        now: Moment,
    ) -> Rate {
        if let Some(known) = known
            && (refused.number < known.first || refused.at <= known.until)
        {
            return known;
        }
        // A window begins somewhere behind us, and ends when the provider says. Of all that may be its beginning, that counts with
        // which the rate is highest: a rate that is too high is soon found out, and one that is too low is not.
        let highest = |begins: &mut dyn Iterator<Item = Mark>, estimate: &dyn Fn(f64, f64) -> f64| {
            let calls = |begin: &Mark| refused.number.saturating_sub(begin.number) as f64;
            let estimates = begins.map(|begin| estimate(calls(&begin), (until - begin.at).max(0.001)));
            estimates.fold(0.0, f64::max)
        };
        let refused_at = match known {
            None => highest(&mut tally.before(refused.number).chain([refused]), &|calls, time| {
                calls.max(FEW) / time
            }),
            Some(known) => {
                let believed = known.per_second(now);
                let first = resumed.unwrap_or(refused);
                let begins = tally.before(refused.number).filter(|mark| mark.number >= first.number);
                let estimate = |calls, time| (calls + BELIEF) / (time + BELIEF / believed);
                highest(&mut begins.chain([first]), &estimate).clamp(believed * LEAST, believed)
            }
        };
        let window = known.map_or(0.0, |known| known.window).max(until - refused.at);
        Rate { refused_at: refused_at.max(SLOWEST), since: now, first: tally.taken(), until, window }
    }

    /// Calls a second.
    pub(super) fn per_second(&self, now: Moment) -> f64 {
        let returned = (now - self.since).max(0.0) / self.return_time();
        self.refused_at * (1.0 + CUT * (returned - 1.0).powi(3))
    }

    /// Whether a call that was let through, made then, shows that the provider did not mean what it said.
    pub(super) fn is_disproved_by(&self, call: Mark) -> bool {
        call.number >= self.first && call.at < self.until - ROUNDED
    }

    /// Whether it tells nothing any more.
    pub(super) fn is_forgotten(&self, now: Moment) -> bool {
        now > self.since + FORGOTTEN * self.return_time()
    }

    /// Seconds from a refusal until it is back where that came.
    fn return_time(&self) -> f64 {
        SECONDS.max(CALLS / self.refused_at).max(WINDOWS * self.window).min(MOST_SECONDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After calls at these moments, the next of which was refused until then.
    fn refused(known: Option<Rate>, moments: &[f64], until: f64) -> Rate {
        let tally = Tally::default();
        for at in moments {
            tally.take(*at);
        }
        let now = moments[moments.len() - 1];
        let call = Mark { number: moments.len() as u64 - 1, at: now };
        Rate::learn(known, call, known.map(|_| Mark { number: 0, at: moments[0] }), until, &tally, now)
    }

    /// So many, one after the other, from the first of them until the last.
    fn evenly(count: u32, from: f64, until: f64) -> Vec<f64> {
        (0..count).map(|number| from + (until - from) * f64::from(number) / f64::from(count - 1)).collect()
    }

    fn is_about(number: f64, expected: f64) -> bool {
        (number / expected - 1.0).abs() < 0.001
    }

    #[test]
    fn a_window_is_known_when_its_end_is_told() {
        let rate = refused(None, &evenly(101, 7.0, 8.0), 67.0);
        assert!(is_about(rate.refused_at, 100.0 / 60.0), "{rate:?}");
        assert!(is_about(rate.per_second(8.0), 96.0 / 60.0), "{rate:?}");
    }

    #[test]
    fn a_quiet_time_before_is_not_taken_for_the_rate() {
        let mut moments = evenly(600, 0.0, 3600.0);
        moments.extend(evenly(101, 3600.1, 3601.0));
        let rate = refused(None, &moments, 3660.0).refused_at;
        assert!(rate > 80.0 / 60.0 && rate < 120.0 / 60.0, "{rate}");
    }

    #[test]
    fn it_returns_stays_and_leaves() {
        let rate = refused(None, &evenly(101, 0.0, 1.0), 60.0);
        let at = |minutes: f64| rate.per_second(1.0 + 60.0 * minutes) / rate.refused_at;
        assert!(is_about(at(0.0), 0.96) && is_about(at(5.0), 1.0) && at(4.0) > 0.999 && at(6.0) < 1.001);
        assert!(is_about(at(10.0), 1.04) && at(30.0) > 5.0);
        assert!(!rate.is_forgotten(3600.0) && rate.is_forgotten(3602.0));
    }

    #[test]
    fn the_longer_the_window_the_longer_it_stays() {
        let rate = refused(None, &evenly(101, 0.0, 1.0), 3600.0);
        assert!(
            rate.per_second(1800.0) < rate.refused_at
                && rate.per_second(4.0 * 3600.0) > rate.refused_at * 0.999
        );
    }

    #[test]
    fn no_refusal_takes_more_than_half_of_what_is_believed() {
        let known = Rate { first: 0, ..refused(None, &evenly(101, 0.0, 1.0), 60.0) };
        let again = refused(Some(known), &evenly(20, 61.0, 72.0), 3600.0).refused_at;
        assert!(is_about(again, known.per_second(72.0) / 2.0), "{again} {known:?}");
    }

    #[test]
    fn few_calls_refused_do_not_say_much() {
        let known = refused(None, &evenly(101, 0.0, 1.0), 60.0);
        let again = refused(Some(Rate { first: 0, ..known }), &[61.0, 61.6], 62.6).refused_at;
        assert!(again < known.per_second(61.6) && again > known.per_second(61.6) * 0.85, "{again} {known:?}");
        assert!(refused(None, &[1.0], 61.0).refused_at >= FEW / 60.0, "who comes late gets a share");
    }

    #[test]
    fn of_many_that_are_refused_at_once_one_counts() {
        let known = refused(None, &evenly(101, 0.0, 1.0), 60.0);
        let same =
            |refused: Mark| Rate::learn(Some(known), refused, None, 60.0, &Tally::default(), 2.0).since < 2.0;
        assert!(same(Mark { number: 100, at: 0.9 }), "under way already");
        assert!(same(Mark { number: 101, at: 59.0 }), "before the time it was told");
        assert!(!same(Mark { number: 101, at: 61.0 }));
    }

    #[test]
    fn whoever_is_let_through_before_the_time_that_was_told_has_not_been_told_the_truth() {
        let rate = refused(None, &evenly(101, 0.0, 1.0), 3600.0);
        let disproves = |number, at| rate.is_disproved_by(Mark { number, at });
        assert!(disproves(101, 61.0) && !disproves(100, 0.99) && !disproves(101, 3599.0));
    }
}
