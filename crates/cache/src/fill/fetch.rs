//! Fetch: asking the origin, as the one who leads a fill, as one of those who follow it, or alone.
//!
//! Called by the steps in `answer`; the fetching itself is `filler`'s.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use http::{HeaderMap, Method, StatusCode};
use message::{Body, CacheStatus, Call, Clock, Error, Fwd, Kind, Request, RequestView, Response};
use plan::CachePolicy;
use rules::client_lifetime::{self, Audience};
use rules::{Encoding, RequestDirectives, Reuse, Terms};
use tokio::sync::oneshot;

use crate::answer::{Answer, Caching};
use crate::entry::draft::{audience, client_input};
use crate::entry::{Entry, Variant};
use crate::fill::filler::{Filler, Own};
use crate::fill::fills::FillRole;
use crate::fill::follower::Follower;
use crate::fill::follower_body::FollowerBody;
use crate::fill::keeper::Keeper;
use crate::fill::onward::Again;
use crate::fill::unshared::Asker;
use crate::fill::{ArrivingHead, Fill, FillNews, Settled};
use crate::key::Key;
use crate::lookup::{Lookup, find};
use crate::request::interest::Interest;

/// How often a request may find that the fill it joined fetches another variant before it fetches for itself.
pub(crate) const ROUNDS: usize = 3;

/// A request on its way to the origin.
pub(crate) struct Ask {
    /// As the origin gets it.
    pub(crate) request: Request,
    pub(crate) key: Key,
    /// The key names the user.
    pub(crate) personal: bool,
    /// The compressed form this client wants of what is stored.
    pub(crate) encoding: Option<Encoding>,
    pub(crate) interest: Interest,
    pub(crate) directives: RequestDirectives,
    pub(crate) stale: Option<Arc<Entry>>,
    /// Answers have not been for sharing lately.
    pub(crate) is_unshared: bool,
    pub(crate) fwd: Fwd,
}

impl Ask {
    /// Whether the client's own conditions are for the origin: nothing is stored that it could confirm, nor likely to be.
    fn keeps_conditions(&self, policy: &CachePolicy) -> bool {
        self.stale.is_none() && (self.is_unshared || self.has_credentials(policy))
    }

    /// Whether the origin may see who asks, and the key does not hold it: such answers are rarely for sharing.
    fn has_credentials(&self, policy: &CachePolicy) -> bool {
        let has_cookies = self.interest.cookie() && !policy.rules.cookies_keyed;
        !self.personal && (self.interest.authorization() || has_cookies)
    }

    pub(crate) fn asker(&self, policy: &CachePolicy) -> Asker {
        Asker { has_credentials: self.has_credentials(policy), insists: self.fwd == Fwd::Request }
    }
}

/// What the client who sets off a fetch may be given.
#[derive(Clone, Debug)]
pub(crate) struct Wishes {
    /// The key names the user.
    pub(crate) personal: bool,
    /// The request has `Authorization`.
    pub(crate) authorization: bool,
    pub(crate) directives: RequestDirectives,
    pub(crate) asker: Asker,
    /// The origin gets its conditions.
    pub(crate) conditions: bool,
}

impl Wishes {
    fn of(ask: &Ask, policy: &CachePolicy) -> Self {
        Wishes {
            personal: ask.personal,
            authorization: ask.interest.authorization(),
            directives: ask.directives,
            asker: ask.asker(policy),
            conditions: ask.keeps_conditions(policy),
        }
    }
}

enum Followed {
    Answer(Answer),
    /// The fill fetches another variant; this is ours.
    OtherVariant(Variant),
    /// The answer is not for sharing.
    Alone,
    /// It came to nothing.
    Again,
}

