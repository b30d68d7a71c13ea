//! Answer: a request on a cached route, as a short list of steps.
//!
//! ```text
//! pass ◄── not a look-up (method, content, If-Match, Upgrade; what the policy bypasses or skips)
//!  key, prepare
//!  find ──► usable ──► serve (and refresh in the background)
//!   └─► ask: only-if-cached ──► 504
//!            HEAD, Range, no-store ──► pass, and learn from the answer
//!            otherwise ──► join the fill: lead, follow, or go alone
//! ```
//!
//! Called by `server` for whatever [`Store::fresh`] did not answer. The call below is the route's source.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderName, Method};
use message::{
    Body, CacheStatus, Call, Clock, Error, Fields, Fwd, Kind, Request, RequestView, Response, Result,
    Timestamp,
};
use plan::CachePolicy;
use redis_link::Link;
use rules::{Encoding, Exchange, NotStored, Ranges, Reuse};

use crate::below;
use crate::entry::draft::{Drafting, strip_tags};
use crate::entry::encode;
use crate::entry::renewal::renew;
use crate::entry::{Entry, Variant};
use crate::fill::Fill;
use crate::fill::fetch::{Ask, failed};
use crate::fill::unshared::Asker;
use crate::key::KeyView;
use crate::key::keying::{Look, Scratch};
use crate::lookup::{Lookup, find};
use crate::purge::forgetting::Forgetting;
use crate::request::graphql::{self, Asks};
use crate::request::interest::{Interest, content_bypass};
use crate::request::mutation;
use crate::request::prepare::{prepare, restore_tags};
use crate::store::Store;
use crate::tier::recall::Recalled;
use crate::tier::shared::Sharing;

/// Fields by which clients of old say another method than the one that they send; many origins go by them.
const METHOD_OVERRIDES: [HeaderName; 3] = [
    HeaderName::from_static("x-http-method-override"),
    HeaderName::from_static("x-http-method"),
    HeaderName::from_static("x-method-override"),
];

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
    /// What the route calls the segments of its path.
    pub names: &'a [Option<Box<str>>],
    /// The name of the route's source.
    pub source: &'a str,
    /// This core's way to the tier that instances share, where the policy uses it.
    pub link: Option<&'a Link>,
    /// What lies behind the cache.
    pub call: &'a C,
}

