//! Limit: the layer that lets so many calls pass in so long, counted over all cores of this process, or with other instances
//! (`joint`, asked by `together`). What is too much is refused with 429 and told when to come back, or waits for its turn where there
//! is a queue; everybody is told what is left. Asked also on the way of a fresh hit, where it first looks and takes only once there is
//! something to give; others cannot be asked there, so nothing behind a limit that is shared is at hand.

mod counted;
mod joint;
mod together;

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use expression::Context;
use guard::{Admission, LimitDecision};
use message::{Ask, Call, Error, Kind, Quota, QuotaPolicy, RequestView, Result, Trip};
use plan::{Algorithm, LimitBy};
use redis_link::Link;

use crate::remedies::kept::Remedy;
use crate::remedies::outcomes::{Outcome, Outcomes};
use crate::remedies::queue::Queue;
use crate::stack::around::{Arrival, Moment};
use crate::stack::explain::{Question, Then, Told};
use counted::Counted;

pub use joint::{JointLimit, heartbeat};

const NANOS: u128 = 1_000_000_000;

/// What is refused gets this status.
const TOO_MANY: u16 = 429;

/// What all cores share of one policy's limit.
#[derive(Debug)]
pub struct Limited {
    rule: plan::Limit,
    /// What clients are told of it.
    told: Arc<QuotaPolicy>,
    counting: Counting,
    queue: Option<Queue>,
}

/// Who counts.
#[derive(Debug)]
enum Counting {
    /// This instance.
    Here(Counted),
    /// All instances.
    Together(Arc<JointLimit>),
}

/// See the module. One for each place and core.
#[derive(Clone)]
pub struct LimitLayer {
    /// What is counted.
    pub limited: Arc<Limited>,
    /// This core's way to where instances count together; `None`: this one counts for itself.
    pub link: Option<Link>,
    /// What became of calls.
    pub outcomes: Arc<Outcomes>,
    /// Whether clients are told what is left: it is theirs.
    pub is_told: bool,
    /// The name of what is asked here.
    pub source: Box<str>,
    /// What the route calls the segments of its path.
    pub names: Arc<[Option<Box<str>>]>,
    /// Where keys are written, one after the other.
    pub scratch: RefCell<Vec<u8>>,
}

impl Remedy for Limited {
    type Rule = plan::Limit;

    fn new(rule: plan::Limit) -> Self {
        let (amount, window) = window(&rule);
        let told = Arc::new(QuotaPolicy::new(&rule.name, amount, whole_seconds(window)));
        let counting = match &rule.shared {
            None => Counting::Here(Counted::new(&rule)),
            Some(shared) => Counting::Together(Arc::new(JointLimit::new(&rule, shared))),
        };
        let queue = rule.queue.clone().map(Queue::new);
        Limited { rule, told, counting, queue }
    }

    fn rule(&self) -> &plan::Limit {
        &self.rule
    }

    fn name(rule: &plan::Limit) -> &str {
        &rule.name
    }
}

impl Limited {
    /// How many are told apart now by this instance.
    pub fn keys(&self) -> u64 {
        self.known().0
    }

    /// How many were forgotten with calls counted against them, for there were too many, since the start.
    pub fn evicted(&self) -> u64 {
        self.known().1
    }

    fn known(&self) -> (u64, u64) {
        match &self.counting {
            Counting::Here(counted) => counted.keys(),
            Counting::Together(joint) => joint.keys(),
        }
    }

    /// How all instances count it; `None`: this one counts for itself.
    pub fn joint(&self) -> Option<&Arc<JointLimit>> {
        match &self.counting {
            Counting::Here(_) => None,
            Counting::Together(joint) => Some(joint),
        }
    }

    /// How many calls wait for their turn; `None`: they do not wait.
    pub fn waiting(&self) -> Option<u64> {
        self.queue.as_ref().map(|queue| queue.waiting() as u64)
    }

    /// As clients are told.
    fn quota(&self, decision: &LimitDecision) -> Quota {
        Quota {
            policy: Arc::clone(&self.told),
            remaining: decision.remaining,
            reset: whole_seconds(decision.reset),
        }
    }