impl<C: Call> Caching<'_, C> {
    /// Asks the origin behind the client's back (RFC 5861 §3), unless somebody does already.
    pub(crate) fn refresh(&self, ask: &Ask, stale: &Arc<Entry>) {
        let wanted = stale.variant().cloned();
        if self.store.has_too_many_fetches() {
            return;
        }
        if let FillRole::Lead(fill) = self.store.fills.join(&ask.key.view(), wanted, &self.store.marks) {
            let mut background = ask.request.again();
            if background.method == Method::HEAD {
                background.parts_mut().method = Method::GET;
            }
            let wishes = Wishes { directives: RequestDirectives::default(), ..Wishes::of(ask, self.policy) };
            self.start(fill, &ask.key, wishes, background, Some(Arc::clone(stale)), None);
        }
    }

    fn start(
        &self,
        fill: Arc<Fill>,
        key: &Key,
        wishes: Wishes,
        request: Request,
        stale: Option<Arc<Entry>>,
        leader: Option<oneshot::Sender<Own>>,
    ) {
        // A range is asked for only where nothing is stored that a whole answer could refresh.
        let ranged = stale.is_none() && leader.is_some() && request.fields.contains_key(http::header::RANGE);
        let keeper = Keeper {
            store: Arc::clone(self.store),
            policy: Arc::clone(self.policy),
            key: key.clone(),
            link: self.link.cloned(),
            ours: RefCell::new(None),
            fill,
            stale,
        };
        let user = if wishes.personal { key.view().user_tag() } else { None };
        let filler = Filler { keeper, call: self.call.clone(), wishes, user, ranged };
        tokio::task::spawn_local(filler.run(request, leader));
    }

    /// One fetch per key and variant: whoever comes first leads, the others follow.
    pub(crate) async fn fill(&self, mut ask: Ask, mut wanted: Option<Variant>) -> Answer {
        let started = Instant::now();
        // Who has credentials rarely gets a shared answer: they wait for nobody, and nobody waits for them.
        let shares = self.policy.coalesce && !ask.has_credentials(self.policy);
        // What others may follow outlives its client; what is alone ends with it.
        if !shares || self.store.has_too_many_fetches() {
            return self.lead(self.alone(), ask, started).await;
        }
        for _ in 0..ROUNDS {
            let key = ask.key.view();
            match self.store.fills.join(&key, wanted.take(), &self.store.marks) {
                FillRole::Lead(fill) => {
                    // Somebody may have finished between our look and our joining.
                    let (fields, now) = (ask.request.view().fields, Clock::now());
                    let found = find(self.store, &key, fields, ask.interest, &ask.directives, None, now);
                    if let Lookup::Usable { entry, refresh: false } = found {
                        self.store.fills.remove(&key, &fill);
                        fill.settle(Settled::Entry(Arc::clone(&entry)));
                        let status = CacheStatus::hit(entry.terms().fresh_for(now));
                        return Answer::stored(&ask.request.view(), ask.encoding, &entry, status);
                    }
                    return self.lead(fill, ask, started).await;
                }
                FillRole::Follow(fill) => match self.follow(&fill, &ask, started).await {
                    Followed::Answer(answer) => return answer,
                    Followed::OtherVariant(variant) => wanted = Some(variant),
                    Followed::Alone => {
                        ask.is_unshared = true;
                        break;
                    }
                    Followed::Again => {}
                },
            }
        }
        self.lead(self.alone(), ask, started).await
    }

    pub(crate) async fn lead(&self, fill: Arc<Fill>, ask: Ask, started: Instant) -> Answer {
        let wishes = Wishes::of(&ask, self.policy);
        let Ask { request, key, encoding, directives, stale, fwd, .. } = ask;
        let asked = Rc::new(request.head_only());
        let follower = Follower::new(&fill);
        let (sender, own) = oneshot::channel();
        self.start(fill, &key, wishes, request, stale, Some(sender));
        let status = CacheStatus::forward(fwd);
        match own.await {
            Ok(Own::Answer { mut response, stored }) => {
                let mut status = status.answered(response.status);
                self.cut_lifetime(&mut response.fields, stored.as_ref().ok());
                match stored {
                    Ok(_) => status.stored = true,
                    Err(reason) => status.detail = Some(reason),
                }
                let outcome = Ok(response::conditional(&asked.view(), response));
                return Answer { outcome, status, waited: Some(started.elapsed()) };
            }
            Ok(Own::Confirmed(entry)) => {
                return Answer::stored(&asked.view(), encoding, &entry, confirmed(status)).waited(started);
            }
            Ok(Own::Trouble { mut response, stale }) => {
                self.cut_lifetime(&mut response.fields, None);
                let status = status.answered(response.status);
                let answer = match stale.filter(|entry| may_bridge(entry, &directives, None)) {
                    Some(entry) => bridged(&asked.view(), encoding, &entry, status),
                    None => Answer { outcome: Ok(response), status, waited: None },
                };
                return answer.waited(started);
            }
            Err(_) => {}
        }
        // Without an answer of its own the leader learns what the followers learn.
        match follower.news().await {
            FillNews::Settled(Settled::Entry(entry)) => {
                Answer::stored(&asked.view(), encoding, &entry, confirmed(status)).waited(started)
            }
            FillNews::Settled(Settled::Shared(entry)) => {
                Answer::stored(&asked.view(), encoding, &entry, of_another_instance(&entry)).waited(started)
            }
            FillNews::Settled(Settled::Failed { error: Some(error), stale }) => {
                failed(&asked.view(), encoding, &directives, error, stale, status).waited(started)
            }
            FillNews::Settled(Settled::Failed { error: None, .. } | Settled::Alone | Settled::Value(_))
            | FillNews::Arriving(_) => {
                let error = Error::new(Kind::Internal, "the fetch ended without an answer");
                Answer { outcome: Err(error), status, waited: None }.waited(started)
            }
        }
    }

    /// Whether the answer may repeat something of the leader's request that this one does not have: then it is looked
    /// through before anybody else gets it.
    fn may_be_repeated(&self, head: &ArrivingHead, ask: &Ask) -> bool {
        let other = |fingerprint| fingerprint != rules::reflection::fingerprint(&client_input(&ask.request));
        self.policy.key.reflected && head.fingerprint.is_some_and(other)
    }

    async fn follow(&self, fill: &Arc<Fill>, ask: &Ask, started: Instant) -> Followed {
        let follower = Follower::new(fill);
        let view = ask.request.view();
        let status = CacheStatus { collapsed: true, ..CacheStatus::forward(ask.fwd) };
        let answer = match follower.news().await {
            FillNews::Arriving(head) => match other_variant(head.draft.variant.as_ref(), &view) {
                Some(variant) => return Followed::OtherVariant(variant),
                None if self.may_be_repeated(&head, ask) => {
                    let Some(entry) = follower.done().await else {
                        return match self.find(ask, Clock::now()) {
                            Lookup::AskAlone => Followed::Alone,
                            _ => Followed::Again,
                        };
                    };
                    match other_variant(entry.variant(), &view) {
                        Some(variant) => return Followed::OtherVariant(variant),
                        None => Answer::stored(&view, ask.encoding, &entry, status.answered(entry.status())),
                    }
                }
                None => {
                    let again = fill.may_leave_behind().then(|| Again::new(self.call, &ask.request));
                    Self::arriving(&view, follower, &head, again, status)
                }
            },
            FillNews::Settled(Settled::Entry(entry)) => match other_variant(entry.variant(), &view) {
                Some(variant) => return Followed::OtherVariant(variant),
                None => Answer::stored(&view, ask.encoding, &entry, confirmed(status)),
            },
            FillNews::Settled(Settled::Shared(entry)) => {
                if let Some(variant) = other_variant(entry.variant(), &view) {
                    return Followed::OtherVariant(variant);
                }
                // It may be as old as any that is stored, which will do for the leader and not for everyone.
                let authorization = ask.interest.authorization();
                if entry.terms().reuse(&ask.directives, authorization, Clock::now()) != Reuse::Fresh {
                    return Followed::Again;
                }
                let status = CacheStatus { collapsed: true, ..of_another_instance(&entry) };
                Answer::stored(&view, ask.encoding, &entry, status)
            }
            FillNews::Settled(Settled::Alone | Settled::Value(_)) => return Followed::Alone,
            // It was the leader who had asked too often.
            FillNews::Settled(Settled::Failed { error: Some(error), .. })
                if error.kind() == Kind::RateLimited =>
            {
                return Followed::Again;
            }
            FillNews::Settled(Settled::Failed { error, stale }) => {
                // Another variant's stale answer is not ours.
                let stale = stale.filter(|entry| entry.matches(view.fields));
                match error {
                    Some(error) => failed(&view, ask.encoding, &ask.directives, error, stale, status),
                    // What the origin said instead is the leader's.
                    None => match stale.filter(|entry| may_bridge(entry, &ask.directives, None)) {
                        Some(entry) => bridged(&view, ask.encoding, &entry, status),
                        None => return Followed::Alone,
                    },
                }
            }
        };
        self.store.counters.coalesced();
        Followed::Answer(answer.waited(started))
    }
}

