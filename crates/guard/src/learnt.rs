//! Learnt: what a provider says of its limits, kept for all who call it: everybody pauses when it asks for that, and keeps to the
//! pace it allows.
//!
//! In: each call, what its answer says ([`Heard`]), and the time. Out: an [`Admission`]. Shared by all cores, one for each owner
//! of a quota ([`LearntByOwner`]). Nothing here waits: whoever has to, asks again then. While a provider has said nothing, a
//! call costs a few atomic counts and no lock.
//!
//! `quota` finds the pace for what is announced. Where nothing is, `rate` finds it from refusals. `departures` spaces calls by
//! that pace, `tally` counts them, `by_owner` keeps owners apart, and `figures` tells of it. Of instances that share a provider each has its own, and
//! they do not talk to each other; `simulation` shows that together they use almost all and are hardly ever refused.

mod by_owner;
mod departures;
mod figures;
mod quota;
mod rate;
#[cfg(test)]
mod simulation;
mod tally;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::backoff::Backoff;
use crate::beginning::Beginning;
use crate::line::Admission;
use departures::{Departures, Pace};
use quota::Quota;
use rate::Rate;
use tally::{Mark, Tally};

pub use by_owner::LearntByOwner;
pub use figures::{LearntFigures, OwnersFigures, QuotaLeft};
pub use quota::HeardQuota;

/// Seconds since the beginning. In fractions, as they are multiplied with paces and divided by them everywhere.
type Moment = f64;

/// Quotas of one owner.
const MOST_QUOTAS: usize = 8;
/// Calls that may go at once after a quiet time where nothing is known but a rate.
const CREDIT: f64 = 10.0;
/// Seconds that all wait for the first call after a pause, unless it ends sooner. Refusals come quickly.
const PATIENCE: f64 = 1.0;
/// How long to wait, in seconds, where it is not known for how long.
const LOOK_AGAIN: f64 = 0.02;
/// A refusal for longer than this teaches as much as one for this long: a provider may say anything.
const LONGEST_WINDOW: Duration = Duration::from_hours(1);
/// Whoever waits is to make headway.
const MOMENT: Duration = Duration::from_nanos(1);
/// The first pause after a refusal that tells no time.
const UNTOLD: Duration = Duration::from_secs(1);

/// What an answer says of its provider's limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard<'a> {
    /// The call was refused for a limit: 429.
    pub is_refused: bool,
    /// So long nobody is to call.
    pub pause: Option<Duration>,
    /// What is left of quotas. At most 8 are kept.
    pub quotas: &'a [HeardQuota],
}

/// What is known of a provider's limits for one owner. See the module.
#[derive(Debug)]
pub struct Learnt {
    /// See [`Learnt::new`].
    longest: Duration,
    beginning: Beginning,
    tally: Tally,
    /// Nothing is known, so nobody needs the lock.
    is_ignorant: AtomicBool,
    known: Mutex<Known>,
}

/// A call that may be made. Dropped in silence, it says that nothing is known of it.
#[derive(Debug)]
pub struct LearntCall {
    learnt: Arc<Learnt>,
    number: u64,
    made: Moment,
    /// Whether it has been said what came of it.
    is_over: bool,
}

#[derive(Debug)]
struct Known {
    /// Nobody may call until then; then one first.
    pause: Option<Moment>,
    /// The one, and when it was made.
    probe: Option<Mark>,
    /// The first after the last pause.
    resumed: Option<Mark>,
    /// Refusals in a row that told no time.
    untold: u32,
    rate: Option<Rate>,
    quotas: Vec<Quota>,
    departures: Departures,
    /// When the last call was made, of those whose answers were heard and those made since.
    latest: Moment,
}

impl Learnt {
    /// Nothing yet. Whatever the provider says, a call may be made `longest` after the last one: it is how to find out whether the
    /// provider means it.
    pub fn new(longest: Duration) -> Arc<Self> {
        Arc::new(Learnt {
            longest,
            beginning: Beginning::default(),
            tally: Tally::default(),
            is_ignorant: AtomicBool::new(true),
            known: Mutex::new(Known {
                pause: None,
                probe: None,
                resumed: None,
                untold: 0,
                rate: None,
                quotas: Vec::new(),
                departures: Departures::NONE,
                latest: 0.0,
            }),
        })
    }

