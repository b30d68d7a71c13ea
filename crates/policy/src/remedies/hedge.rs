//! Hedge: the layer that makes a call a second time, beside the first, where that takes longer than most: the first that answers
//! well counts, and the other is cancelled. Dean and Barroso, "The Tail at Scale" (2013).
//!
//! How long calls take is measured here, on each core and at each place: what is long on one route is not on another. Second
//! calls have a budget that all cores share, so that a source which is slow as a whole is not asked twice.

use std::cell::RefCell;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use guard::{Budget, Percentile};
use http::{HeaderMap, StatusCode};
use message::{Ask, Call, Result, Trip};
use plan::HedgeAfter;
use tokio::time::Instant;

use crate::remedies::kept::Remedy;
use crate::remedies::outcomes::{Outcome, Outcomes};
use crate::stack::around::Arrival;
use crate::stack::under_way::Timers;

/// How far back calls are looked at.
const WINDOW: Duration = Duration::from_secs(30);

/// What all cores share of one policy's hedging.
#[derive(Debug)]
pub struct Hedges {
    rule: plan::Hedge,
    budget: Budget,
}

/// Which of the two calls counts.
enum Counts<T> {
    First(Result<T>),
    Second(Result<T>),
}

use Counts::{First, Second};

/// See the module. One for each place and core.
#[derive(Debug)]
pub struct HedgeLayer {
    hedges: Arc<Hedges>,
    outcomes: Arc<Outcomes>,
    /// How long calls have taken here; `None`: nobody asks.
    took: Option<RefCell<Percentile>>,
}

impl Remedy for Hedges {
    type Rule = plan::Hedge;

    fn new(rule: plan::Hedge) -> Self {
        let budget = Budget::new(rule.share, 0.0);
        Hedges { rule, budget }
    }

    fn rule(&self) -> &plan::Hedge {
        &self.rule
    }

    fn name(rule: &plan::Hedge) -> &str {
        &rule.name
    }
}

impl HedgeLayer {
    /// What it tells of.
    pub const OUTCOMES: &[Outcome] = &[Outcome::Again, Outcome::Won, Outcome::Denied];

    /// At one place, where nothing has been measured yet.
    pub fn new(hedges: Arc<Hedges>, outcomes: Arc<Outcomes>) -> Self {
        let took = match hedges.rule.after {
            HedgeAfter::Percentile(share) => Some(RefCell::new(Percentile::new(share, WINDOW))),
            HedgeAfter::Time(_) => None,
        };
        HedgeLayer { hedges, outcomes, took }
    }

    /// How long a call may take now, before it is made a second time; `None`: too few have ended to say.
    pub(crate) fn after(&self, now: Instant) -> Option<Duration> {
        match (&self.took, self.hedges.rule.after) {
            (_, HedgeAfter::Time(time)) => Some(time),
            (Some(took), HedgeAfter::Percentile(_)) => took.borrow_mut().value(now.into_std()),
            (None, HedgeAfter::Percentile(_)) => None,
        }
    }

    /// What may do harm twice, or cannot be sent twice, has no business with it.
    pub(crate) fn arrive<Q: Ask>(ask: &Q) -> Arrival<Q::Answer> {
        if ask.is_idempotent() && !ask.is_sending() { Arrival::Wait } else { Arrival::Pass }
    }

    pub(crate) async fn call<Q: Ask>(
        &self,
        ask: Q,
        below: impl Call<Q>,
        trip: &mut Trip,
        timers: &Timers,
    ) -> Result<Q::Answer> {
        let began = Instant::now();
        self.hedges.budget.deposit(began.into_std());
        let (Some(after), Some(again)) = (self.after(began), ask.once_more()) else {
            let outcome = below.call(ask, trip).await;
            self.record(began);
            return outcome;
        };
        let (mut beside, deadline) = (trip.beside(), trip.deadline);
        let race = async {
            let mut first = pin!(below.call(ask, trip));
            tokio::select! {
                biased;
                outcome = &mut first => {
                    self.record(began);
                    return First(outcome);
                }
                () = timers.until(began + after) => {}
            }
            if !self.may_hedge() {
                let outcome = first.await;
                self.record(began);
                return First(outcome);
            }
            let mut second = pin!(below.call(again, &mut beside));
            let sooner = tokio::select! {
                biased;
                outcome = &mut first => First(outcome),
                outcome = &mut second => Second(outcome),
            };
            // Where the second is sooner, the first takes at least this long.
            self.record(began);
            // Then the other is too late as well, and both are one call that was given up.
            if deadline.is_some_and(|deadline| Instant::now() >= deadline.at) {
                return sooner;
            }
            match sooner {
                First(outcome) if !answers_well::<Q>(&outcome) => {
                    let other = second.await;
                    if answers_well::<Q>(&other) { Second(other) } else { First(outcome) }
                }
                Second(outcome) if !answers_well::<Q>(&outcome) => First(first.await),
                sooner => sooner,
            }
        };
        match race.await {
            First(outcome) => outcome,
            Second(outcome) => {
                self.outcomes.count(Outcome::Won);
                trip.take_over(beside);
                outcome
            }
        }
    }

    fn may_hedge(&self) -> bool {
        let is_granted = self.hedges.budget.withdraw(Instant::now().into_std());
        self.outcomes.count(if is_granted { Outcome::Again } else { Outcome::Denied });
        is_granted
    }

    fn record(&self, began: Instant) {
        if let Some(took) = &self.took {
            let now = Instant::now();
            took.borrow_mut().record(now - began, now.into_std());
        }
    }
}

/// Whether there is no need to wait for another answer.
fn answers_well<Q: Ask>(outcome: &Result<Q::Answer>) -> bool {
    let is_error = |(status, _): (StatusCode, &HeaderMap)| status.is_server_error();
    outcome.as_ref().is_ok_and(|answer| !Q::head_of(answer).is_some_and(is_error))
}