impl<C: Call> Caching<'_, C> {
    /// A follower's answer while the content is still arriving.
    fn arriving(
        request: &RequestView<'_>,
        follower: Follower,
        head: &Arc<ArrivingHead>,
        again: Option<Again>,
        status: CacheStatus,
    ) -> Answer {
        let draft = &head.draft;
        let status = status.answered(draft.status);
        let now = Clock::now();
        let mut fields = draft.fields.clone();
        let age = draft.terms.age(now);
        if age > 0 {
            fields.insert(http::header::AGE, age.into());
        }
        if let Some(mut lifetime) = draft.client_lifetime.clone() {
            if head.fingerprint.is_some() {
                lifetime.give_to(Audience::Some);
            }
            lifetime.apply(&mut fields, age, draft.terms.fresh_for(now));
        }
        let body = Body::stream(FollowerBody::new(follower, head, again));
        let response = Response { status: draft.status, fields, body };
        Answer { outcome: Ok(response::conditional(request, response)), status, waited: None }
    }

    /// What the client is told of the lifetime of an answer that comes straight from the origin; `terms`: those on which
    /// it is stored.
    pub(crate) fn cut_lifetime(&self, fields: &mut HeaderMap, terms: Option<&Terms>) {
        let Some(most) = self.policy.rules.client_ttl else { return };
        match terms {
            Some(terms) => {
                let now = Clock::now();
                let audience = if self.policy.key.reflected {
                    // Nobody knows yet what of the request it repeats.
                    Audience::Some
                } else {
                    audience(fields, None, self.policy)
                };
                client_lifetime::cut(fields, most, terms.age(now), terms.fresh_for(now), audience);
            }
            None => client_lifetime::lower(fields, most),
        }
    }
}

