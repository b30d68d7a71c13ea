//! Stack: what wraps a call: a gate, layers, outermost first, then an end. A route has one on each core; without gate and
//! layers it costs nothing.
//!
//! In: a request. Out: a response, at once where a layer or the end has it at hand ([`Stack::fresh`]), or by the whole way:
//! [`Stack::let_in`], then the call. The gate is no layer: whatever is done around a call, as forgetting after a write, is done
//! for requests that were let in, and requests of our own need not be. Made by `server` for each route; `layer` says what the
//! layers are and in which order they stand.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::Either;
use http::StatusCode;
use message::{CacheStatus, Call, Clock, Request, RequestView, Response, Result, Timestamp, Trip};

use crate::at_hand::AtHand;
use crate::cache::CacheLayer;
use crate::gate::Gate;
use crate::layer::Layer;

/// See the module. Clones are the same one.
pub struct Stack<E>(Rc<Inner<E>>);

struct Inner<E> {
    /// Whom it lets in; `None`: everybody.
    gate: Option<Arc<Gate>>,
    layers: Box<[Layer]>,
    end: E,
    /// Whether anything in it may have a response at hand.
    holds: bool,
}

/// The rest of a stack, from a layer on: what the layer before it calls, and what a fill keeps.
pub struct Below<E> {
    stack: Stack<E>,
    at: usize,
}

/// Where a stack ends.
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

/// A response that was at hand, its head written already.
pub struct Fresh {
    /// Its status.
    pub status: StatusCode,
    /// What a cache did.
    pub cache: Option<CacheStatus>,
    /// Its content, as far as the method gets any.
    pub content: Bytes,
}

impl<E: End> Stack<E> {
    /// Behind this gate, in their order, these layers around this end.
    pub fn new(gate: Option<Arc<Gate>>, cache: Option<CacheLayer>, end: E) -> Self {
        let layers = Layer::in_order(cache);
        let holds = end.holds() || layers.iter().any(Layer::holds);
        Stack(Rc::new(Inner { gate, layers: layers.into(), end, holds }))
    }

    /// Where it ends.
    pub fn end(&self) -> &E {
        &self.0.end
    }

    /// Whether any response may be at hand. Where none can, nobody need look at a clock.
    pub fn holds(&self) -> bool {
        self.0.holds
    }

    /// Whom it lets in; `None`: everybody.
    pub fn gate(&self) -> Option<&Gate> {
        self.0.gate.as_deref()
    }

    /// Lets a request in, and takes off what it was let in for, which is nobody's business behind the gate.
    ///
    /// # Errors
    /// It is not let in.
    pub fn let_in(&self, request: &mut Request, trip: &Trip) -> Result<()> {
        self.0.gate.as_ref().map_or(Ok(()), |gate| gate.let_in(request, trip))
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
        let mut request = *request;
        if let Some(gate) = &self.0.gate {
            // Whom it refuses, the longer way tells so.
            request.target = gate.admit(&request, sent, Clock::date()).ok()?;
        }
        let fresh = match self.0.layers.first() {
            // What it does not have takes the longer way, whatever lies below.
            Some(Layer::Cache(cache)) => cache.fresh(&request, now, at_hand, out)?,
            None => self.0.end.fresh(&request, now, at_hand, out)?,
        };
        Some((request, fresh))
    }
}

/// Behind the gate.
impl<E: End> Call for Stack<E> {
    fn call<'a>(&'a self, request: Request, trip: &'a mut Trip) -> impl Future<Output = Result<Response>> {
        match self.0.layers.first() {
            None => Either::Left(self.0.end.call(request, trip)),
            Some(layer) => Either::Right(layered(layer, Below { stack: self.clone(), at: 1 }, request, trip)),
        }
    }
}

