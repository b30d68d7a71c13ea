//! Forgetting: what a request with an unsafe method makes out of date, once it has succeeded: its own URL, those its
//! answer names (RFC 9111 §4.4), and the groups it names (RFC 9875 §3). Called by `server` for every route, since a write
//! may take another one than the reads.

use http::{HeaderMap, Method};
use message::{Fields, Request, RequestView, Response, Scheme, Timestamp};
use plan::CachePolicy;

use crate::purge::{Purge, Scope};
use crate::store::Store;

/// What of a write must be remembered until its answer is here.
pub struct Forgetting {
    method: Method,
    scheme: Scheme,
    authority: Box<str>,
    target: Box<str>,
}

impl Forgetting {
    /// `None` for a method that only reads, also where only its route's policy says so.
    pub fn of(request: &Request, policy: Option<&CachePolicy>) -> Option<Box<Self>> {
        let reads = policy.is_some_and(|policy| policy.body_keys.post) && request.method == Method::POST;
        if reads || rules::invalidate::is_safe(&request.method) {
            return None;
        }
        Some(Box::new(Forgetting {
            method: request.method.clone(),
            scheme: request.scheme,
            authority: request.authority.clone(),
            target: request.target.clone(),
        }))
    }

    /// Whether the write has succeeded, so that it has consequences.
    pub fn is_due(response: &Response) -> bool {
        rules::invalidate::has_succeeded(response.status)
    }

    /// Forgets what the answer says is out of date now: nothing where the write failed. `keyed` tells under which target
    /// the route that reads would store a GET of this one.
    pub fn after(
        &self,
        response: &Response,
        store: &Store,
        now: Timestamp,
        keyed: impl Fn(&RequestView<'_>) -> Option<Box<str>>,
    ) {
        let no_fields = HeaderMap::new();
        let write = RequestView {
            method: &self.method,
            scheme: self.scheme,
            authority: &self.authority,
            target: &self.target,
            fields: Fields::Map(&no_fields),
        };
        for target in rules::invalidate::invalidated(&write, response.status, &response.fields) {
            let read = RequestView { method: &Method::GET, target: &target, ..write };
            let keyed = keyed(&read).filter(|keyed| *keyed != target);
            for target in keyed.into_iter().chain([target.clone()]) {
                let scope = Scope::Target { authority: self.authority.clone(), target };
                store.invalidate(&Purge { scope, soft: false }, now);
            }
        }
        if Self::is_due(response) {
            for group in rules::tags::invalidated_groups(&response.fields, &self.authority) {
                store.invalidate(&Purge { scope: Scope::Tag(group.into()), soft: false }, now);
            }
        }
    }
}
