//! Answer: a request on a cached route, as a short list of steps.
//!
//! ```text
//! pass ◄── not a look-up (method, content, If-Match, Upgrade)
//!  find ──► usable ──► serve (and refresh in the background)
//!   └─► ask: only-if-cached ──► 504
//!            HEAD, Range, no-store ──► pass, and learn from the answer
//!            otherwise ──► join the fill: lead, follow, or go alone
//! ```
//!
//! Called by `server` for whatever [`Store::fresh`] did not answer. The call below is the route's source.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use message::{Body, Call, Clock, Error, Fields, Kind, Request, RequestView, Response, Result, Timestamp};
use plan::CachePolicy;
use rules::{CacheStatus, Exchange, Fwd, Ranges, RequestDirectives, Reuse};
use tokio::sync::oneshot;

use crate::entry::{Entry, Variant};
use crate::fill::{ArrivingHead, Fill, Follower, News, Settled};
use crate::filler::{Filler, Own};
use crate::fills::Place;
use crate::follower_body::FollowerBody;
use crate::forgetting::Forgetting;
use crate::interest::Interest;
use crate::key::KeyView;
use crate::lookup::{Found, find};
use crate::renewal::renew;
use crate::store::Store;

/// An answer and how it came about.
pub struct Answer {
    /// The response, or why there is none.
    pub outcome: Result<Response>,
    /// What the cache did, for `Cache-Status`, metrics and the log.
    pub status: CacheStatus,
    /// Time spent waiting for the source's head, where it was asked.
    pub waited: Option<Duration>,
}

/// One route's cache on this core.
pub struct Caching<'a, C> {
    /// Shared by all cores.
    pub store: &'a Arc<Store>,
    /// The route's policy.
    pub policy: &'a Arc<CachePolicy>,
    /// What lies behind the cache.
    pub call: &'a C,
}

/// How often a request may find that the fill it joined fetches another variant before it fetches for itself.
const ROUNDS: usize = 3;

