//! Default: what holds where the file says nothing and the type in `meant` has no default of its own. Read by the
//! checks and by `up`; a test holds that the reference names the same values.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZero;
use std::time::Duration;

use guard::{BreakerRule, Opens};
use http::HeaderName;
use rules::Encoding;

use crate::meant::{
    Compress, Database, Listen, Login, ReadMode, RedisSource, RedisTier, SqlSource, Topology,
};

/// Bytes of the memory tier: 256 MiB.
pub(crate) const MEMORY: u64 = 256 * 1024 * 1024;

/// How long requests under way may go on after SIGTERM.
pub(crate) const DRAIN: Duration = Duration::from_secs(30);
pub(crate) const DRAIN_DELAY: Duration = Duration::ZERO;

/// Idle connections kept per core and target.
pub(crate) const IDLE_CONNECTIONS: usize = 64;
pub(crate) const CONNECTION_AGE: Duration = Duration::from_hours(1);

/// Where clients come in.
pub(crate) const HTTP: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// Health and metrics of `up`. A file has no admin port unless it names one.
pub(crate) const ADMIN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9090);

/// The first half of `Cache-ID` where nobody named a location.
pub(crate) const LOCATION: &str = "LOCAL";

/// Listening on [`HTTP`] only.
pub(crate) fn listen() -> Listen {
    Listen {
        http: vec![HTTP],
        https: Vec::new(),
        tls: None,
        admin: None,
        admin_token: None,
        proxy_protocol: false,
        trust: Vec::new(),
    }
}

/// How far the clocks of whoever signs tokens may be apart from ours.
pub(crate) const LEEWAY: Duration = Duration::from_secs(30);

/// Fetches of public keys.
pub(crate) const JWKS_COOLDOWN: Duration = Duration::from_secs(10);
pub(crate) const JWKS_IF_ERROR: Duration = Duration::from_hours(24);
pub(crate) const JWKS_TIMEOUT: Duration = Duration::from_secs(5);

/// The header that carries an API key.
pub(crate) const API_KEY_FIELD: HeaderName = HeaderName::from_static("x-api-key");

/// The cookie that may carry a signature, by Cloud CDN's name.
pub(crate) const SIGNED_COOKIE: &str = "Cloud-CDN-Cookie";

/// What is compressed where only `true` is written: what gets smaller by it.
pub(crate) fn compress() -> Compress {
    const TYPES: [&str; 14] = [
        "text/*",
        "application/json",
        "application/ld+json",
        "application/problem+json",
        "application/graphql-response+json",
        "application/manifest+json",
        "application/javascript",
        "application/xml",
        "application/rss+xml",
        "application/atom+xml",
        "application/wasm",
        "image/svg+xml",
        "font/ttf",
        "font/otf",
    ];
    Compress {
        encodings: vec![Encoding::Zstd, Encoding::Brotli, Encoding::Gzip],
        types: TYPES.map(str::to_owned).to_vec(),
        least: 1024,
    }
}

/// One runtime for each core that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

/// How far a replica may be behind.
pub(crate) const MAX_LAG: Duration = Duration::from_secs(1);

/// Bytes of values of a Redis that are held in process.
pub(crate) const HELD: u64 = 64 * 1024 * 1024;

/// How long a tracking connection may be silent.
pub(crate) const SILENCE: Duration = Duration::from_secs(2);

/// What keys in a Redis begin with.
pub(crate) const PREFIX: &str = "fleetfoot";

/// A Redis with every default.
pub(crate) fn redis(name: &str, topology: Topology) -> RedisSource {
    RedisSource {
        name: name.to_owned(),
        topology,
        login: Login::default(),
        database: 0,
        verify: true,
        authorities: None,
        connect_timeout: Duration::from_secs(1),
        timeout: Duration::from_millis(100),
        rest: Duration::from_secs(5),
        mode: ReadMode::Central,
        memory: HELD,
        max_stale: Duration::ZERO,
        public: false,
        tier: RedisTier {
            prefix: PREFIX.to_owned(),
            lock: Duration::from_secs(2),
            largest: 1024 * 1024,
            unheard: Duration::from_secs(30),
        },
    }
}

/// A database with every default.
pub(crate) fn database(name: &str, database: Database) -> SqlSource {
    SqlSource {
        name: name.to_owned(),
        database,
        pool: 10,
        queue: 1000,
        wait: Duration::from_secs(1),
        connect_timeout: Duration::from_secs(2),
        timeout: Duration::from_secs(5),
        verify: true,
        authorities: None,
    }
}

/// How long a whole `compose` may take.
pub(crate) const COMPOSE: Duration = Duration::from_secs(30);

/// Items of `for` at once.
pub(crate) const WIDTH: usize = 16;

/// Items of `for` at most.
pub(crate) const MOST: usize = 256;

/// For how long what a step gave may stand in for what it cannot give now.
pub(crate) const BREAKER: BreakerRule = BreakerRule {
    opens: Opens::Share { share: 0.5, window: Duration::from_secs(10), fewest: 20 },
    first_rest: Duration::from_secs(1),
    longest_rest: Duration::from_secs(30),
    probes: 1,
};
pub(crate) const HEDGE_PERCENTILE: f64 = 0.95;
pub(crate) const HEDGE_SHARE: f64 = 0.05;
pub(crate) const CONCURRENCY_FIRST: u32 = 8;
pub(crate) const CONCURRENCY_MOST: u32 = 1000;
pub(crate) const QUEUE_SIZE: usize = 1000;
pub(crate) const LEARN_OWNERS: usize = 10_000;
pub(crate) const LEARN_LONGEST: Duration = Duration::from_mins(1);
pub(crate) const LIMIT_KEYS: usize = 100_000;
/// What the cache is called that keeps for `on_error: stale`, where nothing else is cached.
pub(crate) const STALE: &str = "on_error: stale";
pub(crate) const STEP_STALE: Duration = Duration::from_hours(24);
