//! Redis: real servers on free ports, alone, replicated, as a cluster or under Sentinels, killed on drop.

mod client;
mod cluster;
mod options;
mod reply;
mod sentinel;
mod server;

pub use client::RedisClient;
pub use cluster::RedisCluster;
pub use options::RedisOptions;
pub use reply::Reply;
pub use sentinel::RedisSentinel;
pub use server::RedisServer;