impl<C: Call> Caching<'_, C> {
    /// See the module.
    pub async fn answer(&self, request: Request) -> Answer {
        self.decide(request).await.concise()
    }

    async fn decide(&self, mut request: Request) -> Answer {
        // The source would do it, after the variant was chosen by a field that the origin never saw.
        rules::hop_by_hop::strip_named(&mut request.fields);
        let interest = Interest::of(request.view().fields);
        if !matches!(request.method, Method::GET | Method::HEAD) {
            return self.pass(request, CacheStatus::forward(Fwd::Method)).await;
        }
        if !request.body.is_empty() {
            // Content of a GET is not part of the key, so an origin that reads it could poison the entry.
            return self.pass(request, CacheStatus::forward(Fwd::Bypass).because("content")).await;
        }
        if interest.skips_lookup() {
            return self.pass(request, CacheStatus::forward(Fwd::Bypass).because("condition")).await;
        }
        let directives = interest.directives(request.view().fields, self.policy);
        let now = Clock::now();
        match find(self.store, &request.view(), interest, &directives, now) {
            Found::Usable { entry, refresh } => {
                if refresh {
                    self.refresh(&request, &entry);
                }
                Answer::stored(&request.view(), &entry, CacheStatus::hit(entry.terms().fresh_for(now)))
            }
            Found::Ask { .. } | Found::AskAlone if directives.only_if_cached => {
                let error = Error::new(
                    Kind::OnlyIfCached,
                    "nothing usable is stored and only-if-cached forbids asking",
                );
                Answer { outcome: Err(error), status: CacheStatus::forward(Fwd::Request), waited: None }
            }
            Found::Ask { stale, fwd, .. } if request.method == Method::HEAD => {
                self.head(request, &directives, stale, fwd).await
            }
            Found::AskAlone if request.method == Method::HEAD => {
                self.head(request, &directives, None, Fwd::UriMiss).await
            }
            Found::Ask { .. } | Found::AskAlone if directives.no_store => {
                self.pass(request, CacheStatus::forward(Fwd::Request).because("no-store")).await
            }
            Found::Ask { stale: None, fwd, .. } if interest.range() => {
                self.range(Ask { request, interest, directives, stale: None, fwd }).await
            }
            Found::AskAlone => {
                let ask = Ask { request, interest, directives, stale: None, fwd: Fwd::UriMiss };
                self.lead(Fill::alone(), ask, Instant::now()).await
            }
            Found::Ask { stale, fwd, vary } => {
                let wanted = (!vary.is_empty()).then(|| Variant::of(&vary, request.view().fields));
                let ask = Ask { request, interest, directives, stale, fwd };
                self.fill(ask, wanted).await
            }
        }
    }

    /// Straight to the source, nothing read or stored; an unsafe method that succeeds makes us forget (§4.4).
    async fn pass(&self, request: Request, status: CacheStatus) -> Answer {
        let forgetting = Forgetting::of(&request);
        let started = Instant::now();
        let outcome = self.call.call(request).await;
        if let (Some(forgetting), Ok(response)) = (&forgetting, &outcome) {
            forgetting.after(response, self.store);
        }
        Answer { outcome, status, waited: Some(started.elapsed()) }
    }

    /// HEAD never fills GET, but what it tells updates what is stored, or shows that it is outdated (§4.3.5).
    async fn head(
        &self,
        request: Request,
        directives: &RequestDirectives,
        stored: Option<Arc<Entry>>,
        fwd: Fwd,
    ) -> Answer {
        let asked = request.head_only();
        let requested_at = Clock::now();
        let answer = self.pass(request, CacheStatus::forward(fwd)).await;
        let Some(entry) = stored else { return answer };
        match answer.outcome {
            Ok(response) => {
                self.learn_from_head(&asked, &entry, &response, requested_at);
                Answer { outcome: Ok(response), ..answer }
            }
            Err(error) => {
                let fallen_back = failed(&asked.view(), directives, error, Some(entry), answer.status);
                Answer { waited: answer.waited, ..fallen_back }
            }
        }
    }

    fn learn_from_head(
        &self,
        asked: &Request,
        entry: &Arc<Entry>,
        response: &Response,
        requested_at: Timestamp,
    ) {
        if response.status != entry.status() {
            return;
        }
        let key = KeyView::of(&asked.view());
        if !rules::update::head_agrees(&entry.fields(), &response.fields) {
            return self.store.memory.remove_entry(&key, entry);
        }
        let exchange = Exchange {
            method: &asked.method,
            request: Fields::Map(&asked.fields),
            status: response.status,
            response: &response.fields,
            requested_at,
            received_at: Clock::now(),
        };
        match renew(entry, &exchange, &self.policy.rules).shared {
            // Not where a write has made us forget it meanwhile.
            Some(renewed) => self.store.memory.replace(&key, entry, renewed, self.policy.max_variants),
            None => self.store.memory.remove_entry(&key, entry),
        }
    }

    /// A part of something not stored whole: from the stored stretch, or asked for as it is, since fetching the whole
    /// may cost far more than it brings.
    async fn range(&self, ask: Ask) -> Answer {
        match self.part_of(&ask) {
            Some(answer) => answer,
            None => self.lead(Fill::alone(), Ask { fwd: Fwd::Partial, ..ask }, Instant::now()).await,
        }
    }

    fn part_of(&self, ask: &Ask) -> Option<Answer> {
        let now = Clock::now();
        let view = ask.request.view();
        let resource = self.store.memory.get(&KeyView::of(&view))?;
        let part = resource.part().filter(|part| part.matches(view.fields))?;
        let reuse = part.terms().reuse(&ask.directives, ask.interest.authorization(), now);
        if reuse != Reuse::Fresh || !rules::range::if_range(view.fields, part.fields()) {
            return None;
        }
        let Ranges::Of(ranges) = rules::range::ranges(view.fields, part.complete()) else { return None };
        let [wanted] = ranges.as_slice() else { return None };
        let bytes = part.slice(wanted)?;
        let age = part.terms().age(now);
        let response = response::from_part(part.fields().clone(), wanted, part.complete(), bytes, age);
        let outcome = Ok(response::conditional(&view, response));
        Some(Answer { outcome, status: CacheStatus::hit(part.terms().fresh_for(now)), waited: None })
    }

    /// Asks the origin behind the client's back (RFC 5861 §3), unless somebody does already.
    fn refresh(&self, request: &Request, stale: &Arc<Entry>) {
        let wanted = stale.variant().cloned();
        if let Place::Lead(fill) = self.store.fills.join(&KeyView::of(&request.view()), wanted) {
            let mut background = request.head_only();
            background.method = Method::GET;
            self.start(fill, background, Some(Arc::clone(stale)), None);
        }
    }

    fn start(
        &self,
        fill: Arc<Fill>,
        request: Request,
        stale: Option<Arc<Entry>>,
        leader: Option<oneshot::Sender<Own>>,
    ) {
        // A range is asked for only where nothing is stored that a whole answer could refresh.
        let ranged = stale.is_none() && leader.is_some() && request.fields.contains_key(http::header::RANGE);
        let filler = Filler {
            store: Arc::clone(self.store),
            call: self.call.clone(),
            policy: Arc::clone(self.policy),
            key: KeyView::of(&request.view()).to_key(),
            writes: self.store.fills.writes(&KeyView::of(&request.view())),
            fill,
            ranged,
            stale,
        };
        tokio::task::spawn_local(filler.run(request, leader));
    }

    /// One fetch per key and variant: whoever comes first leads, the others follow.
    async fn fill(&self, ask: Ask, mut wanted: Option<Variant>) -> Answer {
        let started = Instant::now();
        // Requests with Authorization rarely get shared answers: they do not wait for one another.
        if !self.policy.coalesce || ask.interest.authorization() {
            return self.lead(Fill::alone(), ask, started).await;
        }
        for _ in 0..ROUNDS {
            match self.store.fills.join(&KeyView::of(&ask.request.view()), wanted.take()) {
                Place::Lead(fill) => {
                    // Somebody may have finished between our look and our joining.
                    if let Some(entry) = self.store.fresh(&ask.request.view(), self.policy, Clock::now()) {
                        self.store.fills.remove(&KeyView::of(&ask.request.view()), &fill);
                        fill.settle(Settled::Entry(Arc::clone(&entry)));
                        let status = CacheStatus::hit(entry.terms().fresh_for(Clock::now()));
                        return Answer::stored(&ask.request.view(), &entry, status);
                    }
                    return self.lead(fill, ask, started).await;
                }
                Place::Follow(fill) => match self.follow(&fill, &ask, started).await {
                    Followed::Answer(answer) => return answer,
                    Followed::OtherVariant(variant) => wanted = Some(variant),
                    Followed::Alone => break,
                },
            }
        }
        self.lead(Fill::alone(), ask, started).await
    }

    async fn lead(&self, fill: Arc<Fill>, ask: Ask, started: Instant) -> Answer {
        let Ask { request, directives, stale, fwd, .. } = ask;
        let asked = Rc::new(request.head_only());
        let follower = Follower::new(&fill);
        let (sender, own) = oneshot::channel();
        self.start(fill, request, stale, Some(sender));
        let status = CacheStatus::forward(fwd);
        match own.await {
            Ok(Own::Answer { response, stored }) => {
                let mut status = status.answered(response.status);
                match stored {
                    Ok(()) => status.stored = true,
                    Err(reason) => status.detail = Some(reason),
                }
                let outcome = Ok(response::conditional(&asked.view(), response));
                return Answer { outcome, status, waited: Some(started.elapsed()) };
            }
            Ok(Own::Confirmed(entry)) => {
                return Answer::stored(&asked.view(), &entry, confirmed(status)).waited(started);
            }
            Ok(Own::Trouble { response, stale }) => {
                let status = status.answered(response.status);
                let answer = match stale.filter(|entry| may_bridge(entry, &directives, None)) {
                    Some(entry) => bridged(&asked.view(), &entry, status),
                    None => Answer { outcome: Ok(response), status, waited: None },
                };
                return answer.waited(started);
            }
            Err(_) => {}
        }
        // Without an answer of its own the leader learns what the followers learn.
        match follower.news().await {
            News::Settled(Settled::Entry(entry)) => {
                Answer::stored(&asked.view(), &entry, confirmed(status)).waited(started)
            }
            News::Settled(Settled::Failed { error: Some(error), stale }) => {
                failed(&asked.view(), &directives, error, stale, status).waited(started)
            }
            News::Settled(Settled::Failed { error: None, .. } | Settled::Alone) | News::Arriving(_) => {
                let error = Error::new(Kind::Internal, "the fetch ended without an answer");
                Answer { outcome: Err(error), status, waited: None }.waited(started)
            }
        }
    }

    async fn follow(&self, fill: &Arc<Fill>, ask: &Ask, started: Instant) -> Followed {
        let follower = Follower::new(fill);
        let view = ask.request.view();
        let status = CacheStatus { collapsed: true, ..CacheStatus::forward(ask.fwd) };
        let answer = match follower.news().await {
            News::Arriving(head) => match other_variant(head.variant.as_ref(), &view) {
                Some(variant) => return Followed::OtherVariant(variant),
                None => arriving(&view, follower, &head, status),
            },
            News::Settled(Settled::Entry(entry)) => match other_variant(entry.variant(), &view) {
                Some(variant) => return Followed::OtherVariant(variant),
                None => Answer::stored(&view, &entry, confirmed(status)),
            },
            News::Settled(Settled::Alone) => return Followed::Alone,
            News::Settled(Settled::Failed { error, stale }) => {
                // Another variant's stale answer is not ours.
                let stale = stale.filter(|entry| entry.matches(view.fields));
                match error {
                    Some(error) => failed(&view, &ask.directives, error, stale, status),
                    // What the origin said instead is the leader's.
                    None => match stale.filter(|entry| may_bridge(entry, &ask.directives, None)) {
                        Some(entry) => bridged(&view, &entry, status),
                        None => return Followed::Alone,
                    },
                }
            }
        };
        self.store.counters.coalesced();
        Followed::Answer(answer.waited(started))
    }
}

