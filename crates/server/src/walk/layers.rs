//! Layers: what the plan says wraps a call → what wraps it at one place of one core. Called by `local` for routes, and by
//! `steps` for what steps ask.

use std::cell::RefCell;
use std::sync::Arc;

use cache::Store;
use plan::SourceId;
use policy::{
    AccountsLayer, AskedFor, BreakerLayer, CacheLayer, ConcurrencyLayer, CorsLayer, CredentialsLayer,
    FaultsLayer, HeadersLayer, HedgeLayer, Layer, LearnLayer, LimitLayer, Remedies, RespondLayer, RetryLayer,
    RewriteLayer, TimeoutLayer, WasmLayer,
};
use redis_link::Link;
use source::Source;

use crate::walk::composition::Names;
use crate::walk::counting::CountingLinks;

/// What layers of one core are made with.
pub(crate) struct Kit<'a> {
    pub(crate) store: &'a Arc<Store>,
    /// This core's way to the tier that instances share.
    pub(crate) tier: Option<&'a Link>,
    pub(crate) remedies: &'a Remedies,
    /// In the order of the plan's.
    pub(crate) sources: &'a [Source],
    /// This core's ways to where instances count together.
    pub(crate) counting: &'a CountingLinks,
}

/// Where layers stand.
pub(crate) struct Place<'a> {
    /// Where metrics say that it is.
    pub(crate) route: &'a str,
    /// What the route calls the segments of its path; steps bring those of theirs along.
    pub(crate) names: &'a Names,
    /// What is asked, as keys of the cache call it.
    pub(crate) source: &'a str,
    /// Its targets, where it is an origin.
    pub(crate) targets: &'a [String],
    /// What it may take itself for, where it is an origin.
    pub(crate) hosts: &'a [String],
    /// Whether what was given last stands in for whatever fails.
    pub(crate) stands_in: bool,
    /// How it is asked.
    pub(crate) asked: AskedFor,
}

impl Kit<'_> {
    /// These layers at that place, outermost first.
    pub(crate) fn layers(&self, layers: &plan::Layers, place: &Place<'_>) -> Vec<Layer> {
        layers.iter().enumerate().map(|(at, layer)| self.layer(layer, layers, at, place)).collect()
    }

    /// The layer at this place among all.
    fn layer(&self, layer: &plan::Layer, all: &plan::Layers, at: usize, place: &Place<'_>) -> Layer {
        let outcomes = |policy: &str, known| {
            let (route, policy) = (place.route.into(), policy.into());
            self.remedies.tally.at(policy::Place { route, policy, remedy: layer.word() }, known)
        };
        match layer {
            plan::Layer::Cache(cache) => Layer::Cache(Box::new(CacheLayer {
                policy: Arc::clone(cache),
                names: Arc::clone(place.names),
                source: place.source.into(),
                store: Arc::clone(self.store),
                link: self.tier.cloned(),
                stands_in: place.stands_in,
                forgets: cache.key.is_step || all.is_behind_new_path(at),
            })),
            plan::Layer::Hedge(rule) => Layer::Hedge(Box::new(HedgeLayer::new(
                self.remedies.hedges.of(rule),
                outcomes(&rule.name, HedgeLayer::OUTCOMES),
            ))),
            plan::Layer::Retry(rule) => Layer::Retry(RetryLayer {
                retries: self.remedies.retries.of(rule),
                outcomes: outcomes(&rule.name, RetryLayer::OUTCOMES),
            }),
            plan::Layer::Breaker(rule) => Layer::Breaker(BreakerLayer::new(
                self.remedies.breakers.of(rule),
                outcomes(&rule.name, BreakerLayer::OUTCOMES),
                place.source,
                place.targets,
            )),
            plan::Layer::Limit { limit, is_of_source } => Layer::Limit(Box::new(LimitLayer {
                limited: self.remedies.limits.of(limit),
                link: limit.shared.as_ref().map(|shared| self.counting.to(&shared.redis.name)),
                outcomes: outcomes(&limit.name, LimitLayer::outcomes(limit)),
                is_told: !is_of_source,
                source: place.source.into(),
                names: Arc::clone(place.names),
                scratch: RefCell::default(),
            })),
            plan::Layer::Learn(rule) => Layer::Learn(Box::new(LearnLayer::new(
                self.remedies.lessons.of(rule),
                outcomes(&rule.name, LearnLayer::OUTCOMES),
                place.source,
                Arc::clone(place.names),
            ))),
            plan::Layer::Concurrency(rule) => Layer::Concurrency(Box::new(ConcurrencyLayer::new(
                self.remedies.concurrents.of(rule),
                outcomes(&rule.name, ConcurrencyLayer::OUTCOMES),
                place.source,
                Arc::clone(place.names),
            ))),
            plan::Layer::Credentials(rule) => Layer::Credentials(CredentialsLayer {
                credentials: self.remedies.credentials.of(rule),
                outcomes: outcomes(&rule.name, CredentialsLayer::OUTCOMES),
            }),
            plan::Layer::Accounts(rule) => Layer::Accounts(AccountsLayer {
                accounts: self.remedies.accounts.of(rule),
                outcomes: outcomes(&rule.name, AccountsLayer::OUTCOMES),
            }),
            plan::Layer::Cors(cors) => Layer::Cors(CorsLayer(Arc::clone(cors))),
            plan::Layer::Respond(respond) => Layer::Respond(RespondLayer {
                outcomes: outcomes(&respond.name, RespondLayer::outcomes(respond)),
                respond: Arc::clone(respond),
                names: Arc::clone(place.names),
            }),
            plan::Layer::Faults(faults) => Layer::Faults(FaultsLayer {
                outcomes: outcomes(&faults.name, FaultsLayer::OUTCOMES),
                faults: Arc::clone(faults),
                names: Arc::clone(place.names),
            }),
            plan::Layer::Rewrite(rewrite) => {
                Layer::Rewrite(RewriteLayer { rewrite: Arc::clone(rewrite), hosts: place.hosts.into() })
            }
            plan::Layer::Wasm(hooks) => Layer::Wasm(Box::new(WasmLayer {
                hooks: Arc::clone(hooks),
                module: self.module(hooks.module),
                keyed: all.keyed(at),
                asked: place.asked,
                outcomes: outcomes(&hooks.name, WasmLayer::OUTCOMES),
            })),
            plan::Layer::Headers(headers) => {
                Layer::Headers(HeadersLayer { headers: Arc::clone(headers), names: Arc::clone(place.names) })
            }
            plan::Layer::Overall(timeout) | plan::Layer::PerTry(timeout) => Layer::Timeout(TimeoutLayer {
                within: timeout.within,
                outcomes: outcomes(&timeout.name, TimeoutLayer::OUTCOMES),
            }),
        }
    }

    fn module(&self, id: SourceId) -> Arc<wasm::Module> {
        Arc::clone(self.sources[id.place()].wasm().expect("the plan calls functions of modules alone"))
    }
}
