//! Run: one request through the steps of its route. In: what is known of the request, and who carries calls out. Out: the
//! values of all steps, and how they came about.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use expression::{Context, Given};
use foldhash::fast::RandomState;
use futures_util::FutureExt;
use futures_util::future::WeakShared;
use guard::Places;
use message::{Error, Kind, RequestView, Result};
use plan::{Compose, Step};
use source::{BoundCall, Value};
use tokio::time::Instant;

use crate::content;
use crate::graph;
use crate::single_flight::{Flight, SingleFlight};
use crate::step;
use crate::timing::{Outcome, Took};

/// Bytes that the steps of one request may give together.
const MOST_HELD: usize = 64 * 1024 * 1024;
/// Steps that one request may begin, each item of a list counted: lists may stand within lists.
const MOST_BEGUN: usize = 100_000;

/// Who carries calls out. What it returns belongs to nobody, so that several may wait for it.
pub trait Calls: 'static {
    /// Carries a call out. Dropping it cancels.
    fn call(&self, step: &Step, call: BoundCall) -> Flight;
}

/// All values of a request whose steps have ended, each at its place.
#[derive(Debug)]
pub struct Served(pub(crate) Vec<Given>);

/// What the steps of one request did.
#[derive(Debug, Default)]
pub struct Account {
    /// Those that have ended, in that order.
    pub took: Vec<Took>,
    /// Calls that they asked for.
    pub calls: u64,
    /// Of these, those that the request had made already.
    pub deduped: u64,
    /// Of these, those that another request had under way.
    pub coalesced: u64,
}

/// One request on its way through the steps.
pub struct Run<'a, C> {
    /// What the route does.
    pub compose: &'a Compose,
    /// The request.
    pub request: &'a RequestView<'a>,
    /// What the route calls the segments of its path.
    pub names: &'a [Option<Box<str>>],
    /// Who carries calls out.
    pub calls: &'a C,
    /// Calls of other requests, on this core.
    pub flights: &'a SingleFlight,
    /// For routes that run in a pool.
    pub places: Option<&'a Places>,
    /// When the request came: its time runs from then.
    pub began: Instant,
}

/// A [`Run`] that has begun, and what it remembers.
pub(crate) struct Running<'a, C> {
    pub(crate) run: &'a Run<'a, C>,
    pub(crate) began: Instant,
    may_share: bool,
    /// Calls of this request, also those that have ended.
    own: RefCell<HashMap<Box<[u8]>, Own, RandomState>>,
    account: RefCell<Account>,
    /// Bytes that calls have given, and that was made of them in lists.
    held: Cell<usize>,
    begun: Cell<usize>,
    /// Steps that have begun and not ended, for the message when time is up.
    pub(crate) pending: RefCell<Vec<Box<str>>>,
}

/// A call of this request.
enum Own {
    /// It belongs to those who wait for it, and ends with the last of them.
    UnderWay(WeakShared<Flight>),
    Ended(Result<Value>),
}

impl<C: Calls> Run<'_, C> {
    /// Runs all steps; also says what they did. `body` is the request's content, where it is read.
    ///
    /// # Errors
    /// That of the first step that failed without anything to stand in, or that time is up; everything else is cancelled
    /// by then.
    pub async fn serve(&self, body: Bytes) -> (Result<Served>, Account) {
        let body = match content::given(body) {
            Ok(body) => body,
            Err(error) => return (Err(error), Account::default()),
        };
        let running = Running {
            run: self,
            began: self.began,
            may_share: self.request.method.is_safe(),
            own: RefCell::default(),
            account: RefCell::default(),
            held: Cell::default(),
            begun: Cell::default(),
            pending: RefCell::default(),
        };
        let timeout = self.compose.timeout;
        let outcome = if let Some(error) = running.lacking(&body) {
            Err(error)
        } else {
            let steps = graph::run(&running, &self.compose.graph, vec![body], "");
            tokio::time::timeout_at(self.began + timeout, steps)
                .await
                .unwrap_or_else(|_| Err(running.late(timeout)))
        };
        (outcome.map(Served), running.account.into_inner())
    }
}

impl<'a, C: Calls> Running<'a, C> {
    /// What is known to expressions.
    pub(crate) fn context<'v>(&'v self, values: &'v [Given]) -> Context<'v> {
        Context { values, ..Context::of_request(self.run.request, self.run.names) }
    }