impl<C: Call> Caching<'_, C> {
    /// See the module.
    pub async fn answer(&self, request: Request) -> Answer {
        let mut answer = self.decide(request).await.concise();
        if self.policy.strips_tags
            && let Ok(response) = &mut answer.outcome
        {
            strip_tags(&mut response.fields, self.policy);
        }
        answer
    }

    async fn decide(&self, mut request: Request) -> Answer {
        // The source would do it, after the variant was chosen by a field that the origin never saw.
        rules::hop_by_hop::strip_named(&mut request.parts_mut().fields);
        let interest = Interest::of(&self.look(&request.view()));
        let keys_content = self.keys_content(&request.method);
        if !keys_content && !matches!(request.method, Method::GET | Method::HEAD) {
            return self.pass(request, CacheStatus::forward(Fwd::Method)).await;
        }
        if !keys_content && !request.body.is_empty() {
            // Content of a GET is not part of the key, so an origin that reads it could poison the entry.
            return self.pass(request, CacheStatus::forward(Fwd::Bypass).because("content")).await;
        }
        let judges = keys_content && request.method == Method::POST;
        if let Some(why) = interest.bypass().filter(|_| !judges) {
            return self.pass(request, CacheStatus::forward(Fwd::Bypass).because(why)).await;
        }
        if keys_content {
            match std::mem::take(&mut request.body).within(self.policy.body_keys.max).await {
                Ok(Ok(content)) => request.body = content.into(),
                Ok(Err(body)) => {
                    request.body = body;
                    return self
                        .pass(request, CacheStatus::forward(Fwd::Bypass).because(Forgetting::TOO_LONG))
                        .await;
                }
                Err(error) => {
                    let status = CacheStatus::forward(Fwd::Bypass);
                    return Answer { outcome: Err(error), status, waited: None };
                }
            }
        }
        if keys_content && let Some(why) = self.content_bypass(&request, interest) {
            return self.pass(request, CacheStatus::forward(Fwd::Bypass).because(why)).await;
        }
        self.look_up(request, interest, keys_content).await
    }

    /// Why a request with content is not looked up, in a word. What its operation does comes first: a write that is not
    /// looked up for another reason makes things be forgotten all the same.
    fn content_bypass(&self, request: &Request, interest: Interest) -> Option<&'static str> {
        let content = match &request.body {
            Body::Whole(content) => content,
            _ => &Bytes::new(),
        };
        let view = request.view();
        let keys = &self.policy.body_keys;
        if request.method == Method::POST {
            if METHOD_OVERRIDES.iter().any(|name| view.fields.has(name)) {
                return Some(Forgetting::OVERRIDDEN);
            }
            match graphql::asks(&view, content, &self.store.persisted) {
                Asks::More => return Some(Forgetting::MUTATION),
                Asks::Unclear if keys.graphql => return Some(Forgetting::UNCLEAR),
                Asks::Unclear if mutation::may_change(&view, content) => return Some(Forgetting::MUTATION),
                // Or the policy says that it reads.
                Asks::Query | Asks::Unclear => {}
            }
        }
        interest.bypass().or_else(|| content_bypass(&self.look(&view), content))
    }

    async fn look_up(&self, mut request: Request, interest: Interest, keys_content: bool) -> Answer {
        let content = match &request.body {
            Body::Whole(content) => content.clone(),
            _ => Bytes::new(),
        };
        let (key, personal) = {
            let mut scratch = Scratch::default();
            let view = request.view();
            let keyed =
                self.look(&view).key(&self.store.learned, keys_content.then_some(&*content), &mut scratch);
            (keyed.key.to_key(), keyed.personal)
        };
        let encodings = self.policy.compress.as_ref().filter(|_| !interest.range());
        let encoding = encodings
            .and_then(|compress| rules::encoding::choose(request.view().fields, &compress.encodings));
        prepare(&mut request, self.policy);
        let directives = interest.directives(request.view().fields, self.policy);
        let ask = Ask {
            request,
            key,
            personal,
            encoding,
            interest,
            directives,
            stale: None,
            is_unshared: false,
            fwd: Fwd::UriMiss,
        };
        let now = Clock::now();
        let found = match self.find(&ask, now) {
            Lookup::Ask { stale: None, fwd: fwd @ (Fwd::UriMiss | Fwd::VaryMiss), vary } => {
                match self.recall(&ask, fwd).await {
                    Recalled::Nothing => Lookup::Ask { stale: None, fwd, vary },
                    Recalled::InMemory => self.find(&ask, now),
                    Recalled::Answer(answer) => return *answer,
                }
            }
            found => found,
        };
        let directives = &ask.directives;
        match found {
            Lookup::Usable { entry, refresh } => {
                if refresh {
                    self.refresh(&ask, &entry);
                }
                entry.hit();
                let entry = match encoding {
                    Some(encoding) => {
                        let most = self.policy.max_variants;
                        encode::encoded(self.store, &ask.key, entry, encoding, most).await
                    }
                    None => entry,
                };
                let status = CacheStatus::hit(entry.terms().fresh_for(now));
                Answer::stored(&ask.request.view(), encoding, &entry, status)
            }
            Lookup::Ask { .. } | Lookup::AskAlone if directives.only_if_cached => {
                let error = Error::new(
                    Kind::OnlyIfCached,
                    "nothing usable is stored, and only-if-cached forbids asking the origin",
                );
                Answer { outcome: Err(error), status: CacheStatus::forward(Fwd::Request), waited: None }
            }
            Lookup::Ask { stale, fwd, .. } if ask.request.method == Method::HEAD => {
                self.told_shortly(self.head(Ask { stale, fwd, ..ask }).await)
            }
            Lookup::AskAlone if ask.request.method == Method::HEAD => self.told_shortly(self.head(ask).await),
            Lookup::Ask { .. } | Lookup::AskAlone if directives.no_store => {
                let status = CacheStatus::forward(Fwd::Request).because(NotStored::RequestNoStore.word());
                self.pass(ask.request, status).await
            }
            Lookup::Ask { stale: None, fwd, .. } if interest.range() && !keys_content => {
                self.range(Ask { fwd, ..ask }).await
            }
            Lookup::AskAlone => {
                let ask = Ask { is_unshared: true, ..ask };
                self.lead(self.alone(), ask, Instant::now()).await
            }
            Lookup::Ask { stale, fwd, vary } => {
                let wanted = (!vary.is_empty()).then(|| Variant::of(&vary, ask.request.view().fields));
                self.fill(Ask { stale, fwd, ..ask }, wanted).await
            }
        }
    }

    /// The way to the tier that instances share, where there is one and the policy uses it.
    pub(crate) fn sharing(&self) -> Option<Sharing<'_>> {
        Sharing::of(self.store, self.link, self.policy)
    }

    pub(crate) fn find(&self, ask: &Ask, now: Timestamp) -> Lookup {
        let (key, fields) = (ask.key.view(), ask.request.view().fields);
        find(self.store, &key, fields, ask.interest, &ask.directives, self.policy.early, now)
    }

    pub(crate) fn look<'r>(&'r self, request: &'r RequestView<'r>) -> Look<'r> {
        Look { request, policy: self.policy, names: self.names, source: self.source }
    }

    /// A fill that nobody can join.
    pub(crate) fn alone(&self) -> Arc<Fill> {
        Fill::alone(self.store.marks.epoch(), self.store.memory.held())
    }

    /// Whether requests of this method are looked up by their content too.
    fn keys_content(&self, method: &Method) -> bool {
        let keys = &self.policy.body_keys;
        (keys.query && method.as_str() == "QUERY") || ((keys.post || keys.graphql) && method == Method::POST)
    }

    /// Straight to the source, nothing read or stored.
    async fn pass(&self, mut request: Request, status: CacheStatus) -> Answer {
        restore_tags(&mut request, self.policy);
        let started = Instant::now();
        let outcome = below::ask(self.call, request).await;
        Answer { outcome, status, waited: Some(started.elapsed()) }
    }

    /// HEAD never fills GET, but what it tells updates what is stored, or shows that it is outdated (§4.3.5).
    async fn head(&self, ask: Ask) -> Answer {
        let asker = ask.asker(self.policy);
        let Ask { request, key, directives, stale, fwd, personal, .. } = ask;
        let asked = request.head_only();
        let since = self.store.marks.epoch();
        let requested_at = Clock::now();
        let answer = self.pass(request, CacheStatus::forward(fwd)).await;
        let Some(entry) = stale else { return answer };
        match answer.outcome {
            Ok(response) => {
                let exchange = Exchange {
                    method: &asked.method,
                    request: Fields::Map(&asked.fields),
                    status: response.status,
                    response: &response.fields,
                    personal,
                    requested_at,
                    received_at: Clock::now(),
                    skew: Clock::skew(),
                };
                let user = if personal { key.view().user_tag() } else { None };
                let user = user.as_deref();
                let drafting = Drafting { policy: self.policy, asked: &asked, user, since };
                self.learn_from_head(&key.view(), &entry, &exchange, &drafting, asker);
                Answer { outcome: Ok(response), ..answer }
            }
            Err(error) => {
                let fallen_back = failed(&asked.view(), None, &directives, error, Some(entry), answer.status);
                Answer { waited: answer.waited, ..fallen_back }
            }
        }
    }

    /// What was learned from it is what the origin said; the client hears what a GET would have told.
    fn told_shortly(&self, mut answer: Answer) -> Answer {
        if let Ok(response) = &mut answer.outcome {
            rules::date::append_missing(&mut response.fields, Clock::date());
            self.cut_lifetime(&mut response.fields, None);
        }
        answer
    }

    fn learn_from_head(
        &self,
        key: &KeyView<'_>,
        entry: &Arc<Entry>,
        exchange: &Exchange<'_>,
        drafting: &Drafting<'_>,
        asker: Asker,
    ) {
        if exchange.status != entry.status() {
            return;
        }
        if !rules::update::head_agrees(&entry.fields(), exchange.response) {
            // What somebody logged in is shown need not be another version for all.
            if !asker.has_credentials {
                self.outdate(key, entry, exchange.received_at);
            }
            return;
        }
        match renew(entry, exchange, drafting).shared {
            // Not where a write has made us forget it meanwhile.
            Some(renewed) if self.store.standing(key, Arc::clone(&renewed)).is_some() => {
                self.store.memory.replace(key, entry, renewed, self.policy.max_variants);
            }
            Some(_) => self.forget(key, entry),
            None if asker.speaks_for_all() => self.forget(key, entry),
            None => {}
        }
    }

    /// Another version has nothing to put in its place: what is stored is stale from now on (§4.3.5), and may still be
    /// had where the origin fails. It is gone from Redis, from where it would come back fresh.
    fn outdate(&self, key: &KeyView<'_>, entry: &Arc<Entry>, at: Timestamp) {
        self.store.outdate(key, entry, at, self.policy.max_variants);
        if let Some(sharing) = self.sharing() {
            sharing.alone(&key.to_key()).remove(Some(entry));
        }
    }

    /// Here and in Redis, from where it would come back.
    fn forget(&self, key: &KeyView<'_>, entry: &Arc<Entry>) {
        self.store.remove_entry(key, entry);
        if let Some(sharing) = self.sharing() {
            sharing.alone(&key.to_key()).remove(Some(entry));
        }
    }

    /// A part of something not stored whole: from the stored stretch, or asked for as it is, since fetching the whole
    /// may cost far more than it brings.
    async fn range(&self, ask: Ask) -> Answer {
        match self.part_of(&ask) {
            Some(answer) => answer,
            None => self.lead(self.alone(), Ask { fwd: Fwd::Partial, ..ask }, Instant::now()).await,
        }
    }

    fn part_of(&self, ask: &Ask) -> Option<Answer> {
        let now = Clock::now();
        let view = ask.request.view();
        let key = ask.key.view();
        let resource = self.store.memory.get(&key)?;
        let part =
            resource.part().filter(|part| part.matches(view.fields) && self.store.stands(&key, part))?;
        let reuse = part.terms().reuse(&ask.directives, ask.interest.authorization(), now);
        if reuse != Reuse::Fresh || !rules::range::if_range(view.fields, part.fields()) {
            return None;
        }
        let Ranges::Of(ranges) = rules::range::ranges(view.fields, part.complete()) else { return None };
        let [wanted] = ranges.as_slice() else { return None };
        let bytes = part.slice(wanted)?;
        let (age, fresh_for) = (part.terms().age(now), part.terms().fresh_for(now));
        let fields = part.for_client(age, fresh_for);
        let response = response::from_part(fields, wanted, part.complete(), bytes, age);
        let outcome = Ok(response::conditional(&view, response));
        Some(Answer { outcome, status: CacheStatus::hit(fresh_for), waited: None })
    }
}

impl Answer {
    /// From a stored answer, in the form this client wants where there is one.
    pub(crate) fn stored(
        request: &RequestView<'_>,
        encoding: Option<Encoding>,
        entry: &Arc<Entry>,
        status: CacheStatus,
    ) -> Answer {
        let now = Clock::now();
        let (fields, body) = entry.for_client(encoding, now);
        let age = entry.terms().age(now);
        let response = response::from_stored(request, entry.status(), fields, body, age);
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
