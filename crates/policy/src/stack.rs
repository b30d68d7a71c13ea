//! Stack: what wraps a call: a gate, layers, outermost first, then an end. A route has one on each core, and so has every way
//! in which steps call a source; without gate and layers it costs nothing.
//!
//! In: a request, or a step's bound call. Out: its answer, at once where a layer or the end has it at hand ([`Stack::fresh`]), or by the whole way:
//! [`Stack::let_in`], then the call. The gate is no layer: whatever is done around a call, as forgetting after a write, is done
//! for requests that were let in, and requests of our own need not be. Made by `server`; `layer` says what the layers are.

pub(crate) mod around;
pub(crate) mod at_hand;
pub(crate) mod explain;
pub(crate) mod layer;
pub(crate) mod under_way;
pub(crate) mod verdict;

use std::future::{Future, ready};
use std::rc::Rc;
use std::sync::Arc;

use futures_util::future::Either;
use message::{Ask, Call, Deadline, Fields, Request, RequestView, Response, Result, Timestamp, Trip};

use crate::gate::Gate;
use crate::remedies::cache::Cacheable;
use crate::remedies::cors::CorsLayer;
use crate::stack::around::{Arrival, Held, Moment};
use crate::stack::at_hand::{AtHand, Fresh};
use crate::stack::layer::{AtHandPart, Layer};
use crate::stack::under_way::{Timers, UnderWay};

/// See the module. Clones are the same one.
pub struct Stack<E>(Rc<Inner<E>>);

struct Inner<E> {
    /// Whom it lets in; `None`: everybody.
    gate: Option<Arc<Gate>>,
    layers: Box<[Layer]>,
    end: E,
    timers: Timers,
    /// Which layer is the outermost that may have a response at hand; their number: none, but perhaps the end.
    holder: usize,
    /// Whether anything in it may.
    holds: bool,
    /// See [`Stack::makes_content`].
    makes_content: bool,
}

/// The rest of a stack, from a layer on: what the layer before it calls, and what a fill keeps.
pub struct Below<E> {
    stack: Stack<E>,
    at: usize,
}

/// Where the stack of a route ends.
pub trait End: Call {
    /// Whether it may have a response at hand.
    fn holds(&self) -> bool;

    /// Writes the head of a response that is at hand, as lines without the empty one; nothing where there is none.
    fn fresh(
        &self,
        request: &RequestView<'_>,
        now: Timestamp,
        at_hand: &AtHand<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Fresh>;
}

impl<E> Stack<E> {
    /// These layers, outermost first, around this end: for calls of our own, which need no letting in and have nothing at
    /// hand.
    pub fn around(layers: Vec<Layer>, end: E) -> Self {
        Stack::of(None, layers, end, false)
    }

    fn of(gate: Option<Arc<Gate>>, layers: Vec<Layer>, end: E, holds: bool) -> Self {
        let holds_one = |layer: &Layer| matches!(layer.at_hand(), AtHandPart::Holds);
        let holder = layers.iter().position(holds_one).unwrap_or(layers.len());
        let holds =
            holds && !layers[..holder].iter().any(|layer| matches!(layer.at_hand(), AtHandPart::Bars));
        let makes_content = layers.iter().any(Layer::makes_content);
        let timers = Timers::of(&layers);
        Stack(Rc::new(Inner { gate, layers: layers.into(), end, timers, holder, holds, makes_content }))
    }

    /// Where it ends.
    pub fn end(&self) -> &E {
        &self.0.end
    }

    /// Whether what comes out may be content that a layer has made, and not the end.
    pub fn makes_content(&self) -> bool {
        self.0.makes_content
    }

    /// What stands around its end, outermost first.
    pub fn layers(&self) -> &[Layer] {
        &self.0.layers
    }
}

impl<E: End> Stack<E> {
    /// Behind this gate these layers, outermost first, around this end.
    pub fn new(gate: Option<Arc<Gate>>, layers: Vec<Layer>, end: E) -> Self {
        let holds = end.holds() || layers.iter().any(|layer| matches!(layer.at_hand(), AtHandPart::Holds));
        Stack::of(gate, layers, end, holds)
    }

    /// Whether any response may be at hand. Where none can, nobody need look at a clock.
    pub fn holds(&self) -> bool {
        self.0.holds
    }

    /// Whom it lets in; `None`: everybody.
    pub fn gate(&self) -> Option<&Gate> {
        self.0.gate.as_deref()
    }

