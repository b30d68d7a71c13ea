//! Source: one entry of `sources`, whatever its kind, and how the rest of a plan names it.

use std::sync::Arc;

use super::{HttpSource, Plan, RedisSource, SqlSource, StoreSource, WasmSource};

/// Which source of a plan. Another plan, as after a reload, may use the same number for another source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(usize);

/// Where answers come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// An origin.
    Http(Arc<HttpSource>),
    /// A Redis or Valkey, to read from, or as a tier of the cache.
    Redis(Arc<RedisSource>),
    /// Keys and values in a file.
    Store(Arc<StoreSource>),
    /// A database.
    Sql(Arc<SqlSource>),
    /// A module of your own.
    Wasm(Arc<WasmSource>),
}

impl SourceId {
    /// The one at this place of [`Plan::sources`].
    pub const fn at(place: usize) -> Self {
        SourceId(place)
    }

    /// Its place in [`Plan::sources`], and in every list that is made of it.
    pub const fn place(self) -> usize {
        self.0
    }
}

impl Source {
    /// Its name in the file.
    pub fn name(&self) -> &str {
        match self {
            Source::Http(source) => &source.name,
            Source::Redis(source) => &source.name,
            Source::Store(source) => &source.name,
            Source::Sql(source) => &source.name,
            Source::Wasm(source) => &source.name,
        }
    }

    /// The origin that it is.
    pub fn http(&self) -> Option<&Arc<HttpSource>> {
        match self {
            Source::Http(source) => Some(source),
            _ => None,
        }
    }

    /// The Redis that it is.
    pub fn redis(&self) -> Option<&Arc<RedisSource>> {
        match self {
            Source::Redis(source) => Some(source),
            _ => None,
        }
    }
}

impl Plan {
    /// The source that this plan gave the number to.
    pub fn source(&self, id: SourceId) -> &Source {
        &self.sources[id.place()]
    }

    /// Those that are origins.
    pub fn http_sources(&self) -> impl Iterator<Item = &Arc<HttpSource>> {
        self.sources.iter().filter_map(Source::http)
    }

    /// The Redis that instances share as a tier of the cache.
    pub fn shared_tier(&self) -> Option<&Arc<RedisSource>> {
        self.source(self.tier?).redis()
    }
}
