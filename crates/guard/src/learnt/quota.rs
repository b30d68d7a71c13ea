//! Quota: what is left of one quota, as its provider tells it, and the pace at which to use it. In: what is said, and how
//! many calls that does not hold yet. Out: a pace, or until when there is none. Used by `learnt`.
//!
//! Instances that share a provider do not talk to each other, but what remains falls by everybody's calls. So each makes its
//! pace depend on what remains, and together they neither leave much of it nor ask for more.
//!
//! - **A window that ends**: what remains is spread over the time until then. As all do so, it is used up somewhat before, and
//!   then all wait. To wait a little too long costs nothing, so times that may be rounded are taken for longer.
//! - **A window that slides**, or a bucket: what is used comes back a window later, and to spread what remains would leave half of
//!   it. What does not remain is what everybody used within a window, so what we used of it is our share. Our pace is what we
//!   used, raised or lowered until just the reserve remains. Each gives up a little of it and takes the same for it, so that shares
//!   become equal.
//!
//! Which of both it is shows in when the quota is whole again: always at the same moment, or later each time.

use std::time::Duration;

use super::Moment;
use super::departures::Pace;
use super::tally::{Mark, Tally};

/// What a provider says of one of its quotas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeardQuota {
    /// Tells it from others of the same owner.
    pub name: u64,
    /// The whole quota, where it is said.
    pub limit: Option<u64>,
    /// What may still be used; each call uses one, or more.
    pub remaining: u64,
    /// Until it is whole again.
    pub reset: Duration,
    /// How long it is for, where it is said. The longest time until it was whole again is taken for it otherwise.
    pub window: Option<Duration>,
}

/// Seconds by which two moments may differ that are the same: they are told in whole seconds.
const SAME: f64 = 1.5;
/// Seconds. A quota that is whole again sooner is not kept, but for that none of it is left: whole seconds are too rough for it,
/// and a refusal costs little.
const SHORTEST: f64 = 2.0;
/// The fiftieth part of a quota is never used: what others use meanwhile is heard late.
const RESERVE: u64 = 50;
/// With each refusal one more is left, up to the eighth part.
const MOST_CAUTION: u64 = 8;
/// After so many windows without a refusal, one less.
const CALM: f64 = 10.0;
/// While more than half is left, the fourth part of a quota may go at once after a quiet time: as much as a page needs, and so
/// little that a sliding window does not get it back all at once.
const CREDIT: f64 = 4.0;
/// But no more than the eighth part of what is left is under way then: other instances may do the same.
const CROWD: u64 = 8;
/// By how much of itself the pace in a sliding window changes for each part of the quota that is left beside the reserve.
const GAIN: f64 = 6.0;
/// By how much at most.
const MOST_CHANGE: f64 = 0.15;
/// How much of its share each gives up in a sliding window.
const GIVEN_UP: f64 = 0.04;
/// What part of the quota each takes for it, as if there were four to share.
const TAKEN: f64 = GIVEN_UP / 4.0;

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quota {
    pub(super) name: u64,
    limit: u64,
    remaining: u64,
    heard: Moment,
    /// The call in whose answer it was said.
    call: u64,
    /// When it is whole again, as last told.
    reset: Moment,
    /// The same as told first in this window.
    first_reset: Moment,
    /// Seconds.
    window: f64,
    slides: bool,
    /// What is left, spread over the time until then: calls a second.
    spread: f64,
    /// How many are left beside the reserve, and since when.
    caution: (u64, Moment),
}

impl Quota {
    /// As said in the answer to a call. `known`: what was known of it. `None`: it is not worth keeping.
    pub(super) fn hear(
        known: Option<Quota>,
        said: &HeardQuota,
        call: Mark,
        tally: &Tally,
        now: Moment,
    ) -> Option<Quota> {
        if let Some(mut known) = known
            && known.call > call.number
        {
            // The provider may have taken them in another order. Once nothing is left of a window, there will not be more.
            let reset = now + said.reset.as_secs_f64();
            if said.remaining == 0 && !known.slides && (reset - known.reset).abs() < SAME {
                known.remaining = 0;
            }
            return Some(known);
        }
        let seconds = said.reset.as_secs_f64();
        let reset = now + seconds;
        let longest = known.map_or(seconds, |known| known.window.max(seconds));
        let mut quota = Quota {
            name: said.name,
            limit: said
                .limit
                .unwrap_or_else(|| known.map_or(0, |known| known.limit))
                .max(said.remaining)
                .max(1),
            remaining: said.remaining,
            heard: now,
            call: call.number,
            reset,
            first_reset: reset,
            window: said.window.map_or(longest, |window| window.as_secs_f64()),
            slides: false,
            spread: 0.0,
            caution: (0, now),
        };
        if let Some(known) = known {
            quota.follow(&known, call.at);
        }
        quota.spread =
            quota.left(tally).saturating_sub(quota.reserve()) as f64 / (quota.reset - call.at).max(0.001);
        (quota.window > SHORTEST).then_some(quota)
    }