    /// Whether a call may be made now. One that may is counted: it has to be made, or dropped. One that may not asks again after
    /// some time, which is never zero.
    pub fn take(self: &Arc<Self>, now: Instant) -> Admission<LearntCall> {
        let now = self.moment(now);
        if self.is_ignorant.load(Relaxed) {
            return Admission::Taken(self.make(now));
        }
        let mut known = self.known();
        known.forget(now);
        let admission = match known.admit(&self.tally, self.longest.as_secs_f64(), now) {
            Ok(pace) => {
                let call = self.make(now);
                known.go(Mark { number: call.number, at: now }, pace);
                Admission::Taken(call)
            }
            Err(due) => {
                Admission::In(Duration::try_from_secs_f64(due - now).unwrap_or(self.longest).max(MOMENT))
            }
        };
        self.is_ignorant.store(known.is_nothing(), Relaxed);
        admission
    }

    /// What is known now.
    pub fn figures(&self, now: Instant) -> LearntFigures {
        let now = self.moment(now);
        let mut known = self.known();
        known.forget(now);
        LearntFigures::of(&known, &self.tally, self.longest, now)
    }

    fn make(self: &Arc<Self>, now: Moment) -> LearntCall {
        LearntCall { learnt: Arc::clone(self), number: self.tally.take(now), made: now, is_over: false }
    }

    fn hear(&self, call: Mark, heard: &Heard<'_>, now: Moment) {
        let is_silent = !heard.is_refused && heard.pause.is_none() && heard.quotas.is_empty();
        if is_silent && self.is_ignorant.load(Relaxed) {
            return;
        }
        let mut known = self.known();
        known.hear(call, heard, &self.tally, self.longest, now);
        self.is_ignorant.store(known.is_nothing(), Relaxed);
    }

    fn moment(&self, now: Instant) -> Moment {
        self.beginning.nanoseconds(now) as f64 / 1e9
    }

    /// No code that can panic runs under the lock, so a poisoned one is as good as another.
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LearntCall {
    /// What its answer says.
    pub fn heard(mut self, heard: &Heard<'_>, now: Instant) {
        self.end();
        let call = Mark { number: self.number, at: self.made };
        self.learnt.hear(call, heard, self.learnt.moment(now));
    }

    fn end(&mut self) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.learnt.tally.end();
        }
    }
}

impl Drop for LearntCall {
    fn drop(&mut self) {
        if !self.is_over {
            self.end();
            if !self.learnt.is_ignorant.load(Relaxed) {
                self.learnt.known().abandoned(self.number);
            }
        }
    }
}

impl Known {
    /// The pace at which a call may be made now; or when to ask again, at most `longest` seconds after the last was made. What a
    /// provider says may be nonsense, and a try is how to find out.
    fn admit(&self, tally: &Tally, longest: f64, now: Moment) -> Result<Pace, Moment> {
        if let Some(until) = self.pause.filter(|until| now < *until) {
            return Err(until);
        }
        if self.probe.is_some() {
            return Err(now + LOOK_AGAIN);
        }
        let (pace, until) = self.pace(tally, now);
        let crowd = (self.latest + pace.interval()).min(now + LOOK_AGAIN);
        let due = self.departures.next(pace, now).max(if pace.is_crowded { crowd } else { now });
        let due = due.min(until).min(self.latest + longest);
        if due > now { Err(due) } else { Ok(pace) }
    }

