//! Layer: one thing that wraps a call. What `use` names becomes a list of them, outermost first: between policies in the
//! order of `use`, inside one policy in the order of this enum. Made by `policy`; `policy` of the same name above runs them.

use std::sync::Arc;

use http::HeaderName;
use http::header::COOKIE;

use super::{
    Accounts, Asker, Breaker, CachePolicy, Concurrency, Cors, Credentials, Decides, FaultInjection, Headers,
    Hedge, Hooks, Learn, Limit, Reading, Respond, Retry, Rewrite, Timeout,
};

/// See the module. The order of the variants is that inside one policy.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer {
    /// Lets pages of other origins read responses. Outermost, so that every response says so, whoever made it: the cache for another
    /// page, or a limit that refuses.
    Cors(Arc<Cors>),
    /// Gives a response instead of asking. Before the cache: whoever closes a route, or moves it, means all of it.
    Respond(Arc<Respond>),
    /// Answers again what may be answered again. Outermost: a hit costs the source nothing, so whatever spares the source,
    /// or mends what it does, has no business with it.
    Cache(Arc<CachePolicy>),
    /// Gives up after all tries together took so long. Around the retries, whose pauses it counts.
    Overall(Arc<Timeout>),
    /// Makes a call that takes long a second time, beside the first. Around the retries, so that a pause of theirs is not waited
    /// out where another try may be quicker.
    Hedge(Arc<Hedge>),
    /// Makes the call again where it failed. Inside the cache, which gives what it has when all tries have failed; outside of
    /// whatever is counted or limited for each try.
    Retry(Arc<Retry>),
    /// Makes no call to a target that keeps failing. Inside the retries, so that each try counts, and goes to a target that is
    /// well; outside of limits, which are not to count what is not sent.
    Breaker(Arc<Breaker>),
    /// Refuses what comes too often. Inside the retries, since each try costs the source something, and inside the cache, since
    /// a hit does not; a limit on clients stands in a policy of its own, before the one that caches.
    Limit {
        /// How often.
        limit: Arc<Limit>,
        /// Whether it stands on a source: then it is no client's quota, and clients are not told what is left.
        is_of_source: bool,
    },
    /// Keeps to what the source says of its limits. Inside of ours, which are known beforehand.
    Learn(Arc<Learn>),
    /// Has so many calls under way at once. Inside of limits, so that no place is held by a call that may not go yet.
    Concurrency(Arc<Concurrency>),
    /// Changes header fields. Inside of whatever decides whether the source is asked, so that what is decided by is what the
    /// client sent, and what is stored is what was changed; for what each client gets it stands in a policy before the cache.
    Headers(Arc<Headers>),
    /// Asks the source for another path. Inside of everything that reads the path which the client sent.
    Rewrite(Arc<Rewrite>),
    /// Has functions of a module change or answer calls. Inside of whatever else changes a request, so that they see what the source
    /// would but for secrets, and inside the cache, so that a hit calls none of them; outside of the timeout of a try, which counts nothing but the
    /// source.
    Wasm(Arc<Hooks>),
    /// Has the call carry what the source wants to see. Inside of whatever may keep the call from being made, so that nothing is
    /// spent for those, and of whatever changes a request, so that nothing takes it off again and no function is told it; inside the
    /// cache, which keeps what is fetched so as if anybody had fetched it.
    Credentials(Arc<Credentials>),
    /// The same with several accounts by turns. Inside the retries: the next try takes the next account.
    Accounts(Arc<Accounts>),
    /// Gives each try up after so long. Innermost, so that it counts nothing but the call itself.
    PerTry(Arc<Timeout>),
    /// Lets calls go wrong on purpose. Innermost: everything else meets the fault as if the source had made it.
    Faults(Arc<FaultInjection>),
}

