//! At hand: a response that is there without asking anybody, and what a core lends to whoever looks for one: room to make keys in, used again and
//! again, and what the core calls itself.

use std::cell::RefCell;
use std::time::Instant;

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use message::CacheStatus;
use source::ReadScratch;

/// See the module.
#[derive(Clone, Copy)]
pub struct AtHand<'a> {
    /// For keys of the cache.
    pub keys: &'a RefCell<cache::Scratch>,
    /// For arguments and keys of reads.
    pub reads: &'a RefCell<ReadScratch>,
    /// For fields that are added.
    pub fields: &'a RefCell<Vec<u8>>,
    /// Now, for limits.
    pub now: Instant,
    /// `<location>-<8 hex>`, for `Cache-ID`.
    pub cache_id: &'a HeaderValue,
}

/// A response that was at hand, its head written already.
pub struct Fresh {
    /// Its status.
    pub status: StatusCode,
    /// What a cache did.
    pub cache: Option<CacheStatus>,
    /// Its content, as far as the method gets any.
    pub content: Bytes,
}
