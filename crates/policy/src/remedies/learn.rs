//! Learn: the layer that keeps to what a source says of its limits: it pauses everybody when the source says so, and keeps a pace that
//! its quota allows. What may not go yet is refused with 429, or waits for its turn where there is a queue.

use std::sync::Arc;
use std::time::{Duration, Instant};

use expression::Context;
use guard::{
    Admission, Heard, HeardQuota, LearntByOwner, LearntCall, LearntFigures, OwnersFigures, QuotaLeft,
};
use message::{Ask, Call, Clock, Error, Kind, RequestView, Result, Trip};
use rules::provider_limit::{Said, SaidQuota};

use crate::remedies::by_source::BySource;
use crate::remedies::kept::Remedy;
use crate::remedies::outcomes::{Outcome, Outcomes};
use crate::remedies::queue::Queue;
use crate::stack::around::{Arrival, Held, Moment};
use crate::stack::explain::{Question, Then, Told, spoken};

/// What all cores share of what one policy has learnt.
#[derive(Debug)]
pub struct Lessons {
    rule: plan::Learn,
    each: BySource<Box<str>, LearntByOwner>,
    queue: Option<Queue>,
}

/// See the module. One for each place and core.
#[derive(Clone, Debug)]
pub struct LearnLayer {
    lessons: Arc<Lessons>,
    outcomes: Arc<Outcomes>,
    /// Those of the source that is asked here.
    owners: Arc<LearntByOwner>,
    source: Box<str>,
    names: Arc<[Option<Box<str>>]>,
}

impl Remedy for Lessons {
    type Rule = plan::Learn;

    fn new(rule: plan::Learn) -> Self {
        Lessons { each: BySource::default(), queue: rule.queue.clone().map(Queue::new), rule }
    }

    fn rule(&self) -> &plan::Learn {
        &self.rule
    }

    fn name(rule: &plan::Learn) -> &str {
        &rule.name
    }
}

impl Lessons {
    /// How many calls wait for their turn; `None`: they do not wait.
    pub fn waiting(&self) -> Option<u64> {
        self.queue.as_ref().map(|queue| queue.waiting() as u64)
    }

    /// By source.
    pub fn figures(&self) -> Vec<(String, OwnersFigures)> {
        let now = Instant::now();
        self.each.each(|source, owners| (source.to_string(), owners.figures(now)))
    }

    fn of(&self, source: &str) -> Arc<LearntByOwner> {
        let most = if self.rule.by.is_some() { self.rule.owners } else { 1 };
        self.each.of(source.into(), || Arc::new(LearntByOwner::new(most, self.rule.longest)))
    }
}

impl LearnLayer {
    /// What it tells of.
    pub const OUTCOMES: &[Outcome] = &[Outcome::Refused, Outcome::Queued, Outcome::Late];

    /// Around calls to this source, on a route with these names for the segments of its path.
    pub fn new(
        lessons: Arc<Lessons>,
        outcomes: Arc<Outcomes>,
        source: &str,
        names: Arc<[Option<Box<str>>]>,
    ) -> Self {
        let owners = lessons.of(source);
        LearnLayer { lessons, outcomes, owners, source: source.into(), names }
    }

    /// What is known now of whoever's quota this request would use, and what that makes of it; for people.
    pub(crate) fn explain(&self, question: Question<'_>) -> Told {
        let Question { request, names, within } = question;
        let owner = self.owner_of(request, names);
        let learnt = self.owners.known(&owner);
        let figures = learnt.map(|learnt| learnt.figures(Instant::now())).unwrap_or_default();
        let known = known(&figures);
        let Told { effect, then } = match (&self.lessons.queue, figures.wait) {
            (Some(queue), wait) if wait.is_some() || !queue.is_empty(&owner) => {
                queue.explain(&owner, wait.unwrap_or_default(), within, 429)
            }
            (None, Some(wait)) => {
                Told::new(format!("refused with 429 for another {}", spoken(wait)), Then::Refused)
            }
            (_, _) => Told::new("lets it pass", Then::Passes),
        };
        Told::new(format!("{known}: {effect}"), then)
    }

