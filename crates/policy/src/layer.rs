//! Layer: one policy around a call. A policy of the file becomes several, in the order that stands here.

use crate::cache::CacheLayer;

/// See the module. The order is that of the variants, outermost first.
pub(crate) enum Layer {
    /// Answers again what may be answered again. Outside of all that follows: a hit costs the source nothing, so whatever
    /// spares the source, or mends what it does, has no business with it.
    Cache(Box<CacheLayer>),
}

impl Layer {
    /// Those of a route, outermost first.
    pub(crate) fn in_order(cache: Option<CacheLayer>) -> Vec<Layer> {
        cache.map(|cache| Layer::Cache(Box::new(cache))).into_iter().collect()
    }

    /// Whether it may have a response at hand.
    pub(crate) fn holds(&self) -> bool {
        match self {
            Layer::Cache(_) => true,
        }
    }
}
