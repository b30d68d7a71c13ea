//! Forgetting: what a request with an unsafe method makes out of date, once it has succeeded (RFC 9111 §4.4). Used for
//! requests on cached routes and, by `server`, on those that are not: a write may take another route than the reads.

use http::{HeaderMap, Method};
use message::{Fields, Request, RequestView, Response, Scheme};

use crate::key::KeyView;
use crate::store::Store;

/// What of a write must be remembered until its answer is here.
pub struct Forgetting {
    method: Method,
    scheme: Scheme,
    authority: Box<str>,
    target: Box<str>,
}

impl Forgetting {
    /// `None` for a method that only reads.
    pub fn of(request: &Request) -> Option<Box<Self>> {
        if rules::invalidate::is_safe(&request.method) {
            return None;
        }
        Some(Box::new(Forgetting {
            method: request.method.clone(),
            scheme: request.scheme,
            authority: request.authority.clone(),
            target: request.target.clone(),
        }))
    }

    /// Forgets what the answer says is out of date now: nothing where the write failed.
    pub fn after(&self, response: &Response, store: &Store) {
        let no_fields = HeaderMap::new();
        let request = RequestView {
            method: &self.method,
            scheme: self.scheme,
            authority: &self.authority,
            target: &self.target,
            fields: Fields::Map(&no_fields),
        };
        for target in rules::invalidate::invalidated(&request, response.status, &response.fields) {
            store.invalidate(&KeyView { target: &target, ..KeyView::of(&request) });
        }
    }
}
