//! Where answers come from: origins over HTTP, reads of a Redis or of a store in a file, databases, modules. A source ends
//! a call: a request, or what a step asks, its arguments bound.

mod call;
mod content;
mod document;
mod http;
mod read;
mod redis;
mod source;
mod store;
mod value;

pub use call::{BoundCall, Question};
pub use content::{ContentSource, LARGEST, content, refused};
pub use document::{Document, Wanted};
pub use http::{HttpSource, SharedOrigin, check_health};
pub use read::{
    AnsweredRead, Explained, FreshRead, Pipelines, ReadAsked, ReadLine, ReadScratch, ReadSource, ReadValue,
};
pub use redis::{RedisFigures, RedisLine, SharedRedis};
pub use source::{LocalSource, Source, Unready};
pub use store::{SharedStore, StoreError};
pub use value::{Value, ValueCall, ValueSource};
