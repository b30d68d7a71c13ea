//! Breaker: the layer that makes no call to a target that keeps failing, until a probe has succeeded. A source with several
//! targets has a breaker for each: a call goes to those that are well, and is refused only where none is.
//!
//! Which target a call goes to is the source's choice: the layer says in the trip which ones may not be asked, and reads there
//! which one was.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use guard::{Opened, Passage, SharedBreaker};
use message::{Ask, Error, Kind, Result, Trip};

use crate::remedies::by_source::BySource;
use crate::remedies::kept::Remedy;
use crate::remedies::outcomes::{Outcome, Outcomes};
use crate::stack::around::{Arrival, Held, Moment};
use crate::stack::explain::{Then, Told, spoken};
use crate::stack::verdict;

/// Beyond so many targets, the others share the breaker of the last: a trip tells no more apart.
const MOST_TARGETS: usize = 64;

/// What all cores share of one policy's breakers.
#[derive(Debug)]
pub struct Breakers {
    rule: plan::Breaker,
    each: BySource<BreakerName, SharedBreaker>,
}

/// Source and target.
type BreakerName = (Box<str>, Box<str>);

/// See the module. One for each place and core.
#[derive(Clone, Debug)]
pub struct BreakerLayer(Rc<BreakerPlace>);

#[derive(Debug)]
struct BreakerPlace {
    breakers: Arc<Breakers>,
    outcomes: Arc<Outcomes>,
    /// In the order of the source's targets, at least one.
    each: Box<[Arc<SharedBreaker>]>,
}

/// A call that has passed.
pub(crate) struct Watched {
    place: Rc<BreakerPlace>,
    passages: Passages,
}

/// The ways through to where the call may go.
enum Passages {
    /// To the only target.
    Only(Passage),
    /// To each of several that may be asked.
    Each(Vec<Option<Passage>>),
}

impl Remedy for Breakers {
    type Rule = plan::Breaker;

    fn new(rule: plan::Breaker) -> Self {
        Breakers { rule, each: BySource::default() }
    }

    fn rule(&self) -> &plan::Breaker {
        &self.rule
    }

    fn name(rule: &plan::Breaker) -> &str {
        &rule.name
    }
}

impl Breakers {
    fn of(&self, source: &str, target: &str) -> Arc<SharedBreaker> {
        self.each.of((source.into(), target.into()), || SharedBreaker::new(self.rule.rule))
    }

    /// Source and target of each, and whether it is open.
    pub fn states(&self) -> Vec<([String; 2], bool)> {
        self.each.each(|(source, target), breaker| {
            ([source.to_string(), target.to_string()], !breaker.is_closed())
        })
    }
}

impl BreakerLayer {
    /// What it tells of.
    pub const OUTCOMES: &[Outcome] = &[Outcome::Refused, Outcome::StoodIn, Outcome::Opened, Outcome::Closed];

    /// Around calls to a source with these targets; none, where it is no origin.
    pub fn new(breakers: Arc<Breakers>, outcomes: Arc<Outcomes>, source: &str, targets: &[String]) -> Self {
        let each = match targets {
            [] => Box::from([breakers.of(source, "")]),
            targets => targets.iter().take(MOST_TARGETS).map(|target| breakers.of(source, target)).collect(),
        };
        BreakerLayer(Rc::new(BreakerPlace { breakers, outcomes, each }))
    }

    /// Whether it has something to give while it is open.
    pub(crate) fn stands_in(&self) -> bool {
        self.0.breakers.rule.instead.is_some()
    }

    pub(crate) fn arrive<Q: Ask>(&self, ask: &Q, trip: &mut Trip, moment: &Moment) -> Arrival<Q::Answer> {
        let now = || moment.now().into_std();
        let passages = match &*self.0.each {
            [only] => only.pass(now).map(Passages::Only),
            each => passages(each, trip, now),
        };
        match passages {
            Some(passages) => Arrival::Hold(Held::Breaker(Watched { place: Rc::clone(&self.0), passages })),
            None => Arrival::End(self.refusal(ask)),
        }
    }

