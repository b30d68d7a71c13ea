//! The words of `routes`.

use super::{Section, word};

pub(crate) static ROUTE: Section = Section {
    path: "routes[]",
    meaning: "A route. `match` is `[METHOD ][host]/path`: `GET` takes `HEAD` too, `*.example.com` every subdomain; in a path \
              `*` and `{name}` are one segment and a final `**` is the rest. The most specific match wins, in any order: \
              exact host, wildcard, any; then literal, `{name}`, `**`, from the left; then named method, any. Inside `{ }` \
              a match with braces needs quotes.",
    example: "- { match: GET /games/**, proxy: api, use: live }",
    words: &[
        word("match", "pattern", None, "Which requests. Must be there.").told(
            "A path is compared, keyed, purged and sent on in one form: octets that need no encoding are decoded \
             (`/products/%37` is `/products/7`), nothing else is touched. Paths with dot segments, a backslash or control \
             characters are 400. Servers differ in what they make of some others: they merge slashes, take `%2F` and `%5C` \
             for a slash, drop `;parameters`, ignore letter case or a slash at the end. Such a path goes through as it is, \
             unless one of these readings belongs to a route whose protection it would get round: a signature that it \
             lacks, another way of storing what is stored here, an `invalidate` that a write would leave out; then it is \
             400. For suffixes that your framework cuts off (`.json`), write a route. A route that asks for a signature \
             names no method, since requests with the others must not get round it; `check` says where they do.",
            "match: GET *.example.com/users/{id}/orders\nproxy: api",
        ),
        word("proxy", "name of a source", None, "Where they go. This, `read` or `compose` must be there."),
        word("read", "section", None, "What answers them: one command of a Redis or a store.").told(
            "`${…}` in it are bound: whatever a request holds, it stays one value of the command. The answer has an `ETag` \
             (and 304 for who has it), and `Cache-Control` from the lifetime that the key has in Redis, `no-cache` where it \
             has none. Without the key it is 404, or what `missing` says; where Redis is gone, 503, or a value no older than \
             the source's `max_stale`. Only commands that read are known. In nginx this is the third-party redis module, or Lua.",
            "match: GET /users/{id}\nread: { redis: \"GET user:${path.id}\", as: json }",
        ),
        word("compose", "name → step", None, "What answers them: many calls, joined into one response.").told(
            "Steps start together; one that names another, as in `${user.id}`, waits for it. What expressions give is bound \
             or encoded, never spliced. A step that fails fails the request, unless it says `on_error`; then the response is \
             not complete, says so (`X-Fleetfoot-Completed: false`), names the steps (`X-Fleetfoot-Failed`) and is not stored. \
             Whatever the first step of the response lacks of the request is 400, with its name. Use it where a client would \
             make several calls itself. It is no programming language: for loops and decisions write a module (`wasm`). \
             KrakenD calls it backends of an endpoint, GraphQL servers a query plan.",
            "match: GET /users/{id}/page\ncompose:\n  user: { api: \"GET /users/${path.id}\" }\n  orders: { db: \"SELECT * FROM orders WHERE user_id = ?\", args: [\"${path.id}\"] }\nrespond: { user: \"${user}\", orders: \"${orders}\" }",
        ),
        word("respond", "value", None, "The response of `compose` as JSON with expressions in it.").told(
            "Without it every step stands under its name. `${user}` alone is the value, as it came; within a longer text it \
             is written as text. Members and items whose step was left out are not there. `${failed}` lists the steps that \
             failed. Reshape values with `pick('id', 'name')`, `drop('password')`, `rename({'id': 'user_id'})`, `flatten()`, \
             `concat(other)` and `merge(other, 'id', 'user_id')`, which joins two lists by a key. Parts may be named with \
             dots: `pick('address.city')`.",
            "match: GET /page\ncompose:\n  user: { api: GET /user }\n  orders: { api: GET /orders }\nrespond: { name: \"${user.name}\", orders: \"${orders.pick('id', 'total')}\" }",
        ),
        word("timeout", "duration", Some("30s"), "For the whole of a `compose`; then 504, and what runs is cancelled."),
        word(
            "run",
            "`parallel`, `serial` or `pool(places, queue)`",
            Some("parallel"),
            "How many steps of a `compose` run at once. A pool is shared by all requests of the route; when its queue is full \
             the answer is 503 at once.",
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
            "What wraps the call; at most one that says `cache` and one that says `signed`. Nothing: straight through, \
             unbuffered.",
        ),
        word("invalidate", "rule or list", None, "What a successful write makes the cache forget.").told(
            "Where a request with a method that writes (`POST`, `PUT`, `PATCH`, `DELETE`) is answered with 2xx or 3xx, the \
             cache forgets before that answer is sent, so that whoever wrote reads what they wrote. The URL written to \
             is forgotten anyway (RFC 9111 §4.4); name here what else shows it: lists, feeds, other people's pages. \
             `${path.id}` is the segment that `match` calls `{id}`. A failed write forgets nothing, and neither does a \
             change made behind fleetfoot's back: for that, purge. In Varnish this is VCL with `ban` or `xkey`; nginx and \
             Cloud CDN leave it to your application.",
            "match: PUT /users/{id}\nproxy: api\ninvalidate: [{ url: \"/users/${path.id}/orders\" }, { tag: \"user-${path.id}\", soft: true }]",
        ),
    ],
    later: &["send", "redirect"],
};

pub(crate) static READ: Section = Section {
    path: "routes[].read",
    meaning: "An answer from one read: the name of a source and its command, one of `GET`, `MGET`, `HGET`, `HMGET`, `HGETALL`, \
              `EXISTS`, `LRANGE`, `LINDEX`, `LLEN`, `ZRANGE`, `ZREVRANGE`, `ZSCORE`, `ZCARD`, `SMEMBERS`, `SISMEMBER` and \
              `SCARD`. Words are parted by spaces; quotes keep them together. `${query.all('id')}` is each value of a \
              repeated parameter, for `MGET` and `HMGET`, and what stands around it stands around each. A key begins with \
              something that is written out, unless the source is `public`. `EXISTS` and `SISMEMBER` check: 200 with `no-cache`, or `missing`.",
    example: "read: { redis: \"MGET user:${query.all('id')}\", as: json }",
    words: &[
        word(
            "as",
            "`json`, `text` or `raw`",
            Some("json"),
            "How the value is written. `json`: one that is JSON stays as it is, any other becomes a string; several become a \
             list or an object. `text`: one value a line. `raw`: the bytes.",
        ),
        word("type", "content type", None, "What the answer is called, where `as` does not say it."),
        word(
            "missing",
            "status",
            None,
            "Where there is nothing: 204, or from 400 to 499. Without it 404, and 401 for `EXISTS` and `SISMEMBER`.",
        ),
    ],
    later: &[],
};

pub(crate) static INVALIDATE: Section = Section {
    path: "routes[].invalidate[]",
    meaning: "One thing to forget: exactly one of `url`, `prefix` and `tag`, as text with expressions in it. Hosts are those \
              of the request.",
    example: "invalidate: [{ prefix: /feeds/ }]",
    words: &[
        word(
            "url",
            "path",
            None,
            "A path with all its queries and variants or, with a query written, that one alone.",
        ),
        word("prefix", "path", None, "Every path that begins so."),
        word("tag", "text", None, "Every answer with this tag, on any host."),
        word(
            "soft",
            "`true` or `false`",
            Some("false"),
            "Only makes it stale: it may still be served under `stale` and `if_error` while it is fetched anew.",
        ),
    ],
    later: &[],
};
