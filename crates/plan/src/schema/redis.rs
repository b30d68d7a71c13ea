//! The words of sources that are a Redis or a store.

use super::{SECRET_FORM, Section, USE, word};

pub(crate) static SOURCE_REDIS: Section = Section {
    path: "sources.<name> at a Redis",
    meaning: "A Redis or Valkey, for `read` and as the shared tier of the cache. Short form: `redis: \
              redis://127.0.0.1:6379`.",
    example: "redis: { redis: redis://127.0.0.1:6379, mode: tracked }",
    words: &[
        word(
            "redis",
            "URL or list",
            None,
            "`redis://host:6379`, `rediss://` for TLS, `unix:/path` for a socket. Several: Sentinels, or nodes of a \
             cluster. Required.",
        ),
        word(
            "topology",
            "`standalone`, `sentinel` or `cluster`",
            Some("standalone"),
            "What kind of deployment it is. A cluster names its other nodes itself; Sentinels name the `master`.",
        ),
        word("master", "text", None, "The name by which the Sentinels know the servers, such as `mymaster`."),
        word("user", "text", None, "An ACL user; if omitted, the default user."),
        word("password", SECRET_FORM, None, "That user's password."),
        word("database", "number", Some("0"), "The database number, from 0 to 1023. A cluster has only 0."),
        word("tls", "section", None, "How servers at `rediss` are verified."),
        word(
            "timeout",
            "duration",
            Some("100ms"),
            "Time from a command to its reply. A command that takes longer has failed, and after five failures in a \
             row none are sent for a while (`rest`).",
        ),
        word(
            "connect_timeout",
            "duration",
            Some("1s"),
            "Time for name lookup, TCP, TLS and greeting together.",
        ),
        word(
            "rest",
            "duration",
            Some("5s"),
            "The longest time that a Redis that keeps failing is left alone: a second at first, then twice as long \
             each time. One that is heard from on another connection (`mode: tracked`, `tier`) is asked again at once.",
        ),
        word("mode", "`central`, `replica` or `tracked`", Some("central"), "How `read` reaches it.").told(
            "`central`: each read is sent to the server, all reads of a core over one connection, so that one round \
             trip carries many. `replica`: reads go to the `replica` next to this process as long as its link is up \
             and it is no further behind than `max_lag`; otherwise to the server itself. `tracked`: values are held in \
             this process, and Redis reports when they change (`CLIENT TRACKING ON BCAST`), so that most reads cost \
             what a cache hit costs; needs Redis 6 or Valkey. A change is seen here as soon as Redis has reported it; \
             if Redis falls silent for `silence`, or the connection breaks, everything held is dropped and reads go to \
             Redis. `replica` and `tracked` need `topology: standalone` or `sentinel`. Use `tracked` where reads are \
             many and writes few; each write costs every instance a message. Can be changed with a reload.",
            "mode: tracked\ntrack: [\"user:\", \"token:\"]\nmemory: 256MiB",
        ),
        word("replica", "URL", None, "The nearby replica, for `mode: replica`."),
        word("max_lag", "duration", Some("1s"), "How far the replica may be behind."),
        word(
            "track",
            "text or list",
            None,
            "Prefixes of the keys that are read here, for `mode: tracked`: Redis reports changes to these alone; if \
             omitted, to all keys.",
        ),
        word("memory", "size", Some("64MiB"), "Bytes of values held, for `mode: tracked` and `max_stale`."),
        word(
            "silence",
            "duration",
            Some("2s"),
            "For `mode: tracked`: the connection is pinged, and a Redis that does not reply for this long counts as \
             gone.",
        ),
        word(
            "max_stale",
            "duration",
            Some("0s"),
            "How old a value may be when it is served while Redis is unavailable.",
        )
        .told(
            "If set, the last values read are kept (within `memory`), and while Redis is unavailable they are served \
             until they reach this age, with an `Age` and marked `stale`; after that, and with `0s` at once, the \
             response is 503. It does not make reads faster while Redis is available.",
            "max_stale: 30s",
        ),
        word("public", "`true` or `false`", Some("false"), "Whether requests may name any of its keys.").told(
            "A `read` spells out the beginning of its keys (`GET user:${path.id}`), so that requests name users and \
             not whatever else is there. Set it to `true` only if everything in this database is for everybody: then a \
             key may be just what the request says, `MGET ${query.all('key')}`.",
            "public: true",
        ),
        word("tier", "section", None, "For policies with `tier`: what instances keep there together."),
        USE,
    ],
    later: &["pool"],
};

pub(crate) static SOURCE_REDIS_TIER: Section = Section {
    path: "sources.<name>.tier",
    meaning: "A Redis as the shared tier of the cache, behind the memory of each instance.",
    example: "tier: { prefix: shop, lock: 2s }",
    words: &[
        word(
            "prefix",
            "text",
            Some("fleetfoot"),
            "What keys there begin with: 1 to 64 letters, digits, `_`, `-`, `.` and `:`. Deployments that share a \
             Redis need one each.",
        ),
        word(
            "lock",
            "duration",
            Some("2s"),
            "How long one instance may ask the origin while the others wait for its response.",
        )
        .told(
            "When several instances miss the same response, one asks the origin and the others wait for it to appear \
             in Redis, or serve a stale one. An instance that dies meanwhile delays them for no longer than this. An \
             origin that takes longer is asked by each instance that waits. Set it to what your slowest responses \
             take.",
            "lock: 5s",
        ),
        word(
            "largest",
            "size",
            Some("1MiB"),
            "The largest response body kept there; larger ones stay in the instances that fetched them.",
        ),
        word(
            "unheard",
            "duration",
            Some("30s"),
            "How long an instance that is cut off from Redis, and so hears of no purge, carries on as if there were \
             none.",
        )
        .told(
            "Purges reach the other instances through Redis. While an instance is cut off, it responds from its memory \
             and from the origin; but each time this period has passed, everything it holds is made stale, so that \
             nothing purged elsewhere is served for longer without asking the origin. Once it is back it learns what \
             it missed or, if Redis has lost that itself, makes everything stale once more.",
            "unheard: 10s",
        ),
    ],
    later: &[],
};

pub(crate) static SOURCE_STORE: Section = Section {
    path: "sources.<name> in a file",
    meaning: "Keys and values in a JSON file, for `read` on one machine, without a server. Plain values are text, \
              objects are hashes (or, with numbers, sorted sets), lists are lists.",
    example: "tokens: { store: ./tokens.json }",
    words: &[
        word(
            "store",
            "path",
            None,
            "The file, an object of keys and values: `{ \"token:1\": \"ann\" }`. Read again when it changes; a file \
             that has become invalid changes nothing. At most 64 MiB. Required.",
        ),
        word(
            "public",
            "`true` or `false`",
            Some("false"),
            "Whether requests may name any of its keys, as for a Redis.",
        ),
        USE,
    ],
    later: &[],
};