    /// Whoever writes gets the error: nothing may look as if it had been done.
    fn refusal<Q: Ask>(&self, ask: &Q) -> Result<Q::Answer> {
        let BreakerPlace { breakers, outcomes, .. } = &*self.0;
        if let Some(instead) = breakers.rule.instead.as_ref().filter(|_| ask.is_safe()) {
            outcomes.count(Outcome::StoodIn);
            return Ok(Q::standing_in(instead.clone(), Kind::BreakerOpen));
        }
        outcomes.count(Outcome::Refused);
        let detail = format!("policy {}: the breaker is open", breakers.rule.name);
        Err(Error::new(Kind::BreakerOpen, detail).after(self.rest(Instant::now()).unwrap_or_default()))
    }

    /// What it would do with a call, for people.
    pub(crate) fn explain(&self, now: Instant) -> Told {
        let each = &self.0.each;
        let closed = each.iter().filter(|breaker| breaker.is_closed()).count();
        if closed == each.len() {
            return Told::new("closed: lets it pass", Then::Passes);
        }
        if each.iter().any(|breaker| !breaker.is_closed() && breaker.would_pass(|| now)) {
            return Told::new("open, and has rested: lets it pass as a probe", Then::Passes);
        }
        if closed > 0 {
            let told = format!("closed for {closed} of {} targets: lets it pass", each.len());
            return Told::new(told, Then::Passes);
        }
        let until = match each.iter().map(|breaker| breaker.rest(now)).filter(|rest| !rest.is_zero()).min() {
            Some(rest) => format!("for another {}", spoken(rest)),
            None => "until the probe under way has ended".to_owned(),
        };
        let told = if self.stands_in() { "`instead` for who reads, else refused" } else { "refused" };
        Told::new(format!("open: {told} with 503 {until}"), Then::Refused)
    }

    /// How long until a call may pass, where none may now: for `Retry-After`.
    fn rest(&self, now: Instant) -> Option<Duration> {
        let each = || self.0.each.iter();
        if each().any(|breaker| breaker.would_pass(|| now)) {
            return None;
        }
        each().map(|breaker| breaker.rest(now)).min()
    }
}

/// Where a call may go of several targets: to all that are well, or, where one is due for it, to that one alone as a probe.
fn passages(each: &[Arc<SharedBreaker>], trip: &mut Trip, now: impl Fn() -> Instant) -> Option<Passages> {
    let mut passages: Vec<_> = each.iter().map(|breaker| breaker.pass(&now)).collect();
    let probe = passages.iter().position(|passage| passage.as_ref().is_some_and(Passage::is_probe));
    if let Some(probe) = probe {
        // The others keep theirs for whoever comes next.
        for (target, passage) in passages.iter_mut().enumerate() {
            if target != probe {
                passage.take();
            }
        }
    }
    let barred = passages.iter().enumerate().filter(|(_, passage)| passage.is_none());
    trip.targets.bar(barred.map(|(target, _)| target));
    passages.iter().any(Option::is_some).then_some(Passages::Each(passages))
}

impl Watched {
    /// Tells the breaker of the target that was asked what came of it.
    pub(crate) fn end<Q: Ask>(self, outcome: &Result<Q::Answer>, trip: &mut Trip) {
        let Watched { place, passages } = self;
        let passage = match passages {
            Passages::Only(passage) => Some(passage),
            Passages::Each(mut passages) => {
                trip.targets.bar([]);
                let asked = trip.targets.asked.map(usize::from);
                asked.and_then(|asked| passages.get_mut(asked)).and_then(Option::take)
            }
        };
        let is_well = verdict::is_well::<Q>(outcome, trip, &place.breakers.rule.failures);
        match (passage, is_well) {
            (Some(passage), Some(true)) => {
                if passage.succeeded(Instant::now) {
                    place.outcomes.count(Outcome::Closed);
                }
            }
            (Some(passage), Some(false)) => {
                if passage.failed(Instant::now()) == Opened::Newly {
                    place.outcomes.count(Outcome::Opened);
                }
            }
            (None, _) | (_, None) => {}
        }
    }
}