    /// Takes over what was known.
    fn follow(&mut self, known: &Quota, made: Moment) {
        let moved = self.reset - known.first_reset;
        let is_another = moved >= self.window - 2.0 * SAME;
        // It should be whole, or have been used up within moments.
        let is_far_from_whole = made >= known.reset
            && self.reset - self.heard > 0.875 * self.window
            && self.remaining < self.limit / 2;
        self.slides = known.slides || (moved > SAME && !is_another) || is_far_from_whole;
        if !is_another {
            self.first_reset = known.first_reset;
        }
        let (more, since) = known.caution;
        let is_calm = self.heard > since + CALM * self.window;
        self.caution = if is_calm { (more.saturating_sub(1), self.heard) } else { known.caution };
    }

    /// A call, made then, was refused for it: others used what we took for left.
    pub(super) fn refuse(&mut self, made: Moment, now: Moment) {
        let (more, since) = self.caution;
        if made >= since {
            self.caution = ((more + 1).min(self.limit / MOST_CAUTION), now);
        }
    }

    #[cfg(test)]
    pub(super) fn slides(&self) -> bool {
        self.slides
    }

    /// Whether no refusal makes it more careful.
    pub(super) fn is_most_careful(&self) -> bool {
        self.caution.0 >= self.limit / MOST_CAUTION
    }

    /// The pace that it allows now, and until when; none where nothing is left.
    pub(super) fn pace(&self, tally: &Tally, now: Moment) -> (Pace, Moment) {
        let is_whole = now >= self.ends();
        let left = if is_whole { self.limit.saturating_sub(self.unheard(tally)) } else { self.left(tally) };
        let spare = left.saturating_sub(self.reserve()) as f64;
        let per_second = if is_whole {
            spare / self.window
        } else if self.slides {
            self.sliding_pace(tally, now)
        } else if spare > 0.0 && now < self.reset {
            self.spread
        } else {
            0.0
        };
        // That it is whole is only sure once nothing has been heard for a window.
        let is_sure = !is_whole || now >= self.heard + self.window;
        let credit = if left > self.limit / 2 && is_sure { self.limit as f64 / CREDIT } else { 0.0 };
        let is_crowded = tally.under_way() >= left / CROWD;
        let until = if is_whole { Moment::INFINITY } else { self.ends() };
        (Pace { per_second, credit, is_crowded }, until)
    }

    /// What is left, of how many, and until when; `None`: as far as anybody knows it is whole.
    pub(super) fn figures(&self, tally: &Tally, now: Moment) -> Option<(u64, u64, Moment)> {
        (now < self.ends()).then(|| (self.left(tally), self.limit, self.ends()))
    }

    fn sliding_pace(&self, tally: &Tally, now: Moment) -> f64 {
        let (limit, left) = (self.limit as f64, self.left(tally) as f64);
        let spare = left - self.reserve() as f64;
        let change = (GAIN * spare / limit).clamp(-MOST_CHANGE, MOST_CHANGE);
        let share = (1.0 - GIVEN_UP) * tally.rate(self.window, now) * (1.0 + change);
        let pace = (share + TAKEN * limit / self.window).max(spare / self.window);
        if left > 0.0 { pace } else { pace / 2.0 }
    }

    /// What remains, less the calls that this does not hold: those made since, and those under way.
    fn left(&self, tally: &Tally) -> u64 {
        self.remaining.saturating_sub(self.unheard(tally).max(tally.under_way()))
    }

    /// Calls made after the one that told.
    fn unheard(&self, tally: &Tally) -> u64 {
        tally.taken().saturating_sub(self.call + 1)
    }

    fn reserve(&self) -> u64 {
        self.limit / RESERVE + self.caution.0
    }

    /// When to take it for whole. A sliding window is whole when nobody has called for so long.
    fn ends(&self) -> Moment {
        let late = (self.window / 60.0).min(1.0);
        if self.slides { self.heard + self.window } else { self.reset + late }
    }

    /// Whether it tells nothing any more.
    pub(super) fn is_forgotten(&self, now: Moment) -> bool {
        now > self.reset.max(self.heard + self.window) + self.window
    }
}