    fn refusal(&self, decision: &LimitDecision) -> Error {
        let (name, amount, per) = (&self.rule.name, self.rule.amount, self.rule.per.as_secs_f64());
        Error::new(Kind::RateLimited, format!("policy {name}: more than {amount} calls in {per} s"))
            .after(decision.retry_after)
    }
}

impl LimitLayer {
    /// What one under this rule tells of.
    pub fn outcomes(rule: &plan::Limit) -> &'static [Outcome] {
        const HERE: &[Outcome] = &[Outcome::Refused, Outcome::Queued, Outcome::Late];
        const TOGETHER: &[Outcome] = &[
            Outcome::Refused,
            Outcome::Queued,
            Outcome::Late,
            Outcome::Local,
            Outcome::Uncounted,
            Outcome::Unavailable,
        ];
        if rule.shared.is_some() { TOGETHER } else { HERE }
    }

    /// Whether it can say at once whether a request passes.
    pub(crate) fn is_at_hand(&self) -> bool {
        matches!(self.limited.counting, Counting::Here(_))
    }

    /// Counts a call, and notes what is left.
    pub(crate) fn arrive<Q: Ask>(&self, ask: &Q, trip: &mut Trip, moment: &Moment) -> Arrival<Q::Answer> {
        // What we ask of our own accord is nobody's to count, until it leaves the cache.
        if trip.is_errand {
            return Arrival::Pass;
        }
        let Limited { counting: Counting::Here(counted), queue, .. } = &*self.limited else {
            return Arrival::Wait;
        };
        let (request, names) = ask.read_by_policies(&self.names);
        let decision = self.with_key(&request, names, |key| {
            // Whoever waits comes first.
            let is_free = queue.as_ref().is_none_or(|queue| queue.is_empty(key));
            is_free.then(|| counted.take(key, moment.now().into_std()))
        });
        match decision {
            Some(decision) if decision.is_allowed => {
                self.tell(&decision, trip);
                Arrival::Pass
            }
            Some(decision) if queue.is_none() => {
                Arrival::End(Err(self.refuse(&decision, Outcome::Refused, trip)))
            }
            _ => Arrival::Wait,
        }
    }

    /// Waits for its turn, and goes on.
    pub(crate) async fn call<Q: Ask>(
        &self,
        ask: Q,
        below: impl Call<Q>,
        trip: &mut Trip,
    ) -> Result<Q::Answer> {
        let (request, names) = ask.read_by_policies(&self.names);
        let key = self.with_key(&request, names, <[u8]>::to_vec);
        match &self.limited.counting {
            Counting::Here(counted) => self.wait(counted, &key, &ask, trip).await?,
            Counting::Together(joint) => self.count_together(joint, &key, &ask, trip).await?,
        }
        below.call(ask, trip).await
    }

    /// Waits for its turn, where there is a queue.
    async fn wait<Q: Ask>(&self, counted: &Counted, key: &[u8], ask: &Q, trip: &mut Trip) -> Result<()> {
        let Some(queue) = &self.limited.queue else { return Ok(()) };
        let (request, names) = ask.read_by_policies(&self.names);
        let take = |now| {
            let decision = counted.take(key, now);
            if decision.is_allowed { Admission::Taken(decision) } else { Admission::In(decision.retry_after) }
        };
        match queue.turn(key, &request, names, trip, take).await {
            Ok(decision) => {
                self.tell(&decision, trip);
                self.outcomes.count(Outcome::Queued);
                Ok(())
            }
            Err(in_vain) => {
                let decision = counted.peek(key, Instant::now());
                Err(self.refuse(&decision, in_vain.into(), trip))
            }
        }
    }

    fn tell(&self, decision: &LimitDecision, trip: &mut Trip) {
        if self.is_told {
            trip.tell(self.limited.quota(decision));
        }
    }

    fn refuse(&self, decision: &LimitDecision, outcome: Outcome, trip: &mut Trip) -> Error {
        self.tell(decision, trip);
        self.outcomes.count(outcome);
        self.limited.refusal(decision)
    }

    /// Whether a request would pass now.
    pub(crate) fn would_pass(&self, request: &RequestView<'_>, now: Instant) -> bool {
        let Counting::Here(counted) = &self.limited.counting else { return false };
        self.with_key(request, &self.names, |key| counted.peek(key, now).is_allowed)
    }

    /// Lets a request pass whose answer is at hand, and appends to its head what it is told. False: it does not pass, and the
    /// longer way tells so.
    pub(crate) fn pass(&self, request: &RequestView<'_>, now: Instant, out: &mut Vec<u8>) -> bool {
        let Limited { counting: Counting::Here(counted), queue, .. } = &*self.limited else { return false };
        let decision = self.with_key(request, &self.names, |key| {
            // Whoever waits comes first.
            let is_free = queue.as_ref().is_none_or(|queue| queue.is_empty(key));
            is_free.then(|| counted.take(key, now))
        });
        let Some(decision) = decision else { return false };
        if decision.is_allowed && self.is_told {
            response::write_quota(&self.limited.quota(&decision), out);
        }
        decision.is_allowed
    }

    /// What it would do with a request, for people. Nothing is taken.
    pub(crate) fn explain(&self, question: Question<'_>) -> Told {
        let Question { request, names, within } = question;
        let Limited { counting, told, queue, .. } = &*self.limited;
        let (policy, amount) = (&told.name, told.amount);
        let Told { effect, then } = self.with_key(request, names, |key| match (counting, queue) {
            (Counting::Here(counted), queue) => {
                let decision = counted.peek(key, Instant::now());
                let Quota { remaining, reset, .. } = self.limited.quota(&decision);
                match queue {
                    Some(queue) if !decision.is_allowed || !queue.is_empty(key) => {
                        queue.explain(key, decision.retry_after, within, TOO_MANY)
                    }
                    _ if decision.is_allowed => {
                        let told = format!("lets it pass, {remaining} of {amount} left after it");
                        Told::new(told, Then::Passes)
                    }
                    _ => {
                        let told =
                            format!("refused with {TOO_MANY}; full quota ({amount}) restored in {reset} s");
                        Told::new(told, Then::Refused)
                    }
                }
            }
            (Counting::Together(joint), queue) => joint.explain(key, queue.as_ref(), within),
        });
        Told::new(format!("`{policy}`: {effect}"), then)
    }

    /// What a request counts against, for as long as it takes to count it.
    fn with_key<T>(
        &self,
        request: &RequestView<'_>,
        names: &[Option<Box<str>>],
        then: impl FnOnce(&[u8]) -> T,
    ) -> T {
        let mut key = self.scratch.borrow_mut();
        key.clear();
        self.write_key(request, names, &mut key);
        then(&key)
    }

    fn write_key(&self, request: &RequestView<'_>, names: &[Option<Box<str>>], key: &mut Vec<u8>) {
        match &self.limited.rule.by {
            LimitBy::All => {}
            LimitBy::Source => key.extend_from_slice(self.source.as_bytes()),
            LimitBy::Shares(shares) => {
                let start = key.len();
                shares.by.write(&Context::of_request(request, names), key);
                let group = shares.of.iter().position(|(name, _)| name.as_bytes() == &key[start..]);
                key.truncate(start);
                // There are no more than 64 of them.
                key.push(group.unwrap_or(shares.of.len()) as u8);
            }
            LimitBy::Value(value) => {
                // Whoever gives nothing is not taken for whoever gives an empty text.
                key.push(1);
                if !value.write(&Context::of_request(request, names), key) {
                    key.clear();
                    key.push(0);
                }
            }
        }
    }
}

/// How many may come in how long a window.
fn window(rule: &plan::Limit) -> (u64, Duration) {
    match rule.algorithm {
        Algorithm::Fixed | Algorithm::Sliding => (rule.amount, rule.per),
        // How long a burst takes to be there again, in whole seconds, and what may come in that time.
        Algorithm::Gcra => {
            let (amount, per) = (u128::from(rule.amount.max(1)), rule.per.as_nanos().max(1));
            let seconds = (per * u128::from(rule.burst)).div_ceil(amount * NANOS).max(1);
            let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
            let quota = amount * u128::from(seconds) * NANOS / per;
            (u64::try_from(quota).unwrap_or(u64::MAX), Duration::from_secs(seconds))
        }
    }
}

fn whole_seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0))
}
