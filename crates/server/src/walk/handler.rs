//! Handler: walks a request through the rooms: route → signature → cache → source → response. One per core.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use cache::{Caching, Scratch, Store};
use http::{HeaderName, Method, StatusCode, Version};
use listener::Handler;
use message::{CacheStatus, Call, Client, Clock, Error, Request, RequestView, Response, Result, Trip};
use plan::StatusForm;
use redis_link::Link;
use rules::path::Target;
use source::ReadScratch;
use telemetry::{Exchange, Recorder};

use crate::walk::find::find;
use crate::walk::identity::{Identity, X_REQUEST_ID};
use crate::walk::invalidating::Invalidating;
use crate::walk::local::Local;
use crate::walk::observed::{self, Observed};
use crate::walk::recent::Recent;
use crate::walk::running::Destination;

const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// What one core answers with.
pub(crate) struct Core {
    /// Which of them it is.
    pub(crate) number: usize,
    pub(crate) store: Arc<Store>,
    /// This core's way to the tier that instances share.
    pub(crate) tier: Option<Link>,
    /// Replaced by a reload.
    pub(crate) local: RefCell<Rc<Local>>,
    pub(crate) identity: Identity,
    /// What keys are made in; lent for as long as a lookup takes.
    pub(crate) scratch: RefCell<Scratch>,
    /// The same for reads.
    pub(crate) read_scratch: RefCell<ReadScratch>,
    pub(crate) recorder: Rc<Recorder>,
    pub(crate) recent: Arc<Recent>,
}

impl Handler for Core {
    fn answer_fresh(&self, sent: &RequestView<'_>, client: &Client, out: &mut Vec<u8>) -> Option<Bytes> {
        let local = self.local.borrow();
        let target = Target::read(sent.target)?;
        let request = &RequestView { target: target.as_str(), ..*sent };
        let destination = local.running.router.find(request.method, request.host(), &target).ok()?;
        let Some(policy) = &destination.cache else {
            return self.answer_read(&local, destination, request, sent.target, client, out);
        };
        let started = Instant::now();
        let now = Clock::at(started);
        let admitted = admitted(destination, request, sent.target)?;
        let look = destination.look(&admitted, policy);
        let fresh = self.store.fresh(&look, now, &mut self.scratch.borrow_mut())?;
        let entry = &fresh.entry;
        let fresh_for = entry.terms().fresh_for(now);
        let status = CacheStatus::hit(fresh_for);
        let (head, body) = match fresh.encoded() {
            Some(encoded) => (encoded.head(), encoded.body()),
            None => (entry.head(), entry.body()),
        };
        let (age, saying) = (entry.terms().age(now), local.saying(policy.status_form));
        response::write_fresh_head(head, age, &status, saying, out);
        if let Some(lifetime) = entry.client_lifetime() {
            lifetime.write(age, fresh_for, out);
        }
        let content = if *request.method == Method::HEAD { Bytes::new() } else { body.clone() };
        let outcome = (entry.status(), Some(status), content.len());
        self.record_fresh(&admitted, client, destination, outcome, started);
        Some(content)
    }

    fn is_short_of_memory(&self) -> bool {
        self.store.memory.is_short()
    }

    async fn answer(&self, mut request: Request) -> Response {
        let mut observed = Observed::new(&request, Rc::clone(&self.recorder));
        observed::count_content(&mut request, &self.recorder);
        let local = Rc::clone(&self.local.borrow());
        let mut form = StatusForm::Off;
        let outcome = match find(&local, &mut request) {
            Ok((destination, sent)) => {
                form = destination.status_form();
                observed.route = Some(Arc::clone(&destination.route));
                if destination.cache.is_some() {
                    let id = self.identity.of_request(request.view().fields);
                    observed.remember(&request, id, self.number, &self.recent);
                }
                match admit(destination, &mut request, sent.as_deref()) {
                    Ok(()) => self.walk(request, destination, &local, &mut observed.trip).await,
                    Err(error) => Err(error),
                }
            }
            Err(error) => Err(error),
        };
        // Also where the longer way was taken, over HTTP/2 for one: hits would push out what is worth asking about.
        if observed.trip.cache.is_some_and(|status| status.hit && status.ttl.is_some_and(|ttl| ttl >= 0)) {
            observed.forget();
        }
        let mut response = match outcome {
            Ok(mut response) => {
                if let Some(timing) = observed.trip.server_timing.take() {
                    response.fields.insert(SERVER_TIMING, *timing);
                }
                response
            }
            Err(error) => {
                let response = response::failure(&error);
                observed.error = Some(error);
                response
            }
        };
        if response.status != StatusCode::SWITCHING_PROTOCOLS {
            if let Some(status) = &observed.trip.cache {
                local.saying(form).add(status, &mut response.fields);
            }
            if let Some(id) = observed.id() {
                response.fields.insert(X_REQUEST_ID, id.clone());
            }
        }
        observed.watch(response)
    }