    /// The slowest of all that is known, and until when it is.
    fn pace(&self, tally: &Tally, now: Moment) -> (Pace, Moment) {
        let learnt = self.rate.map_or(Pace::FREE, |rate| Pace {
            per_second: rate.per_second(now),
            credit: CREDIT,
            ..Pace::FREE
        });
        self.quotas.iter().fold((learnt, Moment::INFINITY), |(slowest, until), quota| {
            let (pace, holds) = quota.pace(tally, now);
            let slower = Pace {
                per_second: slowest.per_second.min(pace.per_second),
                credit: slowest.credit.min(pace.credit),
                is_crowded: slowest.is_crowded || pace.is_crowded,
            };
            (slower, until.min(holds))
        })
    }

    /// This call is made.
    fn go(&mut self, call: Mark, pace: Pace) {
        self.latest = call.at;
        if self.pause.take().is_some() {
            self.probe = Some(call);
            self.resumed = Some(call);
            self.departures.restart(call.at);
        } else {
            self.departures.go(pace, call.at);
        }
    }

    /// Nothing is known of this call. If it went first, another does.
    fn abandoned(&mut self, number: u64) {
        if let Some(probe) = self.probe.take_if(|probe| probe.number == number) {
            self.pause = self.pause.or(Some(probe.at));
        }
    }

    fn hear(&mut self, call: Mark, heard: &Heard<'_>, tally: &Tally, longest: Duration, now: Moment) {
        self.probe.take_if(|probe| probe.number == call.number);
        self.latest = self.latest.max(call.at);
        for said in heard.quotas {
            self.hear_quota(call, said, heard.is_refused, tally, longest, now);
        }
        if !heard.is_refused && heard.pause.is_none() {
            self.rate.take_if(|rate| rate.is_disproved_by(call));
        }
        self.untold = if heard.is_refused { self.untold.saturating_add(1) } else { 0 };
        let untold = || heard.is_refused.then(|| Backoff::new(UNTOLD, longest).after(self.untold));
        let Some(told) = heard.pause.filter(|pause| !pause.is_zero()).or_else(untold) else { return };
        if heard.is_refused && !self.is_explained(heard) {
            let until = now + told.min(LONGEST_WINDOW).as_secs_f64();
            self.rate = Some(Rate::learn(self.rate, call, self.resumed, until, tally, now));
        }
        self.pause(now + told.min(longest).as_secs_f64());
    }

    /// Nobody calls before this moment.
    fn pause(&mut self, until: Moment) {
        self.pause = Some(self.pause.map_or(until, |pause| pause.max(until)));
    }

    fn hear_quota(
        &mut self,
        call: Mark,
        said: &HeardQuota,
        is_refused: bool,
        tally: &Tally,
        longest: Duration,
        now: Moment,
    ) {
        let place = self.quotas.iter().position(|quota| quota.name == said.name);
        let known = place.map(|place| self.quotas.swap_remove(place));
        let Some(mut quota) = Quota::hear(known, said, call, tally, now) else {
            // Where refusals have taught a rate, that is the better one: to stop for whole seconds in each window of one or two
            // would leave a fifth of it.
            if said.remaining == 0 && !said.reset.is_zero() && self.rate.is_none() {
                self.pause(now + said.reset.min(longest).as_secs_f64());
            }
            return;
        };
        if is_refused && said.remaining == 0 {
            quota.refuse(call.at, now);
        }
        if self.quotas.len() < MOST_QUOTAS {
            self.quotas.push(quota);
        }
    }

    /// Whether a quota that is kept is why a call was refused, and becomes more careful for it.
    fn is_explained(&self, heard: &Heard<'_>) -> bool {
        let is_used_up =
            |quota: &Quota| heard.quotas.iter().any(|said| said.name == quota.name && said.remaining == 0);
        self.quotas.iter().any(|quota| is_used_up(quota) && !quota.is_most_careful())
    }

    fn forget(&mut self, now: Moment) {
        self.quotas.retain(|quota| !quota.is_forgotten(now));
        self.rate.take_if(|rate| rate.is_forgotten(now));
        self.probe.take_if(|probe| now >= probe.at + PATIENCE);
    }

    fn is_nothing(&self) -> bool {
        self.pause.is_none() && self.probe.is_none() && self.rate.is_none() && self.quotas.is_empty()
    }
}

#[cfg(test)]
mod tests;
