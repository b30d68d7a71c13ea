//! The words of `routes`.

use super::{Section, word};

pub(crate) static ROUTE: Section = Section {
    path: "routes[]",
    meaning: "A route. `match` is `[METHOD ][host]/path`: `GET` takes `HEAD` too, `*.example.com` every subdomain; in \
              a path `*` and `{name}` are one segment and a final `**` is the rest. The most specific match wins, in \
              whatever order routes are listed: exact host, wildcard, any; then literal, `{name}`, `**`, from the \
              left; then named method, any. Inside `{ }` a match with braces needs quotes.",
    example: "- { match: GET /games/**, proxy: api, use: live }",
    words: &[
        word("match", "pattern", None, "Which requests. Required.").told(
            "A path is compared, keyed, purged and forwarded in one form: octets that need no encoding are decoded \
             (`/products/%37` is `/products/7`), nothing else is touched. Paths with dot segments, a backslash or \
             control characters are refused with 400. Servers disagree on some others: they merge slashes, take `%2F` \
             and `%5C` for a slash, drop `;parameters`, ignore letter case or a trailing slash. Such a path goes \
             through as it is, unless one of these readings belongs to a route whose protection it would get round: a \
             signature that it lacks, a different way of storing what is stored here, an `invalidate` that a write \
             would skip; then it is refused with 400. For suffixes that your framework cuts off (`.json`), write a \
             route. A route that requires a signature names no method, since requests with other methods must not get \
             round it; `check` reports where they do.",
            "match: GET *.example.com/users/{id}/orders\nproxy: api",
        ),
        word(
            "proxy",
            "name of a source",
            None,
            "The source that requests go to. This, `read`, `compose`, `redirect` or `respond` is required.",
        ),
        word("read", "section", None, "Answers requests with one command to a Redis or a store.").told(
            "`${…}` in the command is bound: whatever a request holds, it stays one argument of the command. The \
             response has an `ETag` (and is 304 for clients that have it already), and `Cache-Control` from the \
             lifetime of the key in Redis, `no-cache` if it has none. If the key does not exist, the response is 404, \
             or what `missing` says; if Redis is unavailable, 503, or a value no older than the source's `max_stale`. \
             Only commands that read are accepted. In nginx this is the third-party redis module, or Lua.",
            "match: GET /users/{id}\nread: { redis: \"GET user:${path.id}\", as: json }",
        ),
        word(
            "compose",
            "name → step",
            None,
            "Answers requests with many calls, joined into one response.",
        )
        .told(
            "Steps start together; one that names another, as in `${user.id}`, waits for it. What expressions give is \
             bound or encoded, never spliced. A step that fails fails the request, unless it says `on_error`; then the \
             response is incomplete, says so (`X-Fleetfoot-Completed: false`), names the failed steps \
             (`X-Fleetfoot-Failed`) and is not stored. If the request lacks a value that a step needs from it, it is \
             refused with 400, which names the value. Use it where a client would make several calls itself. It is not \
             a programming language: for loops and decisions write a module (`wasm`). KrakenD calls these the backends \
             of an endpoint, GraphQL servers a query plan.",
            "match: GET /users/{id}/page\ncompose:\n  user: { api: \"GET /users/${path.id}\" }\n  orders: { db: \"SELECT * FROM orders WHERE user_id = ?\", args: [\"${path.id}\"] }\nrespond: { user: \"${user}\", orders: \"${orders}\" }",
        ),
        word(
            "redirect",
            "text or section",
            None,
            "Sends clients elsewhere, without a source: `policies.<name>.redirect`, without `when`.",
        )
        .told(
            "Whatever the route takes is sent there. Policies of `use` stand around it, so a limit or a signature counts here as \
             on any route. In nginx this is `return` in a `location`.",
            "match: /old/{id}/**\nredirect: { to: \"/new/${path.id}\", status: 308 }",
        ),
        word(
            "respond",
            "value, or section",
            None,
            "The response of `compose`, as JSON with expressions in it. Without a source, the response itself: \
             `policies.<name>.respond`, without `when`.",
        )
        .told(
            "Without it, every step of a `compose` appears under its own name. `${user}` alone is the value, exactly as it came; \
             within a longer text it is written as text. Members and items whose step was left out do not appear. \
             `${failed}` lists the steps that failed. Reshape values with `pick('id', 'name')`, `drop('password')`, \
             `rename({'id': 'user_id'})`, `flatten()`, `concat(other)` and `merge(other, 'id', 'user_id')`, which \
             joins two lists by a key. Nested members can be named with dots: `pick('address.city')`.",
            "match: GET /page\ncompose:\n  user: { api: GET /user }\n  orders: { api: GET /orders }\nrespond: { name: \"${user.name}\", orders: \"${orders.pick('id', 'total')}\" }",
        ),
        word(
            "timeout",
            "duration",
            Some("30s"),
            "Time for a whole `compose`; then 504, and whatever is running is cancelled.",
        ),
        word(
            "run",
            "`parallel`, `serial` or `pool(places, queue)`",
            Some("parallel"),
            "How many steps of a `compose` run at once. A pool is shared by all requests of the route; when its queue \
             is full, the response is 503 at once.",
        ),
        word("save", "section", None, "What a `compose` does once instead of several times."),
        word(
            "server_timing",
            "`true` or `false`",
            Some("true"),
            "Whether responses of a `compose` say in `Server-Timing` how long each step took.",
        ),
        word(
            "use",
            "name of a policy, or list",
            None,
            "Policies that wrap the call; at most one with `cache` and one with `signed`. If omitted, requests go \
             straight through, unbuffered.",
        ),
        word("invalidate", "rule or list", None, "What a successful write purges from the cache.").told(
            "When a request with a method that writes (`POST`, `PUT`, `PATCH`, `DELETE`) is answered with 2xx or 3xx, \
             the cache purges before that response is sent, so that writers read what they wrote. The URL written to \
             is purged anyway (RFC 9111 §4.4); list here what else shows the change: lists, feeds, other people's \
             pages. `${path.id}` is the segment that `match` calls `{id}`. A failed write purges nothing, and neither \
             does a change made behind fleetfoot's back: for that, purge yourself. In Varnish this is VCL with `ban` \
             or `xkey`; nginx and Cloud CDN leave it to your application.",
            "match: PUT /users/{id}\nproxy: api\ninvalidate: [{ url: \"/users/${path.id}/orders\" }, { tag: \"user-${path.id}\", soft: true }]",
        ),
    ],
    later: &["send"],
};

