//! Filler: the task that fetches an answer, shares it as it comes, and stores it.
//!
//! In: a request without content, the stale entry if there is one. Out: the [`Fill`] settled, the memory tier updated.
//! It runs on the leader's core but does not depend on the leader's client. What is no HTTP of it is `keeper`'s.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::header::{HeaderMap, HeaderName, HeaderValue, IF_RANGE, RANGE};
use http::{Method, StatusCode};
use http_body::Body as _;
use message::{Body, Call, Clock, Error, Kind, Request, Response, Skew, Timestamp};
use rules::{ContentRange, Exchange, NoVarySearch, NotStored, Reuse, Terms};
use tokio::sync::oneshot;

use crate::below;
use crate::entry::Entry;
use crate::entry::draft::{Drafting, client_input};
use crate::entry::renewal::{Renewal, renew};
use crate::fill::fetch::Wishes;
use crate::fill::follower::Follower;
use crate::fill::follower_body::FollowerBody;
use crate::fill::keeper::Keeper;
use crate::fill::onward::Again;
use crate::fill::partial_body::{KeptPart, PartialBody};
use crate::fill::unshared::Unshared;
use crate::fill::{ArrivingHead, Settled};
use crate::key::Key;
use crate::request::prepare::{remove_conditions, restore_tags};

/// What the leader gets that followers do not: an answer with fields that may not be shared.
pub(crate) enum Own {
    /// The origin's. `stored`: the terms on which it is being stored, or why it is not.
    Answer { response: Response, stored: Result<Terms, &'static str> },
    /// The stored one, confirmed for this client.
    Confirmed(Arc<Entry>),
    /// The origin's, of a status in whose place the stale one may serve, where the client's directives allow it.
    Trouble { response: Response, stale: Option<Arc<Entry>> },
}

/// See the module.
pub(crate) struct Filler<C> {
    pub(crate) keeper: Keeper,
    pub(crate) call: C,
    /// What the client who set it off may be given.
    pub(crate) wishes: Wishes,
    /// The tag of the user whom the key names, where it names one.
    pub(crate) user: Option<String>,
    /// Ask for the client's range rather than the whole; then nobody follows.
    pub(crate) ranged: bool,
}

/// An answer with the moments around it.
struct Answered {
    response: Response,
    requested_at: Timestamp,
    received_at: Timestamp,
    skew: Skew,
}

impl Answered {
    /// How long the origin took for the head.
    fn took(&self) -> Duration {
        self.received_at.since(self.requested_at)
    }
}

impl<C: Call> Filler<C> {
    /// Fetches and shares. `leader` is where the one who started it waits, if anybody does.
    pub(crate) async fn run(self, request: Request, mut leader: Option<oneshot::Sender<Own>>) {
        let duty = self.keeper.begin();
        let asked = request.again();
        if let Some(entry) = self.take_turn(&asked).await {
            return self.keeper.found(entry);
        }
        let outcome = {
            let mut asking = pin!(self.ask(request, &asked));
            poll_fn(|cx| match asking.as_mut().poll(cx) {
                Poll::Pending if self.is_in_vain(&mut leader, cx) => Poll::Ready(None),
                polled => polled.map(Some),
            })
            .await
        };
        let Some(outcome) = outcome else { return };
        match outcome {
            Err(error) => self.keeper.failed(Some(error)),
            Ok(Answered { response, .. })
                if is_server_error(response.status) && self.keeper.may_serve_on_error() =>
            {
                self.keeper.failed(None);
                if let Some(leader) = leader {
                    drop(leader.send(Own::Trouble { response, stale: self.keeper.stale.clone() }));
                }
            }
            Ok(answered) => self.answered(answered, &asked, leader).await,
        }
        drop(duty);
    }

    /// Waits until it is our turn to ask the origin, among all instances. Given back: the answer, where another one has
    /// fetched it.
    async fn take_turn(&self, asked: &Request) -> Option<Arc<Entry>> {
        let Wishes { directives, authorization, asker, .. } = &self.wishes;
        let will_do =
            |entry: &Entry| entry.terms().reuse(directives, *authorization, Clock::now()) == Reuse::Fresh;
        self.keeper.take_turn(message::Fields::Map(&asked.fields), asker.insists, will_do).await
    }

