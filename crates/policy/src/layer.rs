//! Layer: one policy around a call. A policy of the file becomes several, in the order that stands here.

use std::sync::Arc;

use crate::cache::CacheLayer;
use crate::gate::Gate;

/// See the module. The order is that of the variants, outermost first.
pub enum Layer {
    /// Lets signed requests alone in. Outermost: nobody reaches what is stored, or a source, without the right to.
    Signed(Arc<Gate>),
    /// Answers again what may be answered again. Outside of all that follows: a hit costs the source nothing, so whatever
    /// spares the source, or mends what it does, has no business with it.
    Cache(Box<CacheLayer>),
}

impl Layer {
    /// Those of a route, outermost first.
    pub fn in_order(signed: Option<Arc<Gate>>, cache: Option<CacheLayer>) -> Vec<Layer> {
        let signed = signed.map(Layer::Signed);
        let cache = cache.map(|cache| Layer::Cache(Box::new(cache)));
        signed.into_iter().chain(cache).collect()
    }

    /// Whether it may have a response at hand.
    pub(crate) fn holds(&self) -> bool {
        match self {
            Layer::Signed(_) => false,
            Layer::Cache(_) => true,
        }
    }

    /// Whether it says who may come in, which requests of our own need not be asked.
    pub(crate) fn is_admission(&self) -> bool {
        match self {
            Layer::Signed(_) => true,
            Layer::Cache(_) => false,
        }
    }
}
