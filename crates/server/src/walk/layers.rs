//! Layers: what the plan says wraps a call → what wraps it at one place of one core. Called by `local` for routes, and by
//! `steps` for what steps ask.

use std::sync::Arc;

use cache::Store;
use policy::{CacheLayer, Layer, LimitLayer, Remedies, RetryLayer, TimeoutLayer};
use redis_link::Link;

use crate::walk::composition::Names;

/// What layers of one core are made with.
pub(crate) struct Kit<'a> {
    pub(crate) store: &'a Arc<Store>,
    /// This core's way to the tier that instances share.
    pub(crate) tier: Option<&'a Link>,
    pub(crate) remedies: &'a Remedies,
}

/// Where layers stand.
pub(crate) struct Place<'a> {
    /// What the route calls the segments of its path; steps bring those of theirs along.
    pub(crate) names: &'a Names,
    /// What is asked, as keys of the cache call it.
    pub(crate) source: &'a str,
    /// Whether what was given last stands in for whatever fails.
    pub(crate) stands_in: bool,
}

impl Kit<'_> {
    /// These layers at that place, outermost first.
    pub(crate) fn layers(&self, layers: &plan::Layers, place: &Place<'_>) -> Vec<Layer> {
        layers.iter().map(|layer| self.layer(layer, place)).collect()
    }

    fn layer(&self, layer: &plan::Layer, place: &Place<'_>) -> Layer {
        match layer {
            plan::Layer::Cache(cache) => Layer::Cache(Box::new(CacheLayer {
                policy: Arc::clone(cache),
                names: Arc::clone(place.names),
                source: place.source.into(),
                store: Arc::clone(self.store),
                link: self.tier.cloned(),
                stands_in: place.stands_in,
            })),
            plan::Layer::Retry(rule) => Layer::Retry(RetryLayer(self.remedies.retries.of(rule))),
            plan::Layer::Limit { limit, is_of_source } => Layer::Limit(Box::new(LimitLayer {
                limited: self.remedies.limits.of(limit),
                is_told: !is_of_source,
                source: place.source.into(),
                names: Arc::clone(place.names),
            })),
            plan::Layer::Overall(within) | plan::Layer::PerTry(within) => {
                Layer::Timeout(TimeoutLayer { within: *within })
            }
        }
    }
}