impl<E: End> Call for Below<E> {
    fn call<'a>(&'a self, request: Request, trip: &'a mut Trip) -> impl Future<Output = Result<Response>> {
        match self.stack.0.layers.get(self.at) {
            None => Either::Left(self.stack.0.end.call(request, trip)),
            Some(layer) => {
                let below = Below { stack: self.stack.clone(), at: self.at + 1 };
                Either::Right(layered(layer, below, request, trip))
            }
        }
    }
}

/// One box for each layer, so that a stack of any height is one type.
fn layered<'a, E: End>(
    layer: &'a Layer,
    below: Below<E>,
    request: Request,
    trip: &'a mut Trip,
) -> Pin<Box<dyn Future<Output = Result<Response>> + 'a>> {
    match layer {
        Layer::Cache(cache) => Box::pin(async move { cache.call(request, &below, trip).await }),
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
mod tests {
    use std::cell::RefCell;

    use futures_util::FutureExt;
    use http::{HeaderMap, Method, Version};
    use message::{Body, Client, Interim, Kind, Scheme};
    use plan::{CachePolicy, Signed, SigningKey};

    use super::*;

    /// Notes what reaches it.
    #[derive(Clone, Default)]
    struct Noting(Rc<RefCell<Vec<Box<str>>>>);

    impl Call for Noting {
        async fn call<'a>(&'a self, request: Request, _: &'a mut Trip) -> Result<Response> {
            self.0.borrow_mut().push(request.target);
            Ok(Response::new(StatusCode::OK))
        }
    }

    impl End for Noting {
        fn holds(&self) -> bool {
            false
        }

        fn fresh(&self, _: &RequestView<'_>, _: Timestamp, _: &AtHand<'_>, _: &mut Vec<u8>) -> Option<Fresh> {
            None
        }
    }

    fn request() -> Request {
        Request {
            method: Method::POST,
            scheme: Scheme::Http,
            authority: "a.example".into(),
            target: "/x".into(),
            version: Version::HTTP_11,
            fields: HeaderMap::new(),
            body: Body::Empty,
            client: Client::NOBODY,
            interim: Interim::default(),
        }
    }

    fn signed() -> Arc<Gate> {
        let key = SigningKey { name: "main".to_owned(), secret: vec![7; 16] };
        Arc::new(Gate::new(&Signed { name: "p".to_owned(), keys: vec![key], cookie: None }))
    }

    fn cache() -> CacheLayer {
        CacheLayer {
            policy: Arc::new(CachePolicy::default()),
            names: Arc::new([]),
            source: "api".into(),
            store: cache::Store::new(1 << 20),
            link: None,
        }
    }

    /// What came of a call that waits for nobody.
    fn called(call: &impl Call) -> (Result<Response>, Trip) {
        let mut trip = Trip::default();
        let outcome = call.call(request(), &mut trip).now_or_never().expect("nothing in it waits");
        (outcome, trip)
    }

    #[test]
    fn without_a_layer_the_end_is_called_and_nothing_else_happens() {
        let end = Noting::default();
        let stack = Stack::new(None, None, end.clone());
        assert!(!stack.holds());
        let (outcome, trip) = called(&stack);
        assert!(outcome.is_ok() && trip.cache.is_none());
        assert_eq!(*end.0.borrow(), [Box::from("/x")]);
    }

    #[test]
    fn who_is_not_let_in_has_no_request_to_call_with() {
        let stack = Stack::new(Some(signed()), Some(cache()), Noting::default());
        let refused = stack.let_in(&mut request(), &Trip::default());
        assert_eq!(refused.unwrap_err().kind(), Kind::Forbidden);
    }

    #[test]
    fn requests_of_our_own_go_through_the_cache_without_being_let_in() {
        let end = Noting::default();
        let stack = Stack::new(Some(signed()), Some(cache()), end.clone());
        assert!(stack.holds());
        let (outcome, trip) = called(&stack);
        assert!(outcome.is_ok() && trip.cache.is_some());
        assert_eq!(end.0.borrow().len(), 1);
    }
}
