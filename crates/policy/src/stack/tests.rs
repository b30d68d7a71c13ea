//! A stack without layers, behind a gate, and for requests of our own.

use std::cell::RefCell;

use futures_util::FutureExt;
use http::{HeaderMap, Method, StatusCode, Version};
use message::{Client, Kind, RequestParts, Response, Scheme};
use plan::{CachePolicy, Signed, SigningKey};

use super::*;
use crate::remedies::cache::CacheLayer;

/// Notes what reaches it.
#[derive(Clone, Default)]
struct Noting(Rc<RefCell<Vec<Box<str>>>>);

impl Call for Noting {
    async fn call<'a>(&'a self, request: Request, _: &'a mut Trip) -> Result<Response> {
        self.0.borrow_mut().push(request.target.clone());
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
    Request::new(RequestParts {
        method: Method::POST,
        scheme: Scheme::Http,
        authority: "a.example".into(),
        target: "/x".into(),
        version: Version::HTTP_11,
        fields: HeaderMap::new(),
        client: Client::NOBODY,
    })
}

fn signed() -> Option<Arc<Gate>> {
    let key = SigningKey { name: "main".to_owned(), secret: vec![7; 16] };
    Gate::new(Some(&Signed { name: "p".to_owned(), keys: vec![key], cookie: None }), Vec::new())
}

fn cache() -> Vec<Layer> {
    vec![Layer::Cache(Box::new(CacheLayer {
        policy: Arc::new(CachePolicy::default()),
        names: Arc::new([]),
        source: "api".into(),
        store: cache::Store::new(1 << 20),
        link: None,
        stands_in: false,
        forgets: false,
    }))]
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
    let stack = Stack::new(None, Vec::new(), end.clone());
    assert!(!stack.holds());
    let (outcome, trip) = called(&stack);
    assert!(outcome.is_ok() && trip.cache.is_none());
    assert_eq!(*end.0.borrow(), [Box::from("/x")]);
}

#[test]
fn who_is_not_let_in_has_no_request_to_call_with() {
    let stack = Stack::new(signed(), cache(), Noting::default());
    let refused = stack.let_in(&mut request(), &Trip::default()).now_or_never();
    let refused = refused.expect("a signature waits for nobody");
    assert_eq!(refused.unwrap_err().kind(), Kind::Forbidden);
}

#[test]
fn requests_of_our_own_go_through_the_cache_without_being_let_in() {
    let end = Noting::default();
    let stack = Stack::new(signed(), cache(), end.clone());
    assert!(stack.holds());
    let (outcome, trip) = called(&stack);
    assert!(outcome.is_ok() && trip.cache.is_some());
    assert_eq!(end.0.borrow().len(), 1);
}
