//! The words of sources that are a Redis or a store.

use super::{SECRET_FORM, Section, word};

pub(crate) static SOURCE_REDIS: Section = Section {
    path: "sources.<name> at a Redis",
    meaning: "A Redis or Valkey, for `read` and as a tier of the cache. Short form: `redis: redis://127.0.0.1:6379`.",
    example: "redis: { redis: redis://127.0.0.1:6379, mode: tracked }",
    words: &[
        word(
            "redis",
            "URL or list",
            None,
            "`redis://host:6379`, `rediss://` for TLS, `unix:/path` for a socket. Several: Sentinels, or nodes of a cluster. \
             Must be there.",
        ),
        word(
            "topology",
            "`standalone`, `sentinel` or `cluster`",
            Some("standalone"),
            "What stands there. A cluster names its other nodes itself; Sentinels name the `master`.",
        ),
        word("master", "text", None, "What the Sentinels call the servers, like `mymaster`."),
        word("user", "text", None, "A user of the ACL; without one the default user."),
        word("password", SECRET_FORM, None, "What that user shows."),
        word("database", "number", Some("0"), "Which of the databases, from 0 to 1023. A cluster has only 0."),
        word("tls", "section", None, "How servers at `rediss` are verified."),
        word(
            "timeout",
            "duration",
            Some("100ms"),
            "From a command to its reply. What takes longer has failed, and after five failures in a row nothing is asked for a while (`rest`).",
        ),
        word("connect_timeout", "duration", Some("1s"), "For name, TCP, TLS and greeting together."),
        word(
            "rest",
            "duration",
            Some("5s"),
            "How long a Redis that keeps failing is left alone at most: a second at first, then twice as long each time. One \
             that is heard of on another connection (`mode: tracked`, `tier`) is asked again at once.",
        ),
        word("mode", "`central`, `replica` or `tracked`", Some("central"), "How `read` reaches it.").told(
            "`central`: each read is sent to it, all of a core over one connection, so that one round trip carries many. \
             `replica`: reads go to the `replica` beside this process as long as its link is up and it is no further behind \
             than `max_lag`; otherwise to the server itself. `tracked`: values are held in this process, and Redis tells \
             when they change (`CLIENT TRACKING ON BCAST`), so that most reads cost what a hit of the cache costs; needs \
             Redis 6 or Valkey. A change is seen here as soon as Redis has told of it; if Redis falls silent for `silence`, \
             or the connection breaks, everything held is dropped and reads go to Redis. `replica` and `tracked` need \
             `topology: standalone` or `sentinel`. Use `tracked` where reads are many and writes few; each write costs \
             every instance a message. Changes with a reload.",
            "mode: tracked\ntrack: [\"user:\", \"token:\"]\nmemory: 256MiB",
        ),
        word("replica", "URL", None, "The replica nearby, for `mode: replica`."),
        word("max_lag", "duration", Some("1s"), "How far the replica may be behind."),
        word(
            "track",
            "text or list",
            None,
            "Beginnings of keys that are read here, for `mode: tracked`: Redis tells of these alone. None: of all keys.",
        ),
        word("memory", "size", Some("64MiB"), "Bytes of values held, for `mode: tracked` and `max_stale`."),
        word(
            "silence",
            "duration",
            Some("2s"),
            "For `mode: tracked`: the connection is pinged, and whoever does not answer for so long counts as gone.",
        ),
        word("max_stale", "duration", Some("0s"), "How old a value may be that is given while Redis is gone.").told(
            "With it, the last values read are remembered (within `memory`), and while Redis cannot be asked they are given \
             until they are so old, with an `Age` and marked `stale`; then, and with `0s` at once, the answer is 503. It \
             does not make reads faster while Redis is there.",
            "max_stale: 30s",
        ),
        word("public", "`true` or `false`", Some("false"), "Whether requests may name any key of it.").told(
            "A `read` writes out what its keys begin with (`GET user:${path.id}`), so that requests name users and not \
             whatever else is there. Say `true` only where everything in this database is for everybody: then a key may be \
             what the request says and nothing else, `MGET ${query.all('key')}`.",
            "public: true",
        ),
        word("tier", "section", None, "For policies with `tier`: what instances keep there together."),
    ],
    later: &["pool", "use", "retry"],
};

pub(crate) static SOURCE_REDIS_TIER: Section = Section {
    path: "sources.<name>.tier",
    meaning: "A Redis as a tier of the cache, behind the memory of each instance.",
    example: "tier: { prefix: shop, lock: 2s }",
    words: &[
        word(
            "prefix",
            "text",
            Some("fleetfoot"),
            "What keys there begin with, 1 to 64 letters, digits, `_`, `-`, `.` and `:`. Deployments that share a Redis need one each.",
        ),
        word("lock", "duration", Some("2s"), "How long one instance may ask the origin while the others wait for its answer.")
            .told(
                "Where several instances miss the same, one asks the origin and the others wait for its answer to appear \
                 in Redis, or serve what is stale. An instance that dies meanwhile delays them for no longer than this. \
                 Origins that take longer are asked by each instance that waits. Write what your slowest answers take.",
                "lock: 5s",
            ),
        word(
            "largest",
            "size",
            Some("1MiB"),
            "Bytes of an answer's content; larger ones stay in the instances that fetched them.",
        ),
        word(
            "unheard",
            "duration",
            Some("30s"),
            "How long an instance that is cut off from Redis, and so hears of no purge, goes on as if there were none.",
        )
        .told(
            "Purges reach the other instances through Redis. While an instance is cut off, it answers from its memory and \
             from the origin; but each time this much has passed, whatever it holds is made stale, so that nothing purged \
             elsewhere is served for longer without asking the origin. Once it is back it learns what it missed, or, where \
             Redis lost that itself, makes everything stale once more.",
            "unheard: 10s",
        ),
    ],
    later: &[],
};

pub(crate) static SOURCE_STORE: Section = Section {
    path: "sources.<name> in a file",
    meaning: "Keys and values of a JSON file, for `read` on one machine, without a server. Short form of a value: text. \
              Objects are hashes (or, with numbers, sorted sets), lists are lists.",
    example: "tokens: { store: ./tokens.json }",
    words: &[
        word(
            "store",
            "path",
            None,
            "The file, an object of keys and values: `{ \"token:1\": \"ann\" }`. Read again when it changes; a file that is no \
             longer right changes nothing. At most 64 MiB. Must be there.",
        ),
        word(
            "public",
            "`true` or `false`",
            Some("false"),
            "Whether requests may name any key of it, as for a Redis.",
        ),
    ],
    later: &[],
};
