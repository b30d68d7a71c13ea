//! Cache: the layer that answers again what may be answered again. The deciding and storing is the crate `cache`'s; here it
//! is tied to one place: its policy, its names, what lies below.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use cache::{Caching, CachingValues, Forgetting, Look, Store};
use http::Method;
use message::{
    Ask, CacheStatus, Call, Clock, Error, Kind, Request, RequestView, Response, Result, Timestamp, Trip,
};
use plan::CachePolicy;
use redis_link::Link;
use response::Saying;
use source::{Value, ValueCall};

use crate::stack::at_hand::{AtHand, Fresh};

/// See the module. One for each place and core.
pub struct CacheLayer {
    /// What it may do.
    pub policy: Arc<CachePolicy>,
    /// What the route calls the segments of its path.
    pub names: Arc<[Option<Box<str>>]>,
    /// The name of the source behind it, which keys hold.
    pub source: Box<str>,
    /// Shared by all cores.
    pub store: Arc<Store>,
    /// This core's way to the tier that instances share.
    pub link: Option<Link>,
    /// Whether what was given last stands in for whatever fails: then no error takes its place.
    pub stands_in: bool,
    /// Whether it forgets by itself what writes on their way through make out of date: they come here by another URL than the
    /// client's, and of those nobody else knows.
    pub forgets: bool,
}

/// What can be kept and given again.
pub trait Cacheable: Ask {
    /// From what is stored, or from what lies below.
    fn through(
        self,
        cache: &CacheLayer,
        below: &impl Call<Self>,
        trip: &mut Trip,
    ) -> impl Future<Output = Result<Self::Answer>>;
}

impl CacheLayer {
    async fn answer(&self, request: Request, below: &impl Call, trip: &mut Trip) -> Result<Response> {
        let CacheLayer { policy, names, source, store, link, .. } = self;
        let caching = Caching { store, policy, names, source, link: link.as_ref(), call: below };
        let write = if self.forgets { Forgetting::of(&request, Some(policy)) } else { None };
        let answer = caching.answer(request).await;
        if let (Some(write), Ok(response)) = (write, &answer.outcome)
            && write.is_due(response, Some(&answer.status))
        {
            let keyed =
                |read: &RequestView<'_>| store.keyed_target(&Look { request: read, policy, names, source });
            write.after(response, store, Clock::now(), |read| Some(keyed(read)));
        }
        trip.cache = Some(answer.status);
        trip.source_time = answer.waited;
        answer.outcome
    }

    /// From memory, where a fresh entry is there: its bytes go out as they are.
    pub(crate) fn fresh(
        &self,
        request: &RequestView<'_>,
        now: Timestamp,
        at_hand: &AtHand<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Fresh> {
        let policy = &self.policy;
        let look = Look { request, policy, names: &self.names, source: &self.source };
        let fresh = self.store.fresh(&look, now, &mut at_hand.keys.borrow_mut())?;
        let entry = &fresh.entry;
        let fresh_for = entry.terms().fresh_for(now);
        let status = CacheStatus::hit(fresh_for);
        let (head, body) = match fresh.encoded() {
            Some(encoded) => (encoded.head(), encoded.body()),
            None => (entry.head(), entry.body()),
        };
        let saying = Saying { form: policy.status_form, id: at_hand.cache_id };
        let age = entry.terms().age(now);
        response::write_fresh_head(head, age, &status, saying, out);
        if let Some(lifetime) = entry.client_lifetime() {
            lifetime.write(age, fresh_for, out);
        }
        let content = if *request.method == Method::HEAD { Bytes::new() } else { body.clone() };
        Some(Fresh { status: entry.status(), cache: Some(status), content })
    }
}

impl Cacheable for Request {
    async fn through(self, cache: &CacheLayer, below: &impl Call, trip: &mut Trip) -> Result<Response> {
        if cache.stands_in {
            return cache.answer(self, &Successes(below.clone()), trip).await;
        }
        cache.answer(self, below, trip).await
    }
}

impl Cacheable for ValueCall {
    async fn through(
        self,
        cache: &CacheLayer,
        below: &impl Call<ValueCall>,
        trip: &mut Trip,
    ) -> Result<Value> {
        let CacheLayer { policy, source, store, link, .. } = cache;
        let caching = CachingValues { store, policy, source, link: link.as_ref() };
        let identity = self.call.path();
        // What stands in below is given where there is nothing better here, and not kept.
        let standing_in = Rc::new(RefCell::new(None));
        let (below, found) = (below.clone(), Rc::clone(&standing_in));
        let ask = || async move {
            let value = below.call(self, &mut Trip::default()).await?;
            if value.is_stale {
                found.replace(Some(value));
                return Err(Error::new(Kind::ReadUnavailable, "an earlier value stands in already"));
            }
            Ok(value.json)
        };
        let cached = caching.value(&identity, ask).await;
        trip.cache = Some(cached.status);
        trip.source_time = cached.waited;
        match (cached.outcome, standing_in.take()) {
            (Ok(json), _) => Ok(Value { json, is_stale: cached.status.stands_in() }),
            (Err(_), Some(value)) => Ok(value),
            (Err(error), None) => Err(error),
        }
    }
}

/// What lies below, where no answer counts that says it failed.
#[derive(Clone)]
struct Successes<C>(C);

impl<C: Call> Call for Successes<C> {
    async fn call<'a>(&'a self, request: Request, trip: &'a mut Trip) -> Result<Response> {
        let response = self.0.call(request, trip).await?;
        if response.status.is_client_error() || response.status.is_server_error() {
            return Err(source::refused(response.status));
        }
        Ok(response)
    }
}
