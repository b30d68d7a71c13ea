//! Reading: an expression of a layer: what it reads of a request, and what it decides. One list for all that follows from it: what
//! may stand behind a cache, which steps may share a call, what a response varies by, and which segments of a path must have names.

use expression::Reads;
use http::HeaderName;
use http::header::COOKIE;

use super::{CachePolicy, Condition, FaultInjection, Headers, Layer, LimitBy, Queue, Respond};

/// See the module.
#[derive(Clone, Debug)]
pub struct Reading<'a> {
    /// What is read.
    pub reads: Reads<'a>,
    /// What for.
    pub decides: Decides,
}

/// What comes of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decides {
    /// The answer: it is for those alone for whom all that was read is the same.
    Answer,
    /// Against whom a call counts: one that is made for several counts against nobody.
    Owner,
    /// When a call goes that has to wait. It does not matter to the answer, so that whoever wants the same may share a call with who
    /// came first.
    Turn,
    /// Where a cache finds an answer, or that it does not look.
    Key,
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// A client, by a route.
    Client,
    /// A step, for a client.
    Step,
}

impl Layer {
    /// Its expressions.
    pub fn readings(&self) -> Vec<Reading<'_>> {
        let reading = |decides, reads| Reading { reads, decides };
        match self {
            Layer::Respond(respond) => answered(respond),
            Layer::Headers(headers) => changed(headers),
            Layer::Faults(faults) => failed(faults),
            Layer::Cache(cache) => keyed(cache),
            Layer::Limit { limit, .. } => {
                let by = match &limit.by {
                    LimitBy::Value(value) => Some(value),
                    LimitBy::Shares(shares) => Some(&shares.by),
                    LimitBy::All | LimitBy::Source => None,
                };
                let owner = by.map(|by| reading(Decides::Owner, by.reads()));
                owner.into_iter().chain(limit.queue.iter().flat_map(turns)).collect()
            }
            Layer::Learn(learn) => {
                let owner = learn.by.iter().map(|by| reading(Decides::Owner, by.reads()));
                owner.chain(learn.queue.iter().flat_map(turns)).collect()
            }
            Layer::Concurrency(concurrency) => concurrency.queue.iter().flat_map(turns).collect(),
            Layer::Cors(_)
            | Layer::Overall(_)
            | Layer::Hedge(_)
            | Layer::Retry(_)
            | Layer::Breaker(_)
            | Layer::Credentials(_)
            | Layer::Accounts(_)
            | Layer::Rewrite(_)
            | Layer::Wasm(_)
            | Layer::PerTry(_) => Vec::new(),
        }
    }

    /// Whether its expressions read the client's request, also where a step asks. Those of others read the step's own there.
    pub fn reads_client_of(&self, asker: Asker) -> bool {
        asker == Asker::Client || !matches!(self, Layer::Headers(_) | Layer::Cache(_))
    }

    /// Whether a step whose call it wraps may not share that with steps of other requests: what it reads of the client decides.
    pub fn keeps_apart(&self) -> bool {
        let is_apart = |reading: Reading<'_>| {
            matches!(reading.decides, Decides::Answer | Decides::Owner) && reading.reads.request()
        };
        self.reads_client_of(Asker::Step) && self.readings().into_iter().any(is_apart)
    }
}

fn answered(respond: &Respond) -> Vec<Reading<'_>> {
    let made = respond.fields.iter().filter_map(|field| field.value.made());
    let texts = made.chain(respond.to.iter().map(|to| &to.url)).map(expression::Template::reads);
    let when = respond.when.iter().map(expression::Expression::reads);
    when.chain(texts).map(|reads| Reading { reads, decides: Decides::Answer }).collect()
}

fn changed(headers: &Headers) -> Vec<Reading<'_>> {
    let made = headers.request.made().chain(headers.response.made());
    made.map(|made| Reading { reads: made.reads(), decides: Decides::Answer }).collect()
}

fn failed(faults: &FaultInjection) -> Vec<Reading<'_>> {
    let when = faults.when.iter();
    when.map(|when| Reading { reads: when.reads(), decides: Decides::Answer }).collect()
}

fn keyed(cache: &CachePolicy) -> Vec<Reading<'_>> {
    let texts = cache.per.iter().chain(&cache.key.by).map(expression::Template::reads);
    let conditions = cache.bypass.all().iter().chain(cache.skip_for.all());
    let conditions = conditions.filter_map(|condition| match condition {
        Condition::Holds(expression) => Some(expression.reads()),
        Condition::Header(_) | Condition::Cookie(_) => None,
    });
    texts.chain(conditions).map(|reads| Reading { reads, decides: Decides::Key }).collect()
}

fn turns(queue: &Queue) -> impl Iterator<Item = Reading<'_>> {
    let texts = queue.priority.iter().chain(&queue.fair);
    texts.map(|text| Reading { reads: text.reads(), decides: Decides::Turn })
}

impl CachePolicy {
    /// Whether all requests that share an answer of this cache are the same in what is read.
    pub(super) fn holds(&self, reads: &Reads<'_>) -> bool {
        let key = &self.key;
        let has_cookie = |name: &str| {
            let is_keyed = key.cookies.iter().flatten().any(|keyed| keyed == name);
            is_keyed
                || self.passes(|condition| matches!(condition, Condition::Cookie(passed) if passed == name))
        };
        // Those by name, and no other line of the field.
        let has_cookies = || {
            reads.fields().filter(|name| *name == COOKIE).count() == reads.cookies().count()
                && reads.cookies().all(has_cookie)
        };
        let has_field = |name: HeaderName| {
            key.headers.contains(&name)
                || self.passes(|condition| matches!(condition, Condition::Header(passed) if *passed == name))
                || name == COOKIE && has_cookies()
        };
        !reads.client()
            && !reads.cache()
            && (key.host || !reads.host())
            && (key.scheme || !reads.scheme())
            && reads.fields().all(has_field)
    }

    /// Whether requests that have this go past the cache, so that those that share an answer are without it.
    fn passes(&self, is: impl FnMut(&Condition) -> bool) -> bool {
        self.bypass.all().iter().chain(self.skip_for.all()).any(is)
    }
}