/// The variant this request wants, where it is not the one given.
fn other_variant(variant: Option<&Variant>, request: &RequestView<'_>) -> Option<Variant> {
    variant.filter(|v| !v.matches(request.fields)).map(|v| Variant::of(&v.names, request.fields))
}

/// The origin confirmed what is stored.
fn confirmed(status: CacheStatus) -> CacheStatus {
    status.answered(StatusCode::NOT_MODIFIED)
}

/// Another instance asked the origin meanwhile.
pub(crate) fn of_another_instance(entry: &Entry) -> CacheStatus {
    CacheStatus { detail: Some("shared"), ..CacheStatus::hit(entry.terms().fresh_for(Clock::now())) }
}

/// The origin failed: a stale answer where the rules and this request allow it, or else the error.
pub(crate) fn failed(
    request: &RequestView<'_>,
    encoding: Option<Encoding>,
    directives: &RequestDirectives,
    error: Error,
    stale: Option<Arc<Entry>>,
    status: CacheStatus,
) -> Answer {
    match stale.filter(|entry| may_bridge(entry, directives, Some(&error))) {
        Some(entry) => bridged(request, encoding, &entry, status),
        None => Answer { outcome: Err(error), status, waited: None },
    }
}

/// Whether the stale answer may stand in for an error (RFC 9111 §4.2.4), or, without one, for an error status (RFC 5861
/// §4).
pub(crate) fn may_bridge(stale: &Entry, directives: &RequestDirectives, error: Option<&Error>) -> bool {
    let now = Clock::now();
    stale.terms().may_serve_on_error(directives, now)
        || (error.is_some_and(Error::is_disconnection)
            && stale.terms().may_serve_disconnected(directives, now))
}

fn bridged(
    request: &RequestView<'_>,
    encoding: Option<Encoding>,
    stale: &Arc<Entry>,
    status: CacheStatus,
) -> Answer {
    Answer::stored(request, encoding, stale, stale_if_error(stale, status))
}

/// A stale answer stands in for one that failed.
pub(crate) fn stale_if_error(stale: &Entry, status: CacheStatus) -> CacheStatus {
    let ttl = Some(stale.terms().fresh_for(Clock::now()));
    CacheStatus { ttl, detail: Some(CacheStatus::STALE_IF_ERROR), ..status }
}