    /// Whether the client left for whom alone the origin is asked. What others may follow goes on without it.
    fn is_in_vain(&self, leader: &mut Option<oneshot::Sender<Own>>, cx: &mut Context<'_>) -> bool {
        self.keeper.fill.is_alone() && leader.as_mut().is_some_and(|leader| leader.poll_closed(cx).is_ready())
    }

    /// Sends the request with our validators instead of the client's; a 304 that confirms something other than what we
    /// hold is asked again without any (RFC 9111 §4.3.4).
    async fn ask(&self, mut request: Request, asked: &Request) -> Result<Answered, Error> {
        let stored = self.keeper.stale.as_ref().map(|entry| entry.fields());
        let range = self.range_of(&request.fields);
        match &stored {
            Some(stored) => drop(rules::validate::add_validators(stored, &mut request.parts_mut().fields)),
            None if self.wishes.conditions => restore_tags(&mut request, &self.keeper.policy),
            None => remove_conditions(&mut request),
        }
        if !range.is_empty() {
            request.parts_mut().fields.extend(range);
        }
        let answered = self.send(request).await?;
        if answered.response.status != StatusCode::NOT_MODIFIED
            || (self.wishes.conditions && stored.is_none())
        {
            return Ok(answered);
        }
        if stored
            .is_some_and(|stored| rules::validate::not_modified_matches(&stored, &answered.response.fields))
        {
            return Ok(answered);
        }
        let mut again = asked.again();
        remove_conditions(&mut again);
        self.send(again).await
    }

    /// `Range` and `If-Range`, where they are to be asked for.
    fn range_of(&self, fields: &HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
        let names = if self.ranged { [RANGE, IF_RANGE].as_slice() } else { &[] };
        names.iter().filter_map(|name| Some((name.clone(), fields.get(name)?.clone()))).collect()
    }

    async fn send(&self, request: Request) -> Result<Answered, Error> {
        let requested_at = Clock::now();
        let mut response = below::ask(&self.call, request).await?;
        let (received_at, skew) = (Clock::now(), Clock::skew());
        // RFC 9110 §6.6.1: whoever receives an answer without Date and keeps it adds the moment of receipt.
        rules::date::append_missing(&mut response.fields, skew.date_of(received_at));
        Ok(Answered { response, requested_at, received_at, skew })
    }

    async fn answered(&self, answered: Answered, asked: &Request, leader: Option<oneshot::Sender<Own>>) {
        let response = &answered.response;
        let exchange = Exchange {
            // A request with content that is keyed by it is looked up like any GET, so it is stored like one.
            method: &Method::GET,
            request: message::Fields::Map(&asked.fields),
            status: response.status,
            response: &response.fields,
            personal: self.user.is_some(),
            requested_at: answered.requested_at,
            received_at: answered.received_at,
            skew: answered.skew,
        };
        if let (StatusCode::NOT_MODIFIED, Some(stale)) = (response.status, &self.keeper.stale) {
            return self.confirmed(stale, &exchange, asked, leader);
        }
        if response.status == StatusCode::NOT_MODIFIED {
            // It confirms what this client holds, and says nothing of what others would get.
            return self.not_shared(answered.response, NotStored::NotModified.word(), leader);
        }
        if response.status == StatusCode::PARTIAL_CONTENT {
            let kept = self.kept_part(&exchange, asked, &response.body);
            return self.partial(answered.response, kept, leader);
        }
        if self.ranged && response.status != StatusCode::OK {
            // The range may have brought it about, 416 for one, and it is not part of the key.
            return self.not_shared(answered.response, "range", leader);
        }
        let drafting = self.drafting(asked);
        let terms = match self.terms(&drafting, &exchange, &response.body) {
            Ok(terms) => terms,
            Err(reason) => {
                self.learn(response.status, reason, answered.took());
                return self.not_shared(answered.response, reason.word(), leader);
            }
        };
        let draft = drafting.whole(&exchange, terms, &response.body);
        let key = self.stored_under(asked, &response.fields);
        let fingerprint =
            self.keeper.policy.key.reflected.then(|| rules::reflection::fingerprint(&client_input(asked)));
        let head = Arc::new(ArrivingHead { draft, length: response.body.exact_length(), fingerprint });
        let entry = self.stream(answered, asked, &key, head, leader).await;
        self.keeper.fill.done(entry);
    }

