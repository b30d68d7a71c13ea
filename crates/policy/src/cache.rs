//! Cache: the layer that answers again what may be answered again. The deciding and storing is the crate `cache`'s; here it
//! is tied to one place: its policy, its names, what lies below.

use std::sync::Arc;

use bytes::Bytes;
use cache::{Caching, Look, Store};
use http::Method;
use message::{CacheStatus, Call, Request, RequestView, Response, Result, Timestamp, Trip};
use plan::CachePolicy;
use redis_link::Link;
use response::Saying;

use crate::at_hand::AtHand;
use crate::stack::Fresh;

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
}

impl CacheLayer {
    /// From what is stored, or from what lies below.
    pub(crate) async fn call(
        &self,
        request: Request,
        below: &impl Call,
        trip: &mut Trip,
    ) -> Result<Response> {
        let CacheLayer { policy, names, source, store, link } = self;
        let caching = Caching { store, policy, names, source, link: link.as_ref(), call: below };
        let answer = caching.answer(request).await;
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