impl Layer {
    /// As it is written in a policy.
    pub fn word(&self) -> &'static str {
        match self {
            Layer::Cache(_) => "cache",
            Layer::Overall(_) => "timeout.overall",
            Layer::Hedge(_) => "hedge",
            Layer::Retry(_) => "retry",
            Layer::Breaker(_) => "breaker",
            Layer::Limit { .. } => "limit",
            Layer::Learn(_) => "learn",
            Layer::Concurrency(_) => "concurrency",
            Layer::Credentials(_) => "credentials",
            Layer::Accounts(_) => "accounts",
            Layer::Headers(_) => "headers",
            Layer::Rewrite(_) => "rewrite",
            Layer::Wasm(_) => "wasm",
            Layer::PerTry(_) => "timeout.per_try",
            Layer::Cors(_) => "cors",
            Layer::Respond(respond) if respond.to.is_some() => "redirect",
            Layer::Respond(_) => "respond",
            Layer::Faults(_) => "faults",
        }
    }

    /// The name of its policy.
    pub fn policy(&self) -> &str {
        match self {
            Layer::Cors(it) => &it.name,
            Layer::Respond(it) => &it.name,
            Layer::Cache(it) => &it.name,
            Layer::Overall(it) | Layer::PerTry(it) => &it.name,
            Layer::Hedge(it) => &it.name,
            Layer::Retry(it) => &it.name,
            Layer::Breaker(it) => &it.name,
            Layer::Limit { limit, .. } => &limit.name,
            Layer::Learn(it) => &it.name,
            Layer::Concurrency(it) => &it.name,
            Layer::Credentials(it) => &it.name,
            Layer::Accounts(it) => &it.name,
            Layer::Headers(it) => &it.name,
            Layer::Rewrite(it) => &it.name,
            Layer::Wasm(it) => &it.name,
            Layer::Faults(it) => &it.name,
        }
    }

    /// The name of its policy, and what that does with the path, where it gives a source another one.
    fn path_change(&self) -> Option<(&str, &'static str)> {
        match self {
            Layer::Rewrite(rewrite) => Some((&rewrite.name, "changes")),
            Layer::Wasm(hooks) if hooks.request.is_some() => Some((&hooks.name, "may change")),
            _ => None,
        }
    }
}

/// What wraps a call, outermost first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layers(Vec<Layer>);

/// What the keys of all caches around a layer hold of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyed {
    /// Header fields.
    pub fields: Vec<HeaderName>,
    /// Whether the host is held.
    pub host: bool,
    /// Whether the scheme is.
    pub scheme: bool,
}

impl Layers {
    /// Puts a layer inside of all others.
    pub fn push(&mut self, layer: Layer) {
        self.0.push(layer);
    }

    /// Puts a layer inside of all others, where there is one.
    pub fn push_some(&mut self, layer: Option<Layer>) {
        self.0.extend(layer);
    }

    /// Puts a layer before the first that changes what a source gets to see, and inside of all others.
    pub fn push_before_changes(&mut self, layer: Layer) {
        let changes = |layer: &Layer| match layer {
            Layer::Headers(headers) => !headers.request.is_empty(),
            Layer::Wasm(hooks) => hooks.request.is_some(),
            Layer::Credentials(_) | Layer::Accounts(_) | Layer::Rewrite(_) => true,
            _ => false,
        };
        let at = self.0.iter().position(changes).unwrap_or(self.0.len());
        self.0.insert(at, layer);
    }

    /// Puts a layer around all others.
    pub fn wrap(&mut self, layer: Layer) {
        self.0.insert(0, layer);
    }

    /// Puts all of these inside of all others. A cache inside of another one leaves the tags of responses to that.
    pub fn extend(&mut self, inner: &Layers) {
        let is_within_cache = self.cache().is_some();
        let inner = inner.clone();
        self.0.extend(inner.with_caches(|cache| cache.strips_tags &= !is_within_cache).0);
    }

    /// Outermost first.
    pub fn iter(&self) -> impl Iterator<Item = &Layer> {
        self.0.iter()
    }

    /// Whether nothing wraps the call.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The outermost cache among them.
    pub fn cache(&self) -> Option<&Arc<CachePolicy>> {
        self.iter().find_map(|layer| match layer {
            Layer::Cache(cache) => Some(cache),
            _ => None,
        })
    }

