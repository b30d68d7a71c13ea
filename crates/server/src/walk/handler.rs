//! Handler: walks a request through the rooms: route → stack (signature, cache, end) → response. One per core.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use cache::{Scratch, Store};
use http::{HeaderName, StatusCode, Version};
use listener::Handler;
use message::{Call, Client, Clock, Error, Request, RequestView, Response, Result, Trip};
use plan::StatusForm;
use policy::{AtHand, Fresh};
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
        let stack = &local.stacks[destination.number];
        if !stack.holds() {
            return None;
        }
        let started = Instant::now();
        let at_hand = AtHand { keys: &self.scratch, reads: &self.read_scratch, cache_id: &local.cache_id };
        let (request, fresh) = stack.fresh(request, sent.target, Clock::at(started), &at_hand, out)?;
        self.record_fresh(&request, client, destination, &fresh, started);
        Some(fresh.content)
    }

    fn is_short_of_memory(&self) -> bool {
        self.store.memory.is_short()
    }

    async fn answer(&self, mut request: Request) -> Response {
        let mut observed = Observed::new(&request, Rc::clone(&self.recorder));
        observed::count_content(&mut request, &self.recorder);
        let local = Rc::clone(&self.local.borrow());
        let mut form = StatusForm::Off;
        let outcome = match find(&local, &mut request, &mut observed.trip) {
            Ok(destination) => {
                form = destination.status_form();
                observed.route = Some(Arc::clone(&destination.route));
                if destination.cache.is_some() {
                    let id = self.identity.of_request(request.view().fields);
                    observed.remember(&request, id, self.number, &self.recent);
                }
                match local.stacks[destination.number].let_in(&mut request, &observed.trip) {
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

impl Core {
    /// Counts and logs a response that was at hand.
    fn record_fresh(
        &self,
        request: &RequestView<'_>,
        client: &Client,
        destination: &Destination,
        fresh: &Fresh,
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
            status: fresh.status,
            bytes: fresh.content.len() as u64,
            duration,
            head_time: duration,
            source_time: None,
            cache: fresh.cache,
            error: None,
            route: Some(&destination.route),
            id: None,
            user_agent: request.fields.first(&http::header::USER_AGENT),
            referer: request.fields.first(&http::header::REFERER),
        });
    }

    /// A request of our own: nobody need let it in.
    pub(crate) async fn walk_ours(&self, mut request: Request, trip: &mut Trip) -> Result<Response> {
        let local = Rc::clone(&self.local.borrow());
        let destination = find(&local, &mut request, trip)?;
        self.walk(request, destination, &local, trip).await
    }

    /// Through the stack behind its gate, and what a write makes forgotten.
    async fn walk(
        &self,
        request: Request,
        destination: &Destination,
        local: &Local,
        trip: &mut Trip,
    ) -> Result<Response> {
        let running = &local.running;
        let invalidating = Invalidating::of(&request, destination, running, &self.store);
        let outcome = local.stacks[destination.number].call(request, trip).await;
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
