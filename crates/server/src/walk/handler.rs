//! Handler: walks a request through the rooms: route → stack (gate, layers, end) → response. One per core.

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
use crate::walk::preflight;
use crate::walk::recent::Recent;
use crate::walk::running::Destination;

const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// What one core answers with.
pub(crate) struct CoreHandler {
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
    /// The same for fields that are added.
    pub(crate) field_scratch: RefCell<Vec<u8>>,
    pub(crate) recorder: Rc<Recorder>,
    pub(crate) recent: Arc<Recent>,
}

impl Handler for CoreHandler {
    fn answer_fresh(&self, sent: &RequestView<'_>, client: &Client, out: &mut Vec<u8>) -> Option<Bytes> {
        let local = self.local.borrow();
        let target = Target::read(sent.target)?;
        let request = &RequestView { target: target.as_str(), client: client.ip(), ..*sent };
        let destination = local.running.router.find(request.method, request.host(), &target).ok()?;
        let stack = &local.stacks[destination.number];
        if !stack.holds() {
            return None;
        }
        let started = Instant::now();
        let at_hand = AtHand {
            keys: &self.scratch,
            reads: &self.read_scratch,
            fields: &self.field_scratch,
            now: started,
            cache_id: &local.cache_id,
        };
        let (request, fresh) = stack.fresh(request, sent.target, Clock::at(started), &at_hand, out)?;
        self.record_fresh(&request, client, destination, &fresh, started);
        Some(fresh.content)
    }

    fn is_short_of_memory(&self) -> bool {
        self.store.memory.is_short()
    }

    #[expect(clippy::manual_async_fn, reason = "the future of an async fn holds what it is given twice")]
    fn answer(&self, mut request: Request) -> impl Future<Output = Response> {
        async move {
            let mut observed = Observed::new(&request, Rc::clone(&self.recorder));
            observed::count_content(&mut request, &self.recorder);
            let local = Rc::clone(&self.local.borrow());
            // Failures are told in it, when the request itself is long on its way.
            let wanted = response::Form::of(request.view().fields);
            let mut form = StatusForm::Off;
            let outcome = if let Some((destination, response)) = preflight::answered(&local, &request) {
                observed.route = Some(Arc::clone(&destination.route));
                Ok(response)
            } else {
                match find(&local, &mut request, &mut observed.trip) {
                    Ok(destination) => {
                        form = destination.status_form();
                        observed.route = Some(Arc::clone(&destination.route));
                        if destination.cache.is_some() {
                            let id = self.identity.of_request(request.view().fields);
                            observed.remember(&request, id, self.number, &self.recent);
                        }
                        match local.stacks[destination.number].let_in(&mut request, &observed.trip).await {
                            // Not in a function of its own, whose future would hold the request once more.
                            Ok(()) => {
                                let running = &local.running;
                                let invalidating =
                                    Invalidating::of(&request, destination, running, &self.store);
                                let stack = &local.stacks[destination.number];
                                let outcome = stack.call(request, &mut observed.trip).await;
                                if let (Some(invalidating), Ok(response)) = (invalidating, &outcome) {
                                    let status = observed.trip.cache.as_ref();
                                    invalidating.after(response, status, &local, &self.store, &self.recorder);
                                }
                                outcome
                            }
                            Err(error) => Err(error),
                        }
                    }
                    Err(error) => Err(error),
                }
            };
            // Also where the longer way was taken, over HTTP/2 for one: hits would push out what is worth asking about.
            if observed.trip.cache.is_some_and(|status| status.hit && status.ttl.is_some_and(|ttl| ttl >= 0))
            {
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
                    let response = response::failure(&error, wanted);
                    observed.error = Some(error);
                    response
                }
            };
            if response.status != StatusCode::SWITCHING_PROTOCOLS {
                if let Some(status) = &observed.trip.cache {
                    local.saying(form).add(status, &mut response.fields);
                }
                response::add_quotas(&observed.trip.quotas, &mut response.fields);
                if let Some(id) = observed.id() {
                    response.fields.insert(X_REQUEST_ID, id.clone());
                }
            }
            observed.watch(response)
        }
    }

    fn refuse(&self, client: &Client, error: &Error) -> Response {
        // There is no request: what was sent could not be read as one.
        let response = response::failure(error, response::Form::Plain);
        self.recorder.refused(client, error, response.status);
        response
    }
}

impl CoreHandler {
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
            queued: None,
            attempts: 0,
            account: None,
            cache: fresh.cache,
            error: None,
            route: Some(&destination.route),
            id: None,
            user_agent: request.fields.first(&http::header::USER_AGENT),
            referer: request.fields.first(&http::header::REFERER),
        });
    }

    /// A request of our own, which only reads: nobody need let it in, and nothing is forgotten because of it.
    pub(crate) async fn walk_ours(&self, mut request: Request, trip: &mut Trip) -> Result<Response> {
        let local = Rc::clone(&self.local.borrow());
        let destination = find(&local, &mut request, trip)?;
        trip.is_errand = true;
        local.stacks[destination.number].call(request, trip).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_of_future<F>(_: impl FnOnce(&'static CoreHandler, Request) -> F) -> usize {
        size_of::<F>()
    }

    /// It is allocated for each request that is no fresh hit.
    #[test]
    fn the_way_of_a_request_takes_little_memory() {
        let size = size_of_future(CoreHandler::answer);
        assert!(size <= 1792, "{size} bytes");
    }
}