    fn drafting<'a>(&'a self, asked: &'a Request) -> Drafting<'a> {
        let user = self.user.as_deref();
        Drafting { policy: &self.keeper.policy, asked, user, since: self.keeper.fill.since() }
    }

    /// The key, once the answer has said which parameters of its path do not matter.
    fn stored_under(&self, asked: &Request, response: &HeaderMap) -> Key {
        if !self.keeper.policy.key.no_vary_search {
            return self.keeper.key.clone();
        }
        let rule = NoVarySearch::of(response);
        let key = self.keeper.key.view().with_rule(&asked.target, rule.as_ref());
        self.keeper.store.learned.learn(&asked.authority, &asked.target, rule);
        key
    }

    fn terms(
        &self,
        drafting: &Drafting<'_>,
        exchange: &Exchange<'_>,
        body: &Body,
    ) -> Result<Terms, Unshared> {
        if body.exact_length().is_some_and(|length| length > self.keeper.policy.max_body) {
            return Err(Unshared::TooLarge);
        }
        drafting.terms(exchange).map_err(Unshared::Rule)
    }

    /// What an answer that is not stored, and took so long to come, means for what is, and for those who come next.
    fn learn(&self, status: StatusCode, reason: Unshared, took: Duration) {
        self.keeper.learn(reason.lesson(status, took, self.wishes.asker));
    }

    /// What is needed to keep a 206's content once it is complete; else why it is not kept.
    fn kept_part(
        &self,
        exchange: &Exchange<'_>,
        asked: &Request,
        body: &Body,
    ) -> Result<KeptPart, &'static str> {
        let complete = ContentRange::of(exchange.response).and_then(|range| range.complete);
        let length = body.exact_length().ok_or("unknown-length")?;
        if complete.is_none_or(|complete| complete.max(length) > self.keeper.policy.max_body) {
            return Err("too-large");
        }
        let drafting = self.drafting(asked);
        let terms = drafting.terms_of_part(exchange).map_err(|reason| reason.word())?;
        Ok(KeptPart {
            store: Arc::clone(&self.keeper.store),
            key: self.keeper.key.clone(),
            policy: Arc::clone(&self.keeper.policy),
            hold: self.keeper.store.memory.held().room(length).ok_or("no-room")?,
            asked: asked.head_only(),
            draft: drafting.draft(exchange, terms),
        })
    }

    /// A part: the leader's, who asked for it; kept when it has arrived in full.
    fn partial(
        &self,
        response: Response,
        kept: Result<KeptPart, &'static str>,
        leader: Option<oneshot::Sender<Own>>,
    ) {
        self.keeper.settle(Settled::Alone);
        let Some(leader) = leader else { return };
        let own = match kept {
            Err(reason) => Own::Answer { response, stored: Err(reason) },
            Ok(kept) => {
                let stored = Ok(kept.draft.terms);
                let body = Body::stream(PartialBody::new(response.body, kept));
                Own::Answer { response: Response { body, ..response }, stored }
            }
        };
        drop(leader.send(own));
    }

