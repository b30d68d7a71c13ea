//! At hand: what a core lends to whoever looks for a response that is at hand: room to make keys in, used again and
//! again, and what the core calls itself.

use std::cell::RefCell;

use http::HeaderValue;
use source::ReadScratch;

/// See the module.
#[derive(Clone, Copy)]
pub struct AtHand<'a> {
    /// For keys of the cache.
    pub keys: &'a RefCell<cache::Scratch>,
    /// For arguments and keys of reads.
    pub reads: &'a RefCell<ReadScratch>,
    /// `<location>-<8 hex>`, for `Cache-ID`.
    pub cache_id: &'a HeaderValue,
}
