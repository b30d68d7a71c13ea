//! Layer: one thing around a call, as it runs at one place of one core. In which order layers stand is told by
//! [`plan::Layer`]; what each does stands in a file of its own.

use crate::cache::CacheLayer;
use crate::limit::LimitLayer;
use crate::retry::RetryLayer;
use crate::timeout::TimeoutLayer;

/// See the module.
pub enum Layer {
    /// Answers again what may be answered again.
    Cache(Box<CacheLayer>),
    /// Makes the call again where it failed.
    Retry(RetryLayer),
    /// Refuses what comes too often.
    Limit(Box<LimitLayer>),
    /// Gives up what takes too long.
    Timeout(TimeoutLayer),
}

impl Layer {
    /// Whether it may have a response at hand.
    pub(crate) fn holds(&self) -> bool {
        match self {
            Layer::Cache(_) => true,
            Layer::Retry(_) | Layer::Limit(_) | Layer::Timeout(_) => false,
        }
    }
}
