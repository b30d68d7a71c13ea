//! Concurrency: the layer that lets so many calls to a source be under way at once, counted over all cores; or as many as the source
//! answers well. What is more is refused with 503, or waits for its turn where there is a queue.
//!
//! A call is under way until the last byte of its response has been handed on; one that leaves HTTP, as a WebSocket does, until its
//! connection is closed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use guard::{Admission, InFlight, Permit};
use http::StatusCode;
use http_body::{Body as HttpBody, Frame, SizeHint};
use message::{Ask, Body, Call, Duplex, Error, Kind, Result, Trip, Tunnel};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::remedies::by_source::BySource;
use crate::remedies::kept::Remedy;
use crate::remedies::outcomes::{Outcome, Outcomes};
use crate::remedies::queue::Queue;
use crate::stack::around::{Arrival, Held, Moment};
use crate::stack::explain::{Then, Told};

/// What all cores share of one policy's limit on calls under way.
#[derive(Debug)]
pub struct Concurrents {
    rule: plan::Concurrency,
    each: BySource<Box<str>, Concurrent>,
}

/// Calls to one source.
#[derive(Debug)]
struct Concurrent {
    in_flight: Arc<InFlight>,
    queue: Option<Queue>,
}

/// How many calls to a source are under way.
#[derive(Clone, Copy, Debug)]
pub struct ConcurrencyFigures {
    /// May be.
    pub limit: u64,
    /// Are.
    pub under_way: u64,
    /// Wait for their turn.
    pub waiting: u64,
}

/// See the module. One for each place and core.
#[derive(Clone, Debug)]
pub struct ConcurrencyLayer {
    concurrents: Arc<Concurrents>,
    outcomes: Arc<Outcomes>,
    concurrent: Arc<Concurrent>,
    names: Arc<[Option<Box<str>>]>,
}

/// A call that is under way.
pub(crate) struct UnderWayCall {
    permit: Permit,
    began: Instant,
}

/// Content whose call is under way until its last byte has been handed on.
struct HeldBody {
    inner: Pin<Box<dyn HttpBody<Data = Bytes, Error = Error>>>,
    permit: Option<Permit>,
}

/// A connection that left HTTP: its call is under way until it is closed.
struct HeldTunnel {
    io: Box<dyn Duplex>,
    _permit: Permit,
}

impl Remedy for Concurrents {
    type Rule = plan::Concurrency;

    fn new(rule: plan::Concurrency) -> Self {
        Concurrents { rule, each: BySource::default() }
    }

    fn rule(&self) -> &plan::Concurrency {
        &self.rule
    }

    fn name(rule: &plan::Concurrency) -> &str {
        &rule.name
    }
}

impl Concurrents {
    /// By source.
    pub fn figures(&self) -> Vec<(String, ConcurrencyFigures)> {
        self.each.each(|source, concurrent| (source.to_string(), concurrent.figures()))
    }
}

impl Concurrent {
    fn new(rule: &plan::Concurrency) -> Arc<Self> {
        let queue = rule.queue.clone().map(Queue::new);
        let lines = queue.as_ref().map(|queue| Arc::clone(queue.lines()));
        let on_free = move || lines.iter().for_each(|lines| lines.wake(b""));
        Arc::new(Concurrent { in_flight: InFlight::new(rule.most, on_free), queue })
    }

    fn figures(&self) -> ConcurrencyFigures {
        ConcurrencyFigures {
            limit: self.in_flight.limit().into(),
            under_way: self.in_flight.under_way().into(),
            waiting: self.queue.as_ref().map_or(0, |queue| queue.waiting() as u64),
        }
    }
}

impl ConcurrencyLayer {
    /// What it tells of.
    pub const OUTCOMES: &[Outcome] = &[Outcome::Refused, Outcome::Queued, Outcome::Late];

    /// Around calls to this source.
    pub fn new(
        concurrents: Arc<Concurrents>,
        outcomes: Arc<Outcomes>,
        source: &str,
        names: Arc<[Option<Box<str>>]>,
    ) -> Self {
        let concurrent = concurrents.each.of(source.into(), || Concurrent::new(&concurrents.rule));
        ConcurrencyLayer { concurrents, outcomes, concurrent, names }
    }

