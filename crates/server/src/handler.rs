//! Handler: walks a request through the rooms: route → cache → source → response. One per core.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use cache::{Caching, Forgetting, Store};
use http::{HeaderName, HeaderValue, Method, StatusCode, Version};
use listener::Handler;
use message::{Client, Clock, Error, Kind, Request, RequestView, Response, Result};
use rules::CacheStatus;
use telemetry::{Exchange, Recorder};

use crate::observed::{self, Observed};
use crate::running::Local;

/// What one core answers with.
pub(crate) struct Core {
    pub(crate) store: Arc<Store>,
    /// Replaced by a reload.
    pub(crate) local: RefCell<Rc<Local>>,
    pub(crate) recorder: Rc<Recorder>,
}

/// What walking the rooms came to.
struct Walked {
    outcome: Result<Response>,
    cache: Option<CacheStatus>,
    waited: Option<Duration>,
    route: Option<Arc<str>>,
}

const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

impl Handler for Core {
    fn answer_fresh(&self, request: &RequestView<'_>, client: &Client, out: &mut Vec<u8>) -> Option<Bytes> {
        let local = self.local.borrow();
        let destination = local.running.router.find(request)?;
        let policy = destination.cache.as_ref()?;
        let started = Instant::now();
        let now = Clock::at(started);
        let entry = self.store.fresh(request, policy, now)?;
        let status = CacheStatus::hit(entry.terms().fresh_for(now));
        response::write_fresh_head(entry.head(), entry.terms().age(now), &status, out);
        let content = if *request.method == Method::HEAD { Bytes::new() } else { entry.body().clone() };
        let duration = started.elapsed();
        self.recorder.record(&Exchange {
            client,
            method: request.method,
            scheme: request.scheme,
            authority: request.authority,
            target: request.target,
            version: Version::HTTP_11,
            status: entry.status(),
            bytes: content.len() as u64,
            duration,
            head_time: duration,
            source_time: None,
            cache: Some(status),
            error: None,
            route: Some(&destination.route),
            user_agent: request.fields.first(&http::header::USER_AGENT),
            referer: request.fields.first(&http::header::REFERER),
        });
        Some(content)
    }

    async fn answer(&self, mut request: Request) -> Response {
        let mut observed = Observed::new(&request, Rc::clone(&self.recorder));
        observed::count_content(&mut request, &self.recorder);
        let walked = self.walk(request, observed.started()).await;
        observed.route = walked.route;
        observed.cache = walked.cache;
        observed.source_time = walked.waited;
        let mut response = match walked.outcome {
            Ok(response) => response,
            Err(error) => {
                let response = response::failure(&error);
                observed.error = Some(error);
                response
            }
        };
        if let (Some(status), true) = (&walked.cache, response.status != StatusCode::SWITCHING_PROTOCOLS) {
            append_cache_status(&mut response, status);
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
    async fn walk(&self, request: Request, started: Instant) -> Walked {
        let local = Rc::clone(&self.local.borrow());
        let nowhere = |error| Walked { outcome: Err(error), cache: None, waited: None, route: None };
        if request.method.as_str() == "PURGE" {
            // Caches behind us may obey it; whoever may purge does so on their admin ports.
            return nowhere(Error::new(Kind::MethodNotAllowed, "PURGE is not served on this port"));
        }
        let Some(destination) = local.running.router.find(&request.view()) else {
            return nowhere(if route::refuses(request.path()) {
                let detail =
                    "the path has dot segments, a backslash or control bytes; send it in its plain form";
                Error::new(Kind::MalformedRequest, detail)
            } else {
                Error::new(Kind::NoRoute, "no route matches this method, host and path")
            });
        };
        let source = &local.sources[destination.source];
        let route = Some(Arc::clone(&destination.route));
        let Some(policy) = &destination.cache else {
            // What it writes may be read, and so stored, by another route.
            let forgetting = Forgetting::of(&request);
            let outcome = source.send(request).await;
            if let (Some(forgetting), Ok(response)) = (&forgetting, &outcome) {
                forgetting.after(response, &self.store);
            }
            return Walked { outcome, cache: None, waited: Some(started.elapsed()), route };
        };
        let caching = Caching { store: &self.store, policy, call: source };
        // Boxed, so that requests that go straight through do not carry its memory about.
        let answer = Box::pin(caching.answer(request)).await;
        Walked { outcome: answer.outcome, cache: Some(answer.status), waited: answer.waited, route }
    }
}

/// Ours comes last: each cache on the way adds its own (RFC 9211 §2).
fn append_cache_status(response: &mut Response, status: &CacheStatus) {
    let mut text = Vec::with_capacity(64);
    status.write(&mut text);
    let value =
        HeaderValue::from_bytes(&text).expect("tokens, digits and separators are a valid field value");
    response.fields.append(CACHE_STATUS, value);
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
