//! One Redis as this core sees it: connections, timeouts, breaker. Bound to the `redis` crate, whose commands and values
//! are its words.
//!
//! In: what the plan says of a Redis or Valkey, and commands. Out: replies, or a `message::Error` within a bounded time.
//! Called by the tier of the cache, by reads and by limits that instances share.
//!
//! Every connection speaks RESP3, so a server has to be Redis 6, Valkey, or newer; `HGETALL` and its like answer with
//! [`Value::Map`], and a missing value is [`Value::Nil`].

mod attempt;
mod cluster;
mod connect;
mod dedicated;
mod denials;
mod failure;
mod figures;
mod link;
mod node;
mod pace;
mod sentinel;
mod shared_link;
mod slot;
mod tls;

pub use redis::{Cmd, Pipeline, PushInfo, PushKind, Value, cmd, pipe};

pub use dedicated::Dedicated;
pub use failure::{code, is_unable};
pub use figures::LinkFigures;
pub use link::Link;
pub use shared_link::SharedLink;
