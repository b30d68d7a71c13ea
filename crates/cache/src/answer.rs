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

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::Method;
use message::{Call, Clock, Error, Fields, Kind, Request, RequestView, Response, Result, Timestamp};
use plan::CachePolicy;
use rules::{CacheStatus, Exchange, Fwd, Ranges, RequestDirectives, Reuse};

use crate::entry::{Entry, Variant};
use crate::fetch::{Ask, failed};
use crate::fill::Fill;
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
        if let Some(why) = interest.bypass() {
            return self.pass(request, CacheStatus::forward(Fwd::Bypass).because(why)).await;
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
            personal: false,
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
}

impl Answer {
    pub(crate) fn stored(request: &RequestView<'_>, entry: &Arc<Entry>, status: CacheStatus) -> Answer {
        let age = entry.terms().age(Clock::now());
        let response = response::from_stored(request, entry.status(), entry.fields(), entry.body(), age);
        Answer { outcome: Ok(response), status, waited: None }
    }

    pub(crate) fn waited(mut self, since: Instant) -> Answer {
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
