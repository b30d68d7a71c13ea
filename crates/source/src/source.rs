//! Source: one entry of the plan's list, ready to be asked: as all cores share it, and as one core has it. Whatever names a
//! source does so by its [`plan::SourceId`], which is its place in both lists.

use std::sync::Arc;

use message::Error;

use crate::http::{self, HttpSource};
use crate::read::ReadLine;
use crate::redis::{RedisLine, SharedRedis};
use crate::store::{SharedStore, StoreError};

/// What all cores share of a source. Clones are the same one.
#[derive(Clone)]
pub enum Source {
    /// An origin: its names resolved, the health of its targets, TLS settings.
    Http(Arc<http::SharedOrigin>),
    /// A Redis: what is held of it.
    Redis(Arc<SharedRedis>),
    /// A store: its values.
    Store(Arc<SharedStore>),
    /// A database.
    Sql(Arc<sql::SharedDatabase>),
    /// A module and its threads.
    Wasm(Arc<wasm::Module>),
}

/// One core's way to a source: its connections. Clones are the same way.
#[derive(Clone)]
pub enum LocalSource {
    /// To an origin.
    Http(HttpSource),
    /// To a Redis or a store.
    Read(ReadLine),
    /// To a database.
    Sql(sql::DatabaseLine),
    /// To a module.
    Wasm(Arc<wasm::Module>),
}

impl LocalSource {
    /// The names of its targets, where it is an origin.
    pub fn targets(&self) -> Vec<String> {
        match self {
            LocalSource::Http(origin) => origin.shared().targets(),
            LocalSource::Read(_) | LocalSource::Sql(_) | LocalSource::Wasm(_) => Vec::new(),
        }
    }

    /// What it may take itself for, where it is an origin: hosts and ports by which it is asked.
    pub fn hosts(&self) -> Vec<String> {
        match self {
            LocalSource::Http(origin) => origin.shared().plan().hosts(),
            LocalSource::Read(_) | LocalSource::Sql(_) | LocalSource::Wasm(_) => Vec::new(),
        }
    }
}

/// Why a source cannot be made ready.
#[derive(Debug)]
pub enum Unready {
    /// The certificate authorities of an origin or a Redis.
    Authorities(Error),
    /// The file of a store.
    Store(StoreError),
    /// A database.
    Sql(Error),
    /// A module.
    Wasm(Error),
}

impl Source {
    /// Makes it ready, for so many cores. Nothing is connected yet.
    ///
    /// # Errors
    /// See [`Unready`].
    pub fn new(plan: &plan::Source, cores: usize) -> Result<Self, Unready> {
        Ok(match plan {
            plan::Source::Http(plan) => {
                Source::Http(http::SharedOrigin::new(Arc::clone(plan)).map_err(Unready::Authorities)?)
            }
            plan::Source::Redis(plan) => {
                Source::Redis(SharedRedis::new(Arc::clone(plan)).map_err(Unready::Authorities)?)
            }
            plan::Source::Store(plan) => {
                Source::Store(SharedStore::open(Arc::clone(plan)).map_err(Unready::Store)?)
            }
            plan::Source::Sql(plan) => {
                Source::Sql(sql::SharedDatabase::new(Arc::clone(plan), cores).map_err(Unready::Sql)?)
            }
            plan::Source::Wasm(plan) => {
                Source::Wasm(wasm::Module::new(Arc::clone(plan)).map_err(Unready::Wasm)?)
            }
        })
    }

    /// Whether both are the same one.
    pub fn is(&self, other: &Source) -> bool {
        match (self, other) {
            (Source::Http(one), Source::Http(other)) => Arc::ptr_eq(one, other),
            (Source::Redis(one), Source::Redis(other)) => Arc::ptr_eq(one, other),
            (Source::Store(one), Source::Store(other)) => Arc::ptr_eq(one, other),
            (Source::Sql(one), Source::Sql(other)) => Arc::ptr_eq(one, other),
            (Source::Wasm(one), Source::Wasm(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// The origin that it is.
    pub fn http(&self) -> Option<&Arc<http::SharedOrigin>> {
        match self {
            Source::Http(source) => Some(source),
            _ => None,
        }
    }

    /// The Redis that it is.
    pub fn redis(&self) -> Option<&Arc<SharedRedis>> {
        match self {
            Source::Redis(source) => Some(source),
            _ => None,
        }
    }

    /// The store that it is.
    pub fn store(&self) -> Option<&Arc<SharedStore>> {
        match self {
            Source::Store(source) => Some(source),
            _ => None,
        }
    }

    /// The database that it is.
    pub fn sql(&self) -> Option<&Arc<sql::SharedDatabase>> {
        match self {
            Source::Sql(source) => Some(source),
            _ => None,
        }
    }

    /// The module that it is.
    pub fn wasm(&self) -> Option<&Arc<wasm::Module>> {
        match self {
            Source::Wasm(source) => Some(source),
            _ => None,
        }
    }
}

impl LocalSource {
    /// A way that has not been used yet.
    pub fn new(source: &Source) -> Self {
        match source {
            Source::Http(source) => LocalSource::Http(HttpSource::new(Arc::clone(source))),
            Source::Redis(source) => LocalSource::Read(ReadLine::Redis(RedisLine::new(Arc::clone(source)))),
            Source::Store(source) => LocalSource::Read(ReadLine::Store(Arc::clone(source))),
            Source::Sql(source) => LocalSource::Sql(sql::DatabaseLine::new(Arc::clone(source))),
            Source::Wasm(source) => LocalSource::Wasm(Arc::clone(source)),
        }
    }
}