pub(crate) static READ: Section = Section {
    path: "routes[].read",
    meaning: "A response from one read: the name of a source and its command, one of `GET`, `MGET`, `HGET`, `HMGET`, \
              `HGETALL`, `EXISTS`, `LRANGE`, `LINDEX`, `LLEN`, `ZRANGE`, `ZREVRANGE`, `ZSCORE`, `ZCARD`, `SMEMBERS`, \
              `SISMEMBER` and `SCARD`. Arguments are separated by spaces; quotes keep one together. \
              `${query.all('id')}` is each value of a repeated parameter, for `MGET` and `HMGET`, and the text around \
              it is repeated around each. A key begins with literal text, unless the source is `public`. `EXISTS` and \
              `SISMEMBER` are checks: they give 200 with `no-cache`, or `missing`.",
    example: "read: { redis: \"MGET user:${query.all('id')}\", as: json }",
    words: &[
        word(
            "as",
            "`json`, `text` or `raw`",
            Some("json"),
            "How the value is written. `json`: a value that is JSON stays as it is, any other becomes a string; \
             several become a list or an object. `text`: one value per line. `raw`: the bytes.",
        ),
        word(
            "type",
            "content type",
            None,
            "Content type of the response, in place of the one that `as` implies.",
        ),
        word(
            "missing",
            "status",
            None,
            "The status when nothing is there: 204, or from 400 to 499. If omitted, 404, and 401 for `EXISTS` and \
             `SISMEMBER`.",
        ),
    ],
    later: &[],
};

pub(crate) static INVALIDATE: Section = Section {
    path: "routes[].invalidate[]",
    meaning: "One thing to purge: exactly one of `url`, `prefix` and `tag`, as text with expressions in it. The host \
              is that of the request.",
    example: "invalidate: [{ prefix: /feeds/ }]",
    words: &[
        word(
            "url",
            "path",
            None,
            "A path with all its queries and variants or, if a query is written, that query alone.",
        ),
        word("prefix", "path", None, "Every path that begins with this."),
        word("tag", "text", None, "Every response with this tag, on any host."),
        word(
            "soft",
            "`true` or `false`",
            Some("false"),
            "Only makes it stale: it may still be served under `stale` and `if_error` while it is fetched again.",
        ),
    ],
    later: &[],
};