    pub(crate) fn arrive<Q: Ask>(&self, ask: &Q, moment: &Moment) -> Arrival<Q::Answer> {
        let owner = self.owner(ask);
        let queue = &self.lessons.queue;
        // Whoever waits comes first.
        if queue.as_ref().is_some_and(|queue| !queue.is_empty(&owner)) {
            return Arrival::Wait;
        }
        match (self.owners.of(&owner).take(moment.now().into_std()), queue) {
            (Admission::Taken(call), _) => Arrival::Hold(Held::Learnt(call)),
            (_, Some(_)) => Arrival::Wait,
            (Admission::In(wait), None) => Arrival::End(Err(self.refuse(wait, Outcome::Refused))),
            (Admission::WhenTold, None) => Arrival::End(Err(self.refuse(Duration::ZERO, Outcome::Refused))),
        }
    }

    /// Waits for its turn, and goes on.
    pub(crate) async fn call<Q: Ask>(
        &self,
        ask: Q,
        below: impl Call<Q>,
        trip: &mut Trip,
    ) -> Result<Q::Answer> {
        let Some(queue) = &self.lessons.queue else { return below.call(ask, trip).await };
        let owner = self.owner(&ask);
        let learnt = self.owners.of(&owner);
        let (request, names) = ask.read_by_policies(&self.names);
        let call = match queue.turn(&owner, &request, names, trip, |now| learnt.take(now)).await {
            Ok(call) => call,
            Err(in_vain) => {
                // Whoever was never the first in line has asked nobody.
                let wait = learnt.figures(Instant::now()).wait.unwrap_or_default();
                return Err(self.refuse(wait, in_vain.into()));
            }
        };
        self.outcomes.count(Outcome::Queued);
        let outcome = below.call(ask, trip).await;
        hear::<Q>(call, &outcome, trip);
        outcome
    }

    fn owner<Q: Ask>(&self, ask: &Q) -> Vec<u8> {
        let (request, names) = ask.read_by_policies(&self.names);
        self.owner_of(&request, names)
    }

    /// What tells the owner of a quota from others, also from those at other sources, who wait in the same lines.
    fn owner_of(&self, request: &RequestView<'_>, names: &[Option<Box<str>>]) -> Vec<u8> {
        let mut owner = self.source.as_bytes().to_vec();
        if let Some(by) = &self.lessons.rule.by {
            owner.push(0);
            by.write(&Context::of_request(request, names), &mut owner);
        }
        owner
    }

    fn refuse(&self, wait: Duration, outcome: Outcome) -> Error {
        self.outcomes.count(outcome);
        let name = &self.lessons.rule.name;
        Error::new(Kind::RateLimited, format!("policy {name}: the source has said to wait")).after(wait)
    }
}

/// What a source has said of its limits, for people.
fn known(figures: &LearntFigures) -> String {
    let LearntFigures { pause, per_second, quota, .. } = figures;
    let pause = pause.map(|pause| format!("paused for another {}, as the source has asked", spoken(pause)));
    let pace = per_second.filter(|pace| *pace > 0.0).map(|pace| format!("at most {pace:.2} calls a second"));
    let quota = quota.map(|QuotaLeft { remaining, limit, reset }| {
        format!("{remaining} of {limit} left, whole again in {}", spoken(reset))
    });
    let told: Vec<_> = pause.into_iter().chain(quota).chain(pace).collect();
    if told.is_empty() { "the source has said nothing of limits".to_owned() } else { told.join("; ") }
}

/// Takes in what the source says in its answer. An error says nothing, and neither does an answer of ours.
pub(crate) fn hear<Q: Ask>(call: LearntCall, outcome: &Result<Q::Answer>, trip: &Trip) {
    let Some(answer) = outcome.as_ref().ok().filter(|_| !trip.is_answered_here) else { return };
    let Some((status, fields)) = Q::head_of(answer) else { return };
    let Said { is_refused, pause, quotas } = Said::of(status, fields, Clock::date());
    let quotas: Vec<HeardQuota> = quotas.into_iter().map(quota).collect();
    call.heard(&Heard { is_refused, pause, quotas: &quotas }, Instant::now());
}

fn quota(said: SaidQuota) -> HeardQuota {
    let SaidQuota { name, limit, remaining, reset, window } = said;
    HeardQuota { name, limit, remaining, reset, window }
}