    /// Those that may make the call more than once, with the names of their policies.
    pub fn repeating(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.iter().filter_map(|layer| match layer {
            Layer::Hedge(hedge) => Some((layer.word(), hedge.name.as_str())),
            Layer::Retry(retry) => Some((layer.word(), retry.name.as_str())),
            _ => None,
        })
    }

    /// The policy of the first that may make the call more than once by this word.
    pub fn repeating_by(&self, wanted: &str) -> Option<&str> {
        self.repeating().find_map(|(word, name)| (word == wanted).then_some(name))
    }

    /// A layer that counts calls, here and among the others, of one policy: it would count the same call twice, and may wait for a
    /// place that the call holds itself. Its word, and the name of the policy.
    pub fn counts_twice(&self, others: &Layers) -> Option<(&'static str, &str)> {
        self.counting().find(|counting| others.counting().any(|other| other == *counting))
    }

    /// Those that keep one count for their policy, with its name.
    fn counting(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.iter().filter_map(|layer| match layer {
            Layer::Breaker(breaker) => Some((layer.word(), breaker.name.as_str())),
            Layer::Limit { limit, .. } => Some((layer.word(), limit.name.as_str())),
            Layer::Learn(learn) => Some((layer.word(), learn.name.as_str())),
            Layer::Concurrency(concurrency) => Some((layer.word(), concurrency.name.as_str())),
            _ => None,
        })
    }

    /// The name of the policy whose credentials the call carries.
    pub fn credentials(&self) -> Option<&str> {
        self.iter().find_map(|layer| match layer {
            Layer::Credentials(credentials) => Some(credentials.name.as_str()),
            Layer::Accounts(accounts) => Some(accounts.name.as_str()),
            _ => None,
        })
    }

    /// All limits, outermost first.
    pub fn limits(&self) -> impl Iterator<Item = &Arc<Limit>> {
        self.iter().filter_map(|layer| match layer {
            Layer::Limit { limit, .. } => Some(limit),
            _ => None,
        })
    }

    /// A layer that counts, or orders those that wait, by who asks, and stands where that is not known any more: behind a cache, which
    /// asks for many. With its place, and which of the two.
    pub fn owner_of_nobody(&self) -> Option<(usize, &Layer, Decides)> {
        let is_owner = |decides: &Decides| matches!(decides, Decides::Owner | Decides::Turn);
        let decides =
            |layer: &Layer| layer.readings().into_iter().map(|reading| reading.decides).find(is_owner);
        self.behind_cache().find_map(|(at, layer)| Some((at, layer, decides(layer)?)))
    }