    fn refuse(&self, client: &Client, error: &Error) -> Response {
        let response = response::failure(error);
        self.recorder.refused(client, error, response.status);
        response
    }
}

/// The request behind the gate. Whom that refuses, the longer way tells so.
fn admitted<'r>(destination: &Destination, request: &RequestView<'r>, sent: &str) -> Option<RequestView<'r>> {
    let target = match &destination.gate {
        Some(gate) => gate.admit(request, sent, Clock::date()).ok()?,
        None => request.target,
    };
    Some(RequestView { target, ..*request })
}

/// Takes the signature off, which is nobody's business behind the gate. `sent`: the target as it came, where it has
/// another form now.
fn admit(destination: &Destination, request: &mut Request, sent: Option<&str>) -> Result<()> {
    let Some(gate) = &destination.gate else { return Ok(()) };
    let view = request.view();
    let target: Box<str> = gate.admit(&view, sent.unwrap_or(view.target), Clock::date())?.into();
    request.target = target;
    gate.strip_cookie(&mut request.fields);
    Ok(())
}

impl Core {
    /// Answers a read from what is at hand.
    fn answer_read(
        &self,
        local: &Local,
        destination: &Destination,
        request: &RequestView<'_>,
        sent: &str,
        client: &Client,
        out: &mut Vec<u8>,
    ) -> Option<Bytes> {
        let read = local.ends[destination.number].read()?;
        let started = Instant::now();
        let now = Clock::at(started);
        let admitted = admitted(destination, request, sent)?;
        let fresh = read.fresh(&admitted, now, &mut self.read_scratch.borrow_mut())?;
        fresh.write_head(now, out);
        out.extend_from_slice(b"date: ");
        listener::write_date(out);
        out.extend_from_slice(b"\r\n");
        if let Some(status) = &fresh.cache {
            local.saying(StatusForm::Field).write(status, out);
        }
        let content = fresh.content(request.method);
        let outcome = (fresh.status(), fresh.cache, content.len());
        self.record_fresh(&admitted, client, destination, outcome, started);
        Some(content)
    }

    /// Counts and logs an answer that was at hand: its status, what the cache did, and bytes of content.
    fn record_fresh(
        &self,
        request: &RequestView<'_>,
        client: &Client,
        destination: &Destination,
        (status, cache, bytes): (StatusCode, Option<CacheStatus>, usize),
        started: Instant,
    ) {
        let duration = started.elapsed();
        self.recorder.record(&Exchange {
            client,
            method: request.method,
            scheme: request.scheme,
            authority: request.authority,
            target: request.target,
            version: Version::HTTP_11,
            status,
            bytes: bytes as u64,
            duration,
            head_time: duration,
            source_time: None,
            cache,
            error: None,
            route: Some(&destination.route),
            id: None,
            user_agent: request.fields.first(&http::header::USER_AGENT),
            referer: request.fields.first(&http::header::REFERER),
        });
    }

    /// A request of our own: it needs no signature.
    pub(crate) async fn walk_ours(&self, mut request: Request, trip: &mut Trip) -> Result<Response> {
        let local = Rc::clone(&self.local.borrow());
        let (destination, _) = find(&local, &mut request)?;
        self.walk(request, destination, &local, trip).await
    }

    async fn walk(
        &self,
        request: Request,
        destination: &Destination,
        local: &Local,
        trip: &mut Trip,
    ) -> Result<Response> {
        let running = &local.running;
        let end = &local.ends[destination.number];
        let invalidating = Invalidating::of(&request, destination, running, &self.store);
        let outcome = match &destination.cache {
            None => end.call(request, trip).await,
            Some(policy) => {
                let (names, name) = (&destination.names, &destination.source_name);
                let link = self.tier.as_ref();
                let caching = Caching { store: &self.store, policy, names, source: name, link, call: end };
                // Boxed, so that requests that go straight through do not carry its memory about.
                let answer = Box::pin(caching.answer(request)).await;
                trip.cache = Some(answer.status);
                trip.source_time = answer.waited;
                answer.outcome
            }
        };
        if let (Some(invalidating), Ok(response)) = (invalidating, &outcome) {
            invalidating.after(response, trip.cache.as_ref(), running, &self.store, &self.recorder);
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_of_future<F>(_: impl FnOnce(&'static Core, Request) -> F) -> usize {
        size_of::<F>()
    }

    /// It is allocated for each request that is no fresh hit.
    #[test]
    fn the_way_of_a_request_takes_little_memory() {
        let size = size_of_future(Core::answer);
        assert!(size <= 3584, "{size} bytes");
    }
}