    /// How many calls are under way, and what that makes of another one; for people.
    pub(crate) fn explain(&self, within: Option<Duration>) -> Told {
        let ConcurrencyFigures { limit, under_way, waiting } = self.concurrent.figures();
        let Told { effect, then } = match &self.concurrent.queue {
            _ if under_way < limit && waiting == 0 => Told::new("lets it pass", Then::Passes),
            Some(queue) => queue.explain(b"", Duration::ZERO, within, 503),
            None => Told::new("refused with 503", Then::Refused),
        };
        Told::new(format!("{under_way} of {limit} calls under way: {effect}"), then)
    }

    pub(crate) fn arrive<A>(&self, moment: &Moment) -> Arrival<A> {
        let Concurrent { in_flight, queue } = &*self.concurrent;
        // Whoever waits comes first.
        if queue.as_ref().is_some_and(|queue| !queue.is_empty(b"")) {
            return Arrival::Wait;
        }
        match (in_flight.try_take(), queue) {
            (Some(permit), _) => {
                Arrival::Hold(Held::UnderWay(UnderWayCall { permit, began: moment.now().into_std() }))
            }
            (None, Some(_)) => Arrival::Wait,
            (None, None) => Arrival::End(Err(self.refuse(Outcome::Refused))),
        }
    }

    /// Waits for its turn, and goes on.
    pub(crate) async fn call<Q: Ask>(
        &self,
        ask: Q,
        below: impl Call<Q>,
        trip: &mut Trip,
    ) -> Result<Q::Answer> {
        let Concurrent { in_flight, queue } = &*self.concurrent;
        let Some(queue) = queue else { return below.call(ask, trip).await };
        let (request, names) = ask.read_by_policies(&self.names);
        let take = |_| in_flight.try_take().map_or(Admission::WhenTold, Admission::Taken);
        let permit = match queue.turn(b"", &request, names, trip, take).await {
            Ok(permit) => permit,
            Err(in_vain) => return Err(self.refuse(in_vain.into())),
        };
        self.outcomes.count(Outcome::Queued);
        let under_way = UnderWayCall { permit, began: Instant::now() };
        let mut outcome = below.call(ask, trip).await;
        under_way.end::<Q>(&mut outcome, trip);
        outcome
    }

    fn refuse(&self, outcome: Outcome) -> Error {
        self.outcomes.count(outcome);
        let (name, limit) = (&self.concurrents.rule.name, self.concurrent.in_flight.limit());
        Error::new(Kind::Overloaded, format!("policy {name}: {limit} calls are under way"))
    }
}

impl UnderWayCall {
    /// Says how the call has ended, and lets the place go with the last byte of its answer.
    pub(crate) fn end<Q: Ask>(self, outcome: &mut Result<Q::Answer>, trip: &Trip) {
        self.permit.tell(match outcome {
            Ok(_) if trip.is_answered_here => guard::Outcome::Ignored,
            Ok(answer) => match Q::head_of(answer) {
                Some((StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE, _)) => {
                    guard::Outcome::Dropped
                }
                _ => guard::Outcome::Success { took: self.began.elapsed() },
            },
            Err(error) if matches!(error.kind(), Kind::SourceTimeout | Kind::ConnectTimeout) => {
                guard::Outcome::Dropped
            }
            Err(_) => guard::Outcome::Ignored,
        });
        if let Ok(answer) = outcome
            && let Some(response) = Q::response_mut(answer)
        {
            response.body = match std::mem::take(&mut response.body) {
                Body::Stream(inner) if !inner.is_end_stream() => {
                    Body::stream(HeldBody { inner, permit: Some(self.permit) })
                }
                Body::Tunnel(Tunnel { early, io }) => {
                    Body::Tunnel(Tunnel { early, io: Box::new(HeldTunnel { io, _permit: self.permit }) })
                }
                body => body,
            };
        }
    }
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>>>> {
        let frame = std::task::ready!(self.inner.as_mut().poll_frame(cx));
        // Whoever knows the length may stop reading at the last byte, without asking for the end.
        if !matches!(frame, Some(Ok(_))) || self.inner.is_end_stream() {
            self.permit = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl AsyncRead for HeldTunnel {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl AsyncWrite for HeldTunnel {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}
