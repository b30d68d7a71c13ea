//! Where answers come from: origins over HTTP, reads of a Redis or of a store in a file, databases, modules. A source ends
//! a call: a request, or what a step asks, its arguments bound.

mod call;
mod http;
mod read;
mod redis;
mod source;
mod store;

pub use call::{BoundCall, Question};
pub use http::{HttpSource, Shared, check_health};
pub use read::{Answered, Explained, Fresh, ReadAsked, ReadLine, ReadScratch, ReadSource, ReadValue};
pub use redis::{Redis, RedisFigures, RedisLine};
pub use source::{LocalSource, Source, Unready};
pub use store::{Store, StoreError};