/// A request on its way to the origin.
struct Ask {
    request: Request,
    interest: Interest,
    directives: RequestDirectives,
    stale: Option<Arc<Entry>>,
    fwd: Fwd,
}

enum Followed {
    Answer(Answer),
    /// The fill fetches another variant; this is ours.
    OtherVariant(Variant),
    /// The answer is not for sharing.
    Alone,
}

/// The variant this request wants, where it is not the one given.
fn other_variant(variant: Option<&Variant>, request: &RequestView<'_>) -> Option<Variant> {
    variant.filter(|v| !v.matches(request.fields)).map(|v| Variant::of(&v.names, request.fields))
}

/// The origin confirmed what is stored.
fn confirmed(status: CacheStatus) -> CacheStatus {
    status.answered(StatusCode::NOT_MODIFIED)
}

/// A follower's answer while the content is still arriving.
fn arriving(
    request: &RequestView<'_>,
    follower: Follower,
    head: &ArrivingHead,
    status: CacheStatus,
) -> Answer {
    let status = status.answered(head.status);
    let mut fields = head.fields.clone();
    let age = head.terms.age(Clock::now());
    if age > 0 {
        fields.insert(http::header::AGE, age.into());
    }
    let body = Body::stream(FollowerBody::new(follower, head.length));
    let response = Response { status: head.status, fields, body };
    Answer { outcome: Ok(response::conditional(request, response)), status, waited: None }
}