    /// A layer whose answers depend on who asks, or on what the cache does, and which stands behind a cache that keeps them for others;
    /// and its place.
    pub fn answer_of_nobody(&self, asker: Asker) -> Option<(usize, &Layer)> {
        self.behind_cache().find(|(at, layer)| {
            let is_clients = asker == Asker::Step && layer.reads_client_of(asker);
            let depends = |reading: Reading<'_>| {
                // What is kept of a step is found by the step's call, whoever the client is.
                let varies = is_clients && reading.reads.request()
                    || !self.caches_around(*at).all(|cache| cache.holds(&reading.reads));
                reading.decides == Decides::Answer && varies
            };
            layer.readings().into_iter().any(depends)
        })
    }

    /// Whether a step whose call they wrap may not share it with steps of other requests.
    pub fn keep_apart(&self) -> bool {
        self.iter().any(Layer::keeps_apart)
    }

    /// Those that stand behind a cache, with their places.
    fn behind_cache(&self) -> impl Iterator<Item = (usize, &Layer)> {
        self.iter().enumerate().skip_while(|(_, layer)| !matches!(layer, Layer::Cache(_)))
    }

    /// The caches around the layer of this place.
    fn caches_around(&self, at: usize) -> impl Iterator<Item = &CachePolicy> {
        self.0[..at].iter().filter_map(|layer| match layer {
            Layer::Cache(cache) => Some(&**cache),
            _ => None,
        })
    }

    /// What only requests can have, as it is written: sources of values give no response.
    pub fn of_requests(&self) -> Option<&'static str> {
        let is_of_requests = |layer: &&Layer| {
            matches!(
                layer,
                Layer::Headers(_) | Layer::Rewrite(_) | Layer::Wasm(_) | Layer::Cors(_) | Layer::Respond(_)
            )
        };
        self.iter().find(is_of_requests).map(Layer::word)
    }

    /// Who may read responses in browsers.
    pub fn cors(&self) -> Option<&Arc<Cors>> {
        self.iter().find_map(|layer| match layer {
            Layer::Cors(cors) => Some(cors),
            _ => None,
        })
    }

    /// The same, where it stands behind a cache, which keeps what one page was told for others.
    pub fn cors_behind_cache(&self) -> Option<&Arc<Cors>> {
        let cached = self.iter().skip_while(|layer| !matches!(layer, Layer::Cache(_)));
        cached.into_iter().find_map(|layer| match layer {
            Layer::Cors(cors) => Some(cors),
            _ => None,
        })
    }

    /// What changes the path.
    pub fn rewrite(&self) -> Option<&Arc<Rewrite>> {
        self.iter().find_map(|layer| match layer {
            Layer::Rewrite(rewrite) => Some(rewrite),
            _ => None,
        })
    }

    /// The policy that gives a source another path, and what it does with it, where a segment is read by its name by something inside:
    /// the path is not the one any more that has the names. That of the client of a step stays what it is.
    pub fn reads_rewritten(&self, asker: Asker) -> Option<(&str, &'static str)> {
        let (at, change) =
            self.iter().enumerate().find_map(|(at, layer)| Some((at, layer.path_change()?)))?;
        let is_read = self.0[at..].iter().any(|layer| {
            let is_changed = asker == Asker::Client || !layer.reads_client_of(asker);
            is_changed && layer.readings().iter().any(|reading| reading.reads.segments().next().is_some())
        });
        is_read.then_some(change)
    }

    /// Whether requests may come to the layer of this place with another path than was asked for.
    pub fn is_behind_new_path(&self, at: usize) -> bool {
        self.0[..at].iter().any(|layer| layer.path_change().is_some())
    }

    /// What the layer of this place may go by in a request, where what comes of one is given to others. `None`: there is no cache around
    /// it, and it may go by all.
    pub fn keyed(&self, at: usize) -> Option<Keyed> {
        let keys = || self.caches_around(at).map(|cache| &cache.key);
        let mut fields = keys().next()?.headers.clone();
        fields.retain(|name| keys().all(|key| key.headers.contains(name)));
        // Of the others none goes on.
        if keys().all(|key| key.cookies.is_some()) {
            fields.push(COOKIE);
        }
        Some(Keyed { fields, host: keys().all(|key| key.host), scheme: keys().all(|key| key.scheme) })
    }

    /// The same, each cache changed in this way.
    #[must_use]
    pub fn with_caches(mut self, change: impl Fn(&mut CachePolicy)) -> Self {
        for layer in &mut self.0 {
            if let Layer::Cache(cache) = layer {
                change(Arc::make_mut(cache));
            }
        }
        self
    }

    /// As they stand on a source.
    #[must_use]
    pub fn of_source(mut self) -> Self {
        for layer in &mut self.0 {
            match layer {
                Layer::Cache(cache) => Arc::make_mut(cache).key.is_of_source = true,
                Layer::Limit { is_of_source, .. } => *is_of_source = true,
                Layer::Overall(_)
                | Layer::Hedge(_)
                | Layer::Retry(_)
                | Layer::Breaker(_)
                | Layer::Learn(_)
                | Layer::Concurrency(_)
                | Layer::Credentials(_)
                | Layer::Accounts(_)
                | Layer::Headers(_)
                | Layer::Rewrite(_)
                | Layer::Wasm(_)
                | Layer::Cors(_)
                | Layer::Respond(_)
                | Layer::Faults(_)
                | Layer::PerTry(_) => {}
            }
        }
        self
    }
}