    /// What the request lacks, all of it at once: nothing is asked of anybody then.
    fn lacking(&self, body: &Given) -> Option<Error> {
        let values = std::slice::from_ref(body);
        let mut found = Vec::new();
        step::lacking(&self.compose().graph, &self.context(values), &mut found);
        let mut lacks: Vec<String> = Vec::new();
        for noun in found {
            if !lacks.contains(&noun) {
                lacks.push(noun);
            }
        }
        let verb = if lacks.len() == 1 { "is" } else { "are" };
        let detail = || format!("{} {verb} missing", lacks.join(", "));
        (!lacks.is_empty()).then(|| Error::new(Kind::MalformedRequest, detail()))
    }

    fn late(&self, timeout: Duration) -> Error {
        let pending = self.pending.borrow();
        let steps = if pending.is_empty() { "no step".to_owned() } else { pending.join(", ") };
        Error::new(Kind::SourceTimeout, format!("not done within {timeout:?}; still running: {steps}"))
    }

    pub(crate) fn compose(&self) -> &'a Compose {
        self.run.compose
    }

    /// Notes how a step ended.
    pub(crate) fn note(&self, name: Box<str>, began: Instant, outcome: Outcome) {
        let started = began.duration_since(self.began);
        self.account.borrow_mut().took.push(Took { name, started, took: began.elapsed(), outcome });
    }

    /// Counts a step that begins, or an item of its list.
    pub(crate) fn begin(&self) -> Result<()> {
        self.begun.set(self.begun.get() + 1);
        if self.begun.get() > MOST_BEGUN {
            let detail = format!("lists make more than {MOST_BEGUN} steps of this request");
            return Err(Error::new(Kind::UnusableReply, detail));
        }
        Ok(())
    }

    /// Takes in what was given, within what one request may hold.
    pub(crate) fn hold(&self, answered: Value) -> Result<Value> {
        self.held.set(self.held.get().saturating_add(answered.json.bytes().len()));
        if self.held.get() > MOST_HELD {
            let detail = format!("steps gave more than {} MiB together", MOST_HELD / 1024 / 1024);
            return Err(Error::new(Kind::UnusableReply, detail));
        }
        Ok(answered)
    }

    /// Carries a call out.
    pub(crate) async fn call(&self, step: &Step, call: BoundCall) -> Result<Value> {
        // Some answers are at hand, and a long list of them is not to keep the core from everybody else.
        tokio::task::consume_budget().await;
        self.hold(self.shared_call(step, call).await?)
    }

    /// Carries a call out, or joins the one that is the same.
    async fn shared_call(&self, step: &Step, call: BoundCall) -> Result<Value> {
        self.account.borrow_mut().calls += 1;
        let save = self.compose().save;
        let is_shared = self.may_share && (save.dedupe || save.coalesce) && call.is_safe();
        if !is_shared {
            return self.run.calls.call(step, call).await;
        }
        let mut key = Vec::with_capacity(128);
        // What wraps the call is a part of it.
        key.extend_from_slice(&(step.wrapping.unwrap_or(usize::MAX) as u64).to_be_bytes());
        call.write_identity(&mut key);
        let made = match self.own.borrow().get(&key[..]) {
            Some(Own::Ended(outcome)) => {
                self.account.borrow_mut().deduped += 1;
                return outcome.clone();
            }
            Some(Own::UnderWay(flight)) => flight.upgrade(),
            None => None,
        };
        if let Some(flight) = made {
            self.account.borrow_mut().deduped += 1;
            return flight.await;
        }
        let begin = || self.run.calls.call(step, call);
        let (flight, is_joined) = if save.coalesce && step.is_shared {
            self.run.flights.join(&key, begin)
        } else {
            (begin().shared(), false)
        };
        self.account.borrow_mut().coalesced += u64::from(is_joined);
        if !save.dedupe {
            return flight.await;
        }
        let key: Box<[u8]> = key.into();
        if let Some(flight) = flight.downgrade() {
            self.own.borrow_mut().insert(key.clone(), Own::UnderWay(flight));
        }
        let outcome = flight.await;
        self.own.borrow_mut().insert(key, Own::Ended(outcome.clone()));
        outcome
    }
}