/// The origin failed: a stale answer where the rules and this request allow it, or else the error.
fn failed(
    request: &RequestView<'_>,
    directives: &RequestDirectives,
    error: Error,
    stale: Option<Arc<Entry>>,
    status: CacheStatus,
) -> Answer {
    match stale.filter(|entry| may_bridge(entry, directives, Some(&error))) {
        Some(entry) => bridged(request, &entry, status),
        None => Answer { outcome: Err(error), status, waited: None },
    }
}

/// Whether the stale answer may stand in for an error (RFC 9111 §4.2.4), or, without one, for an error status (RFC 5861
/// §4).
fn may_bridge(stale: &Entry, directives: &RequestDirectives, error: Option<&Error>) -> bool {
    let now = Clock::now();
    stale.terms().may_serve_on_error(directives, now)
        || (error.is_some_and(Error::is_disconnection)
            && stale.terms().may_serve_disconnected(directives, now))
}

fn bridged(request: &RequestView<'_>, stale: &Arc<Entry>, status: CacheStatus) -> Answer {
    let ttl = Some(stale.terms().fresh_for(Clock::now()));
    Answer::stored(request, stale, CacheStatus { ttl, detail: Some("stale-if-error"), ..status })
}

impl Answer {
    fn stored(request: &RequestView<'_>, entry: &Arc<Entry>, status: CacheStatus) -> Answer {
        let age = entry.terms().age(Clock::now());
        let response = response::from_stored(request, entry.status(), entry.fields(), entry.body(), age);
        Answer { outcome: Ok(response), status, waited: None }
    }

    fn waited(mut self, since: Instant) -> Answer {
        self.waited = Some(since.elapsed());
        self
    }

    /// `fwd-status` is said only where the client gets another status than we got (RFC 9211 §2.3).
    fn concise(mut self) -> Answer {
        if self
            .outcome
            .as_ref()
            .is_ok_and(|response| self.status.fwd_status == Some(response.status.as_u16()))
        {
            self.status.fwd_status = None;
        }
        self
    }
}
