//! Where answers come from: origins over HTTP, and reads of a Redis or of a store in a file. A source is a
//! [`message::Call`] that ends one.

mod http;
mod read;
mod redis;
mod store;

pub use http::{HttpSource, Shared, check_health};
pub use read::{
    Answered, Explained, Fresh, ReadAsked, ReadLine, ReadScratch, ReadSource, ReadValue, Reading,
};
pub use redis::{Redis, RedisFigures, RedisLine};
pub use store::{Store, StoreError};
