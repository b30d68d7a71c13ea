//! Invalidating: what a write makes the cache forget: what its answer and RFC 9111 §4.4 say, and what its route's
//! `invalidate` rules name. Called by the handler for every route, since a write may take another one than the reads.

use cache::{Forgetting, Purge, Scope, Store};
use http::{HeaderMap, Method};
use message::{CacheStatus, Clock, Fields, Request, RequestView, Response, Scheme};
use plan::InvalidateTarget;
use rules::path::{Target, normalized};
use telemetry::Recorder;

use crate::walk::local::Local;
use crate::walk::running::{Destination, Running};

/// What of a write must be remembered until its answer is here.
pub(crate) struct Invalidating {
    forgetting: Box<Forgetting>,
    purges: Vec<Purge>,
}

impl Invalidating {
    /// `None` for a request that only reads.
    pub(crate) fn of(
        request: &Request,
        destination: &Destination,
        running: &Running,
        store: &Store,
    ) -> Option<Self> {
        let forgetting = Forgetting::of(request, destination.cache.as_deref())?;
        let view = request.view();
        let context = expression::Context::of_request(&view, &destination.names);
        let purges = destination.invalidate.iter().filter_map(|rule| {
            let (InvalidateTarget::Url(template)
            | InvalidateTarget::Prefix(template)
            | InvalidateTarget::Tag(template)) = &rule.target;
            let mut text = Vec::new();
            // Where a value is missing, nothing is known to be out of date.
            let is_path =
                !matches!(rule.target, InvalidateTarget::Tag(_)) && template.text().starts_with('/');
            // A value that is a part of a path stays one, encoded as requests have it; a whole path comes as it is.
            let is_written = if is_path {
                template.write_target(&context, &mut text).is_ok()
            } else {
                template.write(&context, &mut text)
            };
            if !is_written {
                return None;
            }
            let text = String::from_utf8(text).ok()?;
            let scope = match rule.target {
                InvalidateTarget::Url(_) => url(text, request, running, store)?,
                InvalidateTarget::Prefix(_) => prefix(text, &request.authority)?,
                InvalidateTarget::Tag(_) => tag(text)?,
            };
            Some(Purge { scope, soft: rule.soft })
        });
        Some(Invalidating { purges: purges.collect(), forgetting })
    }

    /// Forgets, where the write succeeded.
    pub(crate) fn after(
        self,
        response: &Response,
        status: Option<&CacheStatus>,
        local: &Local,
        store: &Store,
        recorder: &Recorder,
    ) {
        if !self.forgetting.is_due(response, status) {
            return;
        }
        let now = Clock::now();
        self.forgetting.after(response, store, now, |read| {
            Some(keyed(&local.running, store, read, |destination, sent| {
                local.stacks[destination.number].known_as(sent)
            }))
        });
        for purge in self.purges {
            recorder.purged(admin::kind_of(&purge.scope), purge.soft);
            store.invalidate(&purge, now);
        }
    }
}

/// A path with all its queries, or with the one written.
fn url(text: String, request: &Request, running: &Running, store: &Store) -> Option<Scope> {
    let authority = request.authority.clone();
    if !text.starts_with('/') {
        return None;
    }
    if !text.contains('?') {
        return Some(Scope::Path { authority, path: normalized(&text).into() });
    }
    let target = keyed_target(running, store, request.scheme, &authority, &text);
    Some(Scope::Target { authority, target })
}

fn prefix(text: String, authority: &str) -> Option<Scope> {
    text.starts_with('/')
        .then(|| Scope::Prefix { authority: Some(authority.into()), path: normalized(&text).into() })
}

fn tag(text: String) -> Option<Scope> {
    ((1..=rules::tags::LONGEST).contains(&text.len())).then(|| Scope::Tag(text.into()))
}

/// What of a URL counts for the route that would answer a GET of it.
pub(crate) fn keyed_target(
    running: &Running,
    store: &Store,
    scheme: Scheme,
    authority: &str,
    target: &str,
) -> Box<str> {
    let no_fields = HeaderMap::new();
    let fields = Fields::Map(&no_fields);
    let read = RequestView { method: &Method::GET, scheme, authority, target, fields, client: None };
    // It is named as the cache knows it.
    keyed(running, store, &read, |_, target| Some(target.into()))
}

/// `known_as` tells by which target the cache of a route knows what is asked for by another.
fn keyed(
    running: &Running,
    store: &Store,
    request: &RequestView<'_>,
    known_as: impl Fn(&Destination, &str) -> Option<Box<str>>,
) -> Box<str> {
    let Some(target) = Target::read(request.target) else { return request.target.into() };
    let found = running.router.find(request.method, request.host(), &target).ok();
    let keyed = found.and_then(|destination| {
        let policy = destination.cache.as_deref()?;
        let target = known_as(destination, target.as_str())?;
        Some(store.keyed_target(&destination.look(&RequestView { target: &target, ..*request }, policy)))
    });
    keyed.unwrap_or_else(|| target.as_str().into())
}