    /// A 304: the stored answer is good again, with the fields it brought (RFC 9111 §4.3.4).
    fn confirmed(
        &self,
        stale: &Arc<Entry>,
        exchange: &Exchange<'_>,
        asked: &Request,
        leader: Option<oneshot::Sender<Own>>,
    ) {
        let Renewal { own, shared } = renew(stale, exchange, &self.drafting(asked));
        if let Some(entry) = &shared {
            self.keeper.keep(&self.keeper.key, entry, Some(stale));
        } else if self.wishes.asker.speaks_for_all() {
            self.keeper.store.remove_entry(&self.keeper.key.view(), stale);
            self.keeper.replaced();
        }
        self.keeper.settle(shared.map_or(Settled::Alone, Settled::Entry));
        if let Some(leader) = leader {
            drop(leader.send(Own::Confirmed(own)));
        }
    }

    /// Not for sharing: the leader has it, everyone else asks for themself, all at once.
    fn not_shared(&self, response: Response, reason: &'static str, leader: Option<oneshot::Sender<Own>>) {
        self.keeper.settle(Settled::Alone);
        self.keeper.give_turn_back();
        if let Some(leader) = leader {
            // An error means that the leader's client has left: dropping the answer cancels the fetch.
            drop(leader.send(Own::Answer { response, stored: Err(reason) }));
        }
    }

    /// Shares the content as it comes, and stores it once it is complete.
    async fn stream(
        &self,
        answered: Answered,
        asked: &Request,
        key: &Key,
        head: Arc<ArrivingHead>,
        leader: Option<oneshot::Sender<Own>>,
    ) -> Option<Arc<Entry>> {
        self.keeper.fill.arrive(Arc::clone(&head));
        let took = answered.took();
        let Response { status, mut fields, mut body } = answered.response;
        if let Some(leader) = leader {
            let again = self.keeper.fill.may_leave_behind().then(|| Again::new(&self.call, asked));
            let follower = FollowerBody::new(Follower::new(&self.keeper.fill), &head, again);
            if head.draft.encodable {
                response::negotiate(&mut fields);
            }
            let response = Response { status, fields, body: Body::stream(follower) };
            drop(leader.send(Own::Answer { response, stored: Ok(head.draft.terms) }));
        }
        let mut trailers = None;
        let mut is_passing = self.keeper.fill.is_passing();
        if is_passing {
            self.let_pass(status, 0);
        }
        loop {
            match poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        let total = self.keeper.fill.extend(data, self.keeper.policy.max_body);
                        if !is_passing && self.keeper.fill.is_passing() {
                            is_passing = true;
                            self.let_pass(status, total);
                        }
                    }
                    Err(frame) => trailers = frame.into_trailers().ok(),
                },
                Some(Err(error)) => {
                    self.keeper.leave_table();
                    self.keeper.fill.break_off(error);
                    return None;
                }
                None => break,
            }
            if is_passing && !poll_fn(|cx| self.keeper.fill.poll_room(cx)).await {
                self.keeper.fill.break_off(Error::new(Kind::ClientGone, "nobody reads this answer any more"));
                return None;
            }
        }
        let entry = self.keeper.fill.complete(trailers).and_then(|body| {
            let draft = match self.drafting(asked).once_whole(head.draft.clone(), body.bytes()) {
                Ok(draft) => draft,
                Err(reason) => {
                    self.learn(status, reason, took);
                    self.keeper.give_turn_back();
                    return None;
                }
            };
            let entry = Arc::new(Entry::new(draft, body));
            let is_personal = entry.variant().is_some() && head.draft.variant.is_none();
            // What repeats one client's request does not take the place of what all others have.
            if !(is_personal && self.keeper.store.has_for_all(&key.view())) {
                self.keeper.keep(key, &entry, None);
            }
            Some(entry)
        });
        self.keeper.leave_table();
        entry
    }

    /// The content streams past the cache from now on.
    fn let_pass(&self, status: StatusCode, total: u64) {
        self.keeper.leave_table();
        if total > self.keeper.policy.max_body {
            self.learn(status, Unshared::TooLarge, Duration::ZERO);
        }
        self.keeper.fill.done(None);
    }
}

/// Statuses that RFC 5861 §4 counts as errors.
pub(crate) fn is_server_error(status: StatusCode) -> bool {
    matches!(status.as_u16(), 500 | 502 | 503 | 504)
}
