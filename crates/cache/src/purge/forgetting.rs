//! Forgetting: what a request with an unsafe method makes out of date, once it has succeeded: its own URL, those its
//! answer names (RFC 9111 §4.4), and the groups it names (RFC 9875 §3). Called by `server` for every route, since a write
//! may take another one than the reads.

use http::{HeaderMap, Method};
use message::{CacheStatus, Fields, Request, RequestView, Response, Scheme, Timestamp};
use plan::CachePolicy;

use crate::purge::{Purge, Scope};
use crate::store::Store;

/// What of a write must be remembered until its answer is here.
pub struct Forgetting {
    method: Method,
    scheme: Scheme,
    authority: Box<str>,
    target: Box<str>,
    judged: Judged,
}

/// Who says whether it is a write.
#[derive(Clone, Copy)]
enum Judged {
    /// The method.
    Method,
    /// Its content, as GraphQL: whatever is no query beyond doubt.
    Operation,
    /// The policy, which says that it reads; but a mutation is one.
    Policy,
}

impl Forgetting {
    /// The details of requests that are not looked up for what their content is.
    pub(crate) const MUTATION: &'static str = "mutation";
    pub(crate) const UNCLEAR: &'static str = "no-query";
    pub(crate) const OVERRIDDEN: &'static str = "method-override";
    pub(crate) const TOO_LONG: &'static str = "content-too-long";

    /// `None` for a method that only reads.
    pub fn of(request: &Request, policy: Option<&CachePolicy>) -> Option<Box<Self>> {
        if rules::invalidate::is_safe(&request.method) {
            return None;
        }
        let judged = match policy.map(|policy| &policy.body_keys) {
            Some(keys) if keys.graphql && request.method == Method::POST => Judged::Operation,
            Some(keys) if keys.post && request.method == Method::POST => Judged::Policy,
            Some(_) | None => Judged::Method,
        };
        Some(Box::new(Forgetting {
            judged,
            method: request.method.clone(),
            scheme: request.scheme,
            authority: request.authority.clone(),
            target: request.target.clone(),
        }))
    }

    /// Whether it was a write and has succeeded, so that it has consequences. `status` says what the cache did with it.
    pub fn is_due(&self, response: &Response, status: Option<&CacheStatus>) -> bool {
        let detail = status.and_then(|status| status.detail);
        let is_write = match self.judged {
            Judged::Method => true,
            Judged::Operation => {
                matches!(detail, Some(Self::MUTATION | Self::UNCLEAR | Self::OVERRIDDEN | Self::TOO_LONG))
            }
            Judged::Policy => matches!(detail, Some(Self::MUTATION | Self::OVERRIDDEN)),
        };
        is_write && rules::invalidate::has_succeeded(response.status)
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
            client: None,
        };
        for target in rules::invalidate::invalidated(&write, response.status, &response.fields) {
            let read = RequestView { method: &Method::GET, target: &target, ..write };
            let keyed = keyed(&read).filter(|keyed| *keyed != target);
            for target in keyed.into_iter().chain([target.clone()]) {
                let scope = Scope::Target { authority: self.authority.clone(), target };
                store.invalidate(&Purge { scope, soft: false }, now);
            }
        }
        if rules::invalidate::has_succeeded(response.status) {
            for group in rules::tags::invalidated_groups(&response.fields, &self.authority) {
                store.invalidate(&Purge { scope: Scope::Tag(group.into()), soft: false }, now);
            }
        }
    }
}