    /// The target by which the outermost cache knows what is asked for by this one, as far as the config says. `None`: there is no
    /// such request.
    pub fn known_as(&self, sent: &str) -> Option<Box<str>> {
        let Inner { layers, holder, .. } = &*self.0;
        layers[..*holder].iter().try_fold(Box::from(sent), |target: Box<str>, layer| layer.onward(&target))
    }

    /// Lets a request in, and takes off what it was let in for, which is nobody's business behind the gate.
    ///
    /// # Errors
    /// It is not let in.
    pub async fn let_in(&self, request: &mut Request, trip: &Trip) -> Result<()> {
        let Some(gate) = &self.0.gate else { return Ok(()) };
        gate.let_in(request, trip).await.map_err(|mut error| {
            if let Some(cors) = self.cors() {
                cors.dress(request.view().fields, &mut error);
            }
            error
        })
    }

    /// What a preflight hears; `None`: nobody here says who may read.
    pub fn preflight(&self, request: Fields<'_>) -> Option<Response> {
        self.cors().map(|cors| cors.answer(request))
    }

    fn cors(&self) -> Option<&CorsLayer> {
        self.0.layers.iter().find_map(|layer| match layer {
            Layer::Cors(cors) => Some(cors),
            _ => None,
        })
    }

    /// A response that is at hand, without a future; and the request as it was let in. `sent`: the target as the client sent
    /// it.
    pub fn fresh<'r>(
        &self,
        request: &RequestView<'r>,
        sent: &'r str,
        now: Timestamp,
        at_hand: &AtHand<'_>,
        out: &mut Vec<u8>,
    ) -> Option<(RequestView<'r>, Fresh)> {
        if !self.0.holds {
            return None;
        }
        let Some(gate) = &self.0.gate else {
            return Some((*request, self.at_hand(request, now, at_hand, out)?));
        };
        // Whom it refuses, the longer way tells so.
        let (target, let_in) = gate.let_in_at_once(request, sent, at_hand.now)?;
        let request = RequestView { target, ..*request };
        let fresh = self.at_hand(&request, now, at_hand, out)?;
        let_in.count();
        Some((request, fresh))
    }

    /// From the outermost layer that may have it, or else from the end; past the limits before it, which count it only once
    /// there is something to give. Several first say whether they would let it pass, so that none counts what the next
    /// refuses. Should another core have taken the last of a quota between the two, the longer way refuses.
    fn at_hand(
        &self,
        request: &RequestView<'_>,
        now: Timestamp,
        at_hand: &AtHand<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Fresh> {
        let Inner { layers, holder, end, .. } = &*self.0;
        let limits = || {
            layers[..*holder].iter().filter_map(|layer| match layer.at_hand() {
                AtHandPart::Counts(limit) => Some(limit),
                _ => None,
            })
        };
        let names_it = |layer: &Layer| matches!(layer.at_hand(), AtHandPart::Answers(respond) if respond.is_meant(request, &respond.names));
        if layers[..*holder].iter().any(names_it) {
            return None;
        }
        // One alone says so when it takes.
        if limits().nth(1).is_some() && !limits().all(|limit| limit.would_pass(request, at_hand.now)) {
            return None;
        }
        let before = out.len();
        let fresh = match layers.get(*holder) {
            // What it does not have takes the longer way, whatever lies below.
            Some(Layer::Cache(cache)) => cache.fresh(request, now, at_hand, out)?,
            _ => end.fresh(request, now, at_hand, out)?,
        };
        if !limits().all(|limit| limit.pass(request, at_hand.now, out)) {
            out.truncate(before);
            return None;
        }
        for layer in layers[..*holder].iter().rev() {
            match layer.at_hand() {
                AtHandPart::Edits(headers) => {
                    headers.edit_lines(request, &fresh, before, at_hand.fields, out);
                }
                AtHandPart::Shares(cors) => cors.edit_lines(request, before, out),
                _ => {}
            }
        }
        Some(fresh)
    }
}

impl<E> Stack<E> {
    /// From this layer on.
    fn call_from<'a, Q: Cacheable>(
        &'a self,
        at: usize,
        mut ask: Q,
        trip: &'a mut Trip,
    ) -> UnderWay<'a, Q::Answer>
    where
        E: Call<Q>,
    {
        let (mut held, moment) = (Vec::new(), Moment::default());
        let mut next = at;
        let timers = &self.0.timers;
        for layer in &self.0.layers[at..] {
            match layer.arrive(&mut ask, trip, &moment) {
                Arrival::Pass => {}
                Arrival::By(at, within) => {
                    if trip.deadline.is_none_or(|outer| at < outer.at) {
                        trip.deadline = Some(Deadline { at, within, layer: next });
                    }
                }
                Arrival::Hold(what) => held.push(what),
                Arrival::Wait => break,
                Arrival::End(outcome) => {
                    return UnderWay::new(ready(ended::<Q>(outcome, held, trip)), None, timers);
                }
            }
            next += 1;
        }
        if held.is_empty() {
            return self.call_through(next, ask, trip);
        }
        let call = async move { ended::<Q>(self.call_through(next, ask, trip).await, held, trip) };
        UnderWay::new(call, None, timers)
    }

