//! Redis: what a source at a Redis or Valkey means, as a source of reads and as a tier of the cache.

use std::path::PathBuf;
use std::time::Duration;

use super::Token;

/// A Redis or Valkey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedisSource {
    /// Its name in the file.
    pub name: String,
    /// Where it is.
    pub topology: Topology,
    /// Who we are there.
    pub login: Login,
    /// The number of the database; a cluster has only 0.
    pub database: u32,
    /// Whether TLS certificates are verified. True unless somebody wrote otherwise.
    pub verify: bool,
    /// A PEM file of certificate authorities to trust instead of the system's.
    pub authorities: Option<PathBuf>,
    /// For name, TCP, TLS and greeting together.
    pub connect_timeout: Duration,
    /// From a command to its reply; what takes longer has failed.
    pub timeout: Duration,
    /// How long it is left alone at most, when it keeps failing, before somebody tries again.
    pub rest: Duration,
    /// How `read` reaches it.
    pub mode: ReadMode,
    /// Bytes of values that are held in process: tracked ones, and those kept for `max_stale`.
    pub memory: u64,
    /// How old a value may be that is given because Redis is gone. Zero: none is.
    pub max_stale: Duration,
    /// Whether requests may name any key.
    pub public: bool,
    /// As a tier of the cache.
    pub tier: RedisTier,
}

/// Where a Redis is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topology {
    /// One server.
    Standalone(RedisServer),
    /// The master of this name, as these Sentinels know it.
    Sentinel {
        /// At least one.
        sentinels: Vec<RedisServer>,
        /// What they call it.
        master: String,
    },
    /// A cluster that knows itself; asked at any of these.
    Cluster(Vec<RedisServer>),
}

/// One server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedisServer {
    /// Over TCP.
    Tcp {
        /// Name or address, without brackets.
        host: String,
        /// TCP port.
        port: u16,
        /// Whether to use TLS.
        tls: bool,
    },
    /// Over a socket of this machine.
    Unix(PathBuf),
}

/// Who we are: nobody, the default user with a password, or a user of the ACL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Login {
    /// `None`: the default user.
    pub user: Option<String>,
    /// Never shown.
    pub password: Option<Token>,
}

/// How `read` reaches a Redis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadMode {
    /// Each read asks it.
    Central,
    /// Each read asks a replica nearby, as long as that is not behind.
    Replica {
        /// The replica.
        server: RedisServer,
        /// How far behind it may be.
        max_lag: Duration,
    },
    /// Values are held in process, as long as Redis tells when they change.
    Tracked {
        /// Beginnings of the keys that Redis tells about; none: of all keys.
        prefixes: Vec<String>,
        /// Whoever is silent for longer counts as gone.
        silence: Duration,
    },
}

/// A Redis as a tier of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedisTier {
    /// What our keys there begin with: one for each deployment.
    pub prefix: String,
    /// How long an instance may have a key to itself while it asks the origin.
    pub lock: Duration,
    /// Bytes of an answer; larger ones stay in the instances.
    pub largest: u64,
    /// How long an instance that hears of no purges goes on as if there were none.
    pub unheard: Duration,
}

impl RedisServer {
    /// For messages and logs: `host:port`, or the socket's path.
    pub fn address(&self) -> String {
        match self {
            RedisServer::Tcp { host, port, .. } if host.contains(':') => format!("[{host}]:{port}"),
            RedisServer::Tcp { host, port, .. } => format!("{host}:{port}"),
            RedisServer::Unix(path) => path.display().to_string(),
        }
    }
}

impl Topology {
    /// Those named in the file.
    pub fn servers(&self) -> &[RedisServer] {
        match self {
            Topology::Standalone(server) => std::slice::from_ref(server),
            Topology::Sentinel { sentinels, .. } => sentinels,
            Topology::Cluster(servers) => servers,
        }
    }
}
