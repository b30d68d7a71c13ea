//! Redis as a source of reads. In: a command and its arguments. Out: what was found, and how long it holds.
//!
//! `line` is what one core has of it, `shared_redis` what all have. A question goes `line` → `ask` → `reply`; in replica mode
//! `replica` says where to (`lag`, `replication`), in tracked mode `tracking` keeps what is held true.

mod ask;
mod command;
mod kept_answer;
mod lag;
mod line;
mod remembered;
mod replica;
mod replication;
mod reply;
mod shared_redis;
mod tracked_answers;
mod tracking;
mod watcher;

pub use line::RedisLine;
pub use shared_redis::{RedisFigures, SharedRedis};