    /// Through a layer that needs a future of its own, or to the end. The end is boxed: each layer's future would otherwise
    /// have room for the largest end, and all of them are allocated.
    fn call_through<'a, Q: Cacheable>(
        &'a self,
        at: usize,
        ask: Q,
        trip: &'a mut Trip,
    ) -> UnderWay<'a, Q::Answer>
    where
        E: Call<Q>,
    {
        let Inner { layers, timers, end, .. } = &*self.0;
        let (deadline, below) = (trip.deadline, || Below { stack: self.clone(), at: at + 1 });
        match layers.get(at) {
            None => {
                // Whatever was answered in its place before.
                trip.is_answered_here = false;
                UnderWay::new(end.call(ask, trip), deadline, timers)
            }
            Some(Layer::Cache(cache)) => {
                let below = below();
                UnderWay::new(async move { ask.through(cache, &below, trip).await }, deadline, timers)
            }
            Some(Layer::Hedge(hedge)) => UnderWay::new(hedge.call(ask, below(), trip, timers), None, timers),
            Some(Layer::Retry(retry)) => UnderWay::new(retry.call(ask, below(), trip), None, timers),
            Some(Layer::Limit(limit)) => UnderWay::new(limit.call(ask, below(), trip), deadline, timers),
            Some(Layer::Learn(learn)) => UnderWay::new(learn.call(ask, below(), trip), deadline, timers),
            Some(Layer::Concurrency(concurrency)) => {
                UnderWay::new(concurrency.call(ask, below(), trip), deadline, timers)
            }
            Some(Layer::Credentials(credentials)) => {
                UnderWay::new(credentials.call(ask, below(), trip), deadline, timers)
            }
            Some(Layer::Accounts(accounts)) => {
                UnderWay::new(accounts.call(ask, below(), trip), deadline, timers)
            }
            // Its own deadline: a function that is late is not the source's fault.
            Some(Layer::Wasm(wasm)) => UnderWay::new(wasm.call(ask, below(), trip, timers), None, timers),
            Some(Layer::Timeout(timeout)) => UnderWay::new(timeout.call(ask, below(), trip), None, timers),
            Some(Layer::Faults(faults)) => {
                let below = below();
                UnderWay::new(async move { faults.call(ask, below, trip).await }, deadline, timers)
            }
            Some(
                Layer::Breaker(_)
                | Layer::Headers(_)
                | Layer::Rewrite(_)
                | Layer::Cors(_)
                | Layer::Respond(_),
            ) => {
                unreachable!("they wait for nobody")
            }
        }
    }
}

/// How a call has ended, for those that hold something until it has: the innermost hears of it first.
fn ended<Q: Ask>(mut outcome: Result<Q::Answer>, held: Vec<Held>, trip: &mut Trip) -> Result<Q::Answer> {
    for held in held.into_iter().rev() {
        held.end::<Q>(&mut outcome, trip);
    }
    outcome
}

/// Behind the gate.
impl<Q: Cacheable, E: Call<Q>> Call<Q> for Stack<E> {
    fn call<'a>(&'a self, ask: Q, trip: &'a mut Trip) -> impl Future<Output = Result<Q::Answer>> {
        match self.0.layers.first() {
            None => Either::Left(self.0.end.call(ask, trip)),
            Some(_) => Either::Right(self.call_from(0, ask, trip)),
        }
    }
}

impl<Q: Cacheable, E: Call<Q>> Call<Q> for Below<E> {
    fn call<'a>(&'a self, ask: Q, trip: &'a mut Trip) -> impl Future<Output = Result<Q::Answer>> {
        self.stack.call_from(self.at, ask, trip)
    }
}

impl<E> Clone for Stack<E> {
    fn clone(&self) -> Self {
        Stack(Rc::clone(&self.0))
    }
}

impl<E> Clone for Below<E> {
    fn clone(&self) -> Self {
        Below { stack: self.stack.clone(), at: self.at }
    }
}

#[cfg(test)]
mod tests;
